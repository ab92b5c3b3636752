package screening

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/goldens"
	"coachline/internal/screening/sheets"
)

// ruleNames are the languages in words.
var ruleNames = map[string]string{"de": "German", "en": "English", "es": "Spanish", "fr": "French", "pt": "Portuguese"}

// tierNames say what a rule of each tier does.
var tierNames = map[tier]string{
	tierA: "pages", tierB: "second look", tierStop: "ends", tierUnclear: "asks", tierWrongNumber: "pauses, asks", tierAmbiguous: "asks", tierOrdinary: "no request",
}

// kindPages say in plain words what the rules of each kind recognise, in the order of a
// page.
var kindPages = []struct{ kind, title, says string }{
	{"direct", "Wants or plans to die", "The person says that they want to be dead, will kill themselves or end it all, speaks of suicide, a date or a letter, or asks how one dies."},
	{"method", "Means", "Pills, poison or a dose taken, collected or asked about; a weapon, a rope, a knife at hand; a bridge, a roof, a train, a car to be crashed."},
	{"selfharm", "Hurts oneself", "Cutting, burning, hitting or starving oneself, the urge to it, fresh or hidden wounds."},
	{"past", "An attempt some days ago", "Tried to die, or was in hospital for it, within about a month. What lies years back and is over does not count."},
	{"voices", "Voices", "Voices or someone unseen who command to hurt oneself or another."},
	{"passive", "No wish to live", "No reason to live, hopes not to wake up, a burden to others, wants to vanish, cannot go on; a date, means, not being there, days without food."},
	{"farewell", "Farewell", "Goodbyes for ever, last words to children, things and pets given away, papers put in order."},
	{"emoji", "Signs alone", "Emoji that say it without words, such as a weapon and a head."},
	{"thirdperson", "Another person may die", "A friend, relative or child who wants to die, has taken something or has said goodbye."},
	{"violence", "Violence against the person", "Is hit, choked, raped, locked in, threatened or followed, or is afraid of a person at home or of one who reads the phone."},
	{"child", "A child in danger", "A child is hit, shaken, touched, alone or without food, told by the child or by another."},
	{"harmothers", "May hurt another", "Wants, plans or fears to hurt or kill another person, or has done it."},
	{"emergency", "Medical emergency", "Chest pain, no breath, signs of a stroke, fainting, much blood, an allergic shock, a seizure, poison by accident, a call for an ambulance."},
	{"optout", "Requests about the messages", "Wants no more messages (ends), may want none or complains about them (asks), is another person than the one who enrolled (pauses, asks)."},
	{"list", "No request", "Asks to see or change a list or reminders, with words that a request to end has too."},
}

// exceptionNames say in words what the exceptions of all languages are.
var exceptionNames = map[string]string{
	"DENIED": "denied", "DENIEDNOUN": "denied", "RETRACTED": "taken back", "RECOVERED": "long past, over", "QUOTED": "quoted, film, leaflet", "TALK": "about the subject", "ACTIVE": "sport, work", "LAUGH": "laughing",
	"SPORT": "sport", "SPORTDE": "sport", "SPORTES": "sport", "SPORTFR": "sport", "SPORTPT": "sport", "HEALTHY": "check-up, sport", "GESUND": "check-up, sport",
	"REDENSART": "figure of speech", "MODODEDIZER": "figure of speech", "FACONDIRE": "figure of speech", "SONGE": "dreamt",
	"LIMITED": "some messages only", "GRENZEN": "some messages only", "LIMITES": "some messages only", "LIMITESFR": "some messages only", "LIMITESPT": "some messages only",
	"REPORTED": "something else ends", "ANDERE": "something else ends", "AJENO": "something else ends", "AUTRUI": "something else ends", "ALHEIO": "something else ends", "DOUBTED": "asked, not sure",
}

// mostExamples is how many texts a page shows of a rule.
const mostExamples = 3

// Each language has a page for people who judge what is recognised and read no patterns:
// each kind in plain words, and each rule with what it does, when not, and texts of the
// sheets that it finds. Recorded like goldens.
func TestRulePages(t *testing.T) {
	for i, set := range ruleSets() {
		examples := findExamples(t, i)
		excepted := readExceptions(t, set.language)
		var out strings.Builder
		fmt.Fprintf(&out, "# What the rules of %s recognise\n\nWritten by `go test ./internal/screening -run TestRulePages -record`. The texts are examples of the open half of the sheets. The [page of screening](../../../docs/screening.md) says what each effect means; what no rule finds, the score may.\n", ruleNames[set.language])
		rest := len(set.rules)
		for _, page := range kindPages {
			var rows strings.Builder
			for _, rule := range set.rules {
				if rule.kind == page.kind {
					rest--
					fmt.Fprintf(&rows, "| %s | %s | %s | %s |\n", strings.TrimPrefix(rule.id, set.language+"."), effectOf(rule), excepted[rule.id], strings.Join(examples[rule.id], " / "))
				}
			}
			if rows.Len() > 0 {
				fmt.Fprintf(&out, "\n## %s\n\n%s\n\n| rule | effect | not where | for example |\n|---|---|---|---|\n%s", page.title, page.says, rows.String())
			}
		}
		require.Zero(t, rest, "a kind without words")
		page := filepath.Join("rules", set.language+".md")
		if goldens.ShouldRecord() {
			require.NoError(t, os.WriteFile(page, []byte(out.String()), 0o600))
			continue
		}
		written, err := os.ReadFile(page)
		require.NoError(t, err)
		require.Equal(t, string(written), out.String())
	}
}

// effectOf says what a rule does.
func effectOf(of rule) string {
	if of.isForm {
		return tierNames[of.tier] + ", where the score is that of a request"
	}
	return tierNames[of.tier]
}

// readExceptions tells of each rule in words where it finds nothing.
func readExceptions(t *testing.T, language string) map[string]string {
	t.Helper()
	raw, err := ruleFiles.ReadFile("rules/" + language + ".rules")
	require.NoError(t, err)
	all := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		fields := strings.Fields(line)
		if len(fields) < 6 || fields[0] != "rule" {
			continue
		}
		var words []string
		for _, name := range fields[5:] {
			require.NotEmpty(t, exceptionNames[name], "an exception without words: %s", name)
			words = append(words, exceptionNames[name])
		}
		slices.Sort(words)
		all[fields[1]] = strings.Join(slices.Compact(words), "; ")
	}
	return all
}

// findExamples lists texts that may be read for each rule of a language that finds them.
func findExamples(t *testing.T, language int) map[string][]string {
	t.Helper()
	examples := map[string][]string{}
	for _, dir := range []string{"testdata/sheets", "train/texts"} {
		texts, err := sheets.Read(os.DirFS(dir), languages[language])
		require.NoError(t, err)
		for _, text := range texts {
			if text.Sheet != sheets.Crisis && text.Sheet != sheets.OptOut || strings.Contains(text.Body, "{") || dir == "testdata/sheets" && !text.IsOpen() {
				continue
			}
			addExample(examples, language, text.Body)
		}
	}
	return examples
}

// addExample adds a text to the rules of a language that find it.
func addExample(examples map[string][]string, language int, body string) {
	s := scanners.Get().(*scanner)
	defer scanners.Put(s)
	for _, f := range s.scanBody(body) {
		if id := f.rule.id; f.set.place == language && len(examples[id]) < mostExamples {
			examples[id] = append(examples[id], strings.ReplaceAll(body, "|", "/"))
		}
	}
}
