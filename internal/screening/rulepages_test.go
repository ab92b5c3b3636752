package screening

import (
	"fmt"
	"os"
	"path/filepath"
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

// mostExamples is how many texts a page shows of a rule.
const mostExamples = 3

// Each language has a page for people who judge what is recognised and read no patterns:
// each rule with what it does and texts of the sheets that it finds. Recorded like goldens.
func TestRulePages(t *testing.T) {
	for i, set := range ruleSets() {
		examples := map[string][]string{}
		for _, dir := range []string{"testdata/sheets", "train/texts"} {
			texts, err := sheets.Read(os.DirFS(dir), set.language)
			require.NoError(t, err)
			for _, text := range texts {
				if text.Sheet != sheets.Crisis && text.Sheet != sheets.OptOut || strings.Contains(text.Body, "{") || dir == "testdata/sheets" && !text.IsOpen() {
					continue
				}
				addExample(examples, i, text.Body)
			}
		}
		var out strings.Builder
		fmt.Fprintf(&out, "# What the rules of %s recognise\n\nWritten by `go test ./internal/screening -run TestRulePages -record`. A line of a rule has some ways to say something; the texts are examples of the open half of the sheets. The [page of screening](../../../docs/screening.md) says what each effect means.\n\n| rule | about | effect | lines | for example |\n|---|---|---|---|---|\n",
			ruleNames[set.language])
		for _, rule := range set.rules {
			fmt.Fprintf(&out, "| %s | %s | %s | %d | %s |\n", strings.TrimPrefix(rule.id, set.language+"."), rule.kind, tierNames[rule.tier], len(rule.patterns), strings.Join(examples[rule.id], " / "))
		}
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
