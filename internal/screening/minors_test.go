package screening_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/screening"
)

// TestSaysMinor holds what is found of texts by writers who did not see the rules; those of
// the half "count" nobody read who wrote them.
func TestSaysMinor(t *testing.T) {
	content, err := os.ReadFile("testdata/minors.tsv")
	require.NoError(t, err)
	type tally struct{ found, all int }
	counts := map[string]*tally{}
	for line := range strings.Lines(string(content)) {
		cells := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if cells[0] == "half" {
			continue
		}
		key := cells[0] + " " + cells[2]
		if counts[key] == nil {
			counts[key] = &tally{}
		}
		counts[key].all++
		isFound := screening.SaysMinor(cells[3])
		if isFound {
			counts[key].found++
		}
		if cells[0] == "look" && isFound != (cells[2] == "minor") {
			t.Logf("%s %s: %s", cells[1], cells[2], cells[3])
		}
	}
	for key, c := range counts {
		t.Logf("%s: %d of %d", key, c.found, c.all)
	}
	ordinary, err := filepath.Glob("testdata/ordinary/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, ordinary)
	taken := 0
	for _, path := range ordinary {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		for line := range strings.Lines(string(content)) {
			if screening.SaysMinor(line) {
				taken++
				t.Log("ordinary: ", line)
			}
		}
	}
	require.LessOrEqual(t, taken, 3, "of some 3,400 ordinary messages")
	require.GreaterOrEqual(t, counts["count minor"].found, 26)
	require.LessOrEqual(t, counts["count adult"].found, 2)
	require.LessOrEqual(t, counts["look adult"].found, 1)
	for body, want := range map[string]bool{
		"I'm 14": true, "ich bin 15 und in der schule": true, "j'ai 16 ans": true, "tengo 13 años": true, "tenho 17 anos": true, "hi, im only 12": true,
		"I'm 14 minutes late": false, "im 17 weeks pregnant": false, "ich bin 10 km gelaufen": false, "tengo 12 reuniones hoy": false, "my son is 14": false, "I was 15 then": false, "j'ai 17 ans de mariage": false, "tengo 15 años sin beber": false, "ich bin 12 jahre trocken": false, "i am 34": false, "I'm 85": false, "ich bin 83": false, "tenho 96 anos": false, "j'ai 81 ans": false, //nolint:misspell // French
		"met my old science teacher": false, "I'm grounded and calm today": false, "ich muss noch Hausaufgaben korrigieren": false, "": false,
	} {
		require.Equal(t, want, screening.SaysMinor(body), body)
	}
}
