package prompts_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/internal/segments"
	"coachline/prompts"
)

// informal are words that address a person informally; none of them has another meaning
// in our texts.
var informal = map[string]*regexp.Regexp{
	"de": regexp.MustCompile(`(^|\PL)([Dd]u|[Dd]ir|[Dd]ich|[Dd]eine?[mnrs]?)(\PL|$)`),
	"fr": regexp.MustCompile(`(^|\PL)([Tt]u|[Tt]oi|[Tt]on|[Tt]a|[Tt]es|[Tt]e)(\PL|$)|(^|\PL)[Tt]'`),
	"es": regexp.MustCompile(`(^|\PL)([Tt]us?|[Tt]i|[Tt]e|contigo|[Rr]esponde (STOP|START|SI|solo)|quieres|puedes|escribes|llama)(\PL|$)`),
	"pt": regexp.MustCompile(`(^|\PL)te(\PL|$)`),
}

// Each text that addresses a person has its formal words, at no greater cost: with them
// none says "du" or "tu", and without them every text is as before.
func TestFormalAddress(t *testing.T) {
	lib := load(t, "").WithMaxPerDay(2)
	formal := lib.With(prompts.Facts{MaxPerDay: 2, Formal: true})
	for language, words := range informal {
		changed := 0
		for _, name := range fixedNames(t) {
			for _, weak := range []bool{false, true} {
				for _, place := range []prompts.HelpPlace{"", prompts.HelpPaused, prompts.HelpCompleted, prompts.HelpAsked, prompts.HelpOptedOut, prompts.HelpUnknown} {
					data := prompts.FixedData{Programme: "Coachline", Name: "Ada", Weak: weak, Place: place, Lines: americanLines}
					before, err := lib.Fixed(name, language, data)
					require.NoError(t, err)
					text, err := formal.Fixed(name, language, data)
					require.NoError(t, err)
					require.NotRegexp(t, words, text, name)
					if text == before {
						require.NotRegexp(t, words, before, name)
						continue
					}
					changed++
					got, want := segments.Count(segments.Smart(text)), segments.Count(segments.Smart(before))
					assert.LessOrEqual(t, got.Segments, max(want.Segments, 1), "%s: %s", name, text)
				}
			}
		}
		require.Positive(t, changed, language)
	}
	english, err := formal.Fixed(prompts.Reminder, "en", prompts.FixedData{})
	require.NoError(t, err)
	require.Contains(t, english, "A small nudge")
}

// Every pair of words is used by a text.
func TestFormalWordsAreUsed(t *testing.T) {
	for language := range informal {
		table, err := os.ReadFile(filepath.Join("formal", language+".tsv"))
		require.NoError(t, err)
		var texts strings.Builder
		files, err := filepath.Glob(filepath.Join("texts", language, "*.md"))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			texts.Write(text)
		}
		for line := range strings.Lines(string(table)) {
			words, formal, found := strings.Cut(strings.TrimSpace(line), "\t")
			require.True(t, found && formal != "", line)
			require.Contains(t, texts.String(), words)
		}
	}
}

// A text of the operator's own is left as it is.
func TestOperatorsTextKeepsItsAddress(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "de/reminder.md", "Denk an deine Gewohnheit.")
	lib := load(t, dir).With(prompts.Facts{Formal: true})
	require.Contains(t, fixed(t, lib, prompts.Reminder, "de"), "deine")
	require.Contains(t, fixed(t, lib, prompts.Ask, "de-AT"), "Ihrer Gewohnheit")
}

// The model is told how to address a person, in languages that have two ways.
func TestModelIsToldTheAddress(t *testing.T) {
	lib := load(t, "")
	formal := lib.With(prompts.Facts{Formal: true})
	for locale, want := range map[string][2]string{"de-AT": {`"du"`, `"Sie"`}, "fr": {`"tu"`, `"vous"`}, "es-MX": {`"tú"`, `"usted"`}, "pt-BR": {`"você"`, `"o senhor"`}} {
		for i, from := range []*prompts.Library{lib, formal} {
			text, err := from.Render(prompts.Tone, prompts.ToneData{Address: from.AddressOf(locale), Limit: prompts.LimitOf(locale)})
			require.NoError(t, err)
			require.Equal(t, locale != "de-AT", strings.Contains(text, "At most 130 characters"), "accents of German are in GSM-7")
			require.Contains(t, text, want[i])
			require.Contains(t, text, "fit any gender")
		}
	}
	require.Empty(t, formal.AddressOf("en-US"))
	require.Empty(t, formal.AddressOf(""))
}
