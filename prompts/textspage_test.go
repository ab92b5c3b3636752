package prompts_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/goldens"
	"coachline/internal/helplines"
	"coachline/internal/segments"
	"coachline/internal/text"
	"coachline/models"
	"coachline/prompts"
)

// longTexts are the fixed texts that may take two segments, with the reason.
var longTexts = []struct {
	name   prompts.Name
	reason string
}{
	{prompts.GreetingFallback, "the first text has programme, frequency, cost, STOP, HELP and a question"},
	{prompts.Help, "where the person stands, cost, a person to ask, an emergency number"},
	{prompts.OptOutDanger, "the confirmation and two numbers"},
	{prompts.WhatAreYou, "what answers here, and whom to ask instead"},
	{prompts.Privacy, "what is kept, whom to ask, what becomes of a request"},
	{prompts.JoinRequest, "what the study is in its own words, rates, the consent text, three answers"},
	{prompts.UnknownSender, "that the number is not enrolled, and whom to ask"},
	{prompts.Crisis, "what to do, who is told, two numbers"},
	{prompts.CrisisAnother, "what to do, who is told, two numbers"},
	{prompts.CrisisViolence, "what to do, who is told, two numbers"},
	{prompts.CrisisMedical, "what to do, who is told, a number"},
	{prompts.Advice, "what is not answered here, who can, a line to call, a step to go on with; the ã of Portuguese halves what a text holds"},
}

// phones has a phone where each language is spoken.
var phones = []struct{ locale, phone string }{
	{"en", "+12025550123"}, {"de", "+4915112345678"}, {"es", "+34612345678"}, {"fr", "+33612345678"}, {"pt", "+5511961234567"},
}

// TestTextsPage writes docs/texts.md (-record), the fixed texts of a day in each language
// with their segments, and holds that each other text takes one segment.
func TestTextsPage(t *testing.T) {
	const file = "../docs/texts.md"
	lib := load(t, "").With(prompts.Facts{MaxPerDay: 2, Support: "care@example.org"})
	text := func(name prompts.Name, i int) (string, int) {
		words := variantsOf(t, lib, name, i)[0]
		return words, segments.Count(segments.Smart(words)).Segments
	}
	longest := func(name prompts.Name, i int) (longest string, most int) {
		for _, words := range variantsOf(t, lib, name, i) {
			if size := segments.Count(segments.Smart(words)).Segments; size > most {
				longest, most = words, size
			}
		}
		return longest, most
	}
	var page strings.Builder
	page.WriteString("# Fixed texts\n\nWhat a phone shows without a model, with its segments; `COACH_ADDRESS` informal. Written by `go test ./prompts -run TextsPage -record`.\n")
	for _, name := range []prompts.Name{
		prompts.GreetingFallback, prompts.GreetingFooter, prompts.HabitFallback, prompts.FeedbackQuestion, prompts.FeedbackFollowup,
		prompts.Reminder, prompts.ReplyFallback, prompts.Help, prompts.OptOutConfirmation, prompts.OptInConfirmation, prompts.Ended, prompts.NoticeAgain, prompts.Minor,
	} {
		fmt.Fprintf(&page, "\n| `%s` | | segments |\n|---|---|---|\n", name)
		for i := range phones {
			words, size := text(name, i)
			fmt.Fprintf(&page, "| %s | %s | %d |\n", phones[i].locale, words, size)
		}
	}
	writeSafetyTexts(t, &page, lib)
	page.WriteString("\n## In place of advice\n\nWhat stands for a reply that was [not sent](advice.md), by kind.\n")
	for _, kind := range models.AdviceKinds() {
		fmt.Fprintf(&page, "\n| `%s` | | segments |\n|---|---|---|\n", kind)
		for i := range phones {
			words, err := lib.Fixed(prompts.Advice, phones[i].locale, prompts.FixedData{
				Programme: "Coachline", Advice: kind, Lines: (*helplines.Table)(nil).Find(phones[i].phone, phones[i].locale),
			})
			require.NoError(t, err)
			size := segments.Count(segments.Smart(words)).Segments
			require.LessOrEqual(t, size, 2, words)
			fmt.Fprintf(&page, "| %s | %s | %d |\n", phones[i].locale, words, size)
		}
	}
	page.WriteString("\n## Why more than one segment\n\nOf its forms (grave and weak, by kind, by where the person stands) the longest counts.\n\n| text | in en, de, es, fr, pt | reason |\n|---|---|---|\n")
	reasons := map[prompts.Name]bool{}
	for _, long := range longTexts {
		reasons[long.name] = true
		var sizes []string
		for i := range phones {
			_, size := longest(long.name, i)
			require.LessOrEqual(t, size, 2, long.name)
			sizes = append(sizes, fmt.Sprint(size))
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s |\n", long.name, strings.Join(sizes, ", "), long.reason)
	}
	for _, name := range fixedNames(t) {
		for i := range phones {
			words, size := longest(name, i)
			require.True(t, size == 1 || reasons[name], "%s takes %d segments: %s", name, size, words)
		}
	}
	if goldens.ShouldRecord() {
		require.NoError(t, os.WriteFile(file, []byte(page.String()), 0o600))
	}
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, page.String(), string(written), "go test ./prompts -run TextsPage -record")
}

// variantsOf are the forms of a fixed text for a phone: grave and weak, of each kind of
// advice, and wherever the person stands.
func variantsOf(t *testing.T, lib *prompts.Library, name prompts.Name, i int) []string {
	t.Helper()
	base := prompts.FixedData{Programme: "Coachline", Name: "Ada", Lines: (*helplines.Table)(nil).Find(phones[i].phone, phones[i].locale), Hours: 2}
	forms := []prompts.FixedData{base}
	add := func(change func(*prompts.FixedData)) {
		form := base
		change(&form)
		forms = append(forms, form)
	}
	add(func(d *prompts.FixedData) { d.TeamAlerted = true })
	add(func(d *prompts.FixedData) { d.Weak = true })
	add(func(d *prompts.FixedData) { d.Weak, d.IsBody = true, true })
	add(func(d *prompts.FixedData) {
		d.About, d.Link = "Sixty days of one small habit, with a coach by text.", "https://example.org/consent"
	})
	add(func(d *prompts.FixedData) { d.HasHabit = true })
	add(func(d *prompts.FixedData) { d.Hours = 0 })
	for _, kind := range models.AdviceKinds() {
		add(func(d *prompts.FixedData) { d.Advice = kind })
	}
	for number := range prompts.AnyTimeWordings {
		add(func(d *prompts.FixedData) { d.Number = number })
	}
	for _, question := range prompts.Questions() {
		for number := range prompts.Wordings {
			add(func(d *prompts.FixedData) { d.Question, d.Number = question, number })
		}
	}
	for _, place := range []prompts.HelpPlace{prompts.HelpPaused, prompts.HelpTakenOver, prompts.HelpCompleted, prompts.HelpOptedOut, prompts.HelpAsked, prompts.HelpUnknown} {
		add(func(d *prompts.FixedData) { d.Place = place })
	}
	var out []string
	for _, form := range forms {
		words, err := lib.Fixed(name, phones[i].locale, form)
		require.NoError(t, err)
		out = append(out, words)
	}
	return out
}

// writeSafetyTexts writes the texts that stand for a reply where a person may be in danger:
// of each kind that for a grave sign, with a person told, and that for a weak one.
func writeSafetyTexts(t *testing.T, page *strings.Builder, lib *prompts.Library) {
	t.Helper()
	page.WriteString("\n## In danger\n\nWhat a person reads whose message [may speak of danger](screening.md#what-the-person-reads). Grave: a person of the team is told. Weak: it asks, and nobody is told.\n")
	for _, name := range []prompts.Name{prompts.Crisis, prompts.CrisisAnother, prompts.CrisisViolence, prompts.CrisisMedical} {
		fmt.Fprintf(page, "\n| `%s` | | | segments |\n|---|---|---|---|\n", name)
		for _, sign := range []string{"grave", "weak"} {
			for i := range phones {
				words, err := lib.Fixed(name, phones[i].locale, prompts.FixedData{
					Programme: "Coachline", Lines: (*helplines.Table)(nil).Find(phones[i].phone, phones[i].locale), Weak: sign == "weak", TeamAlerted: sign == "grave",
				})
				require.NoError(t, err)
				size := segments.Count(segments.Smart(words)).Segments
				require.LessOrEqual(t, size, 2, words)
				fmt.Fprintf(page, "| %s | %s | %s | %d |\n", phones[i].locale, sign, words, size)
			}
		}
	}
}

// TestTextsThatDisclose: the texts by which people are told that a program writes are found
// to be such in each language.
func TestTextsThatDisclose(t *testing.T) {
	lib := load(t, "").With(prompts.Facts{MaxPerDay: 2})
	for _, name := range []prompts.Name{prompts.GreetingFallback, prompts.GreetingFooter, prompts.Help, prompts.OptInConfirmation, prompts.JoinRequest, prompts.Truth, prompts.WhatAreYou, prompts.NoticeAgain} {
		for _, phone := range phones {
			words, err := lib.Fixed(name, phone.locale, prompts.FixedData{Programme: "Steps"})
			require.NoError(t, err)
			require.NotEmpty(t, text.FindDisclosure(words), words)
		}
	}
}
