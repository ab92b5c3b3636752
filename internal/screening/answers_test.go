package screening_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/screening"
	"coachline/models"
)

// readRows reads lines of columns with tabs between them.
func readRows(t *testing.T, file string) [][]string {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	var rows [][]string
	for line := range strings.Lines(string(raw)) {
		rows = append(rows, strings.Split(strings.TrimRight(line, "\n"), "\t"))
	}
	return rows
}

// wrongAnswers are the most answers to our own questions that may end, pause, page or be
// a weak sign; a change that mends some lowers its limit.
var wrongAnswers = map[string]int{"ends": 0, "pauses": 0, "pages": 0, "weak sign": 4}

// isThisYou is the question whether the number is still the person's: an answer may
// say that it is not.
const isThisYou = "same_person"

// Natural answers to what the coach asks, by a writer who saw the questions alone, end,
// pause and page nothing.
func TestAnswersToOurQuestions(t *testing.T) {
	files, err := filepath.Glob("testdata/answers/*.tsv")
	require.NoError(t, err)
	require.Len(t, files, len(screening.Languages()))
	found := map[string][]string{}
	for _, file := range files {
		for _, row := range readRows(t, file) {
			result := screening.Screen(screening.Message{Body: row[2]})
			switch {
			case result.Tier == models.TierA:
				found["pages"] = append(found["pages"], result.Rule+": "+row[2])
			case result.Intent == models.IntentStop:
				found["ends"] = append(found["ends"], row[2])
			case result.Intent == models.IntentWrongNumber && row[0] != isThisYou:
				found["pauses"] = append(found["pauses"], row[2])
			case result.Tier == models.TierB:
				found["weak sign"] = append(found["weak sign"], result.Rule+": "+row[2])
			}
		}
	}
	for kind, most := range wrongAnswers {
		require.LessOrEqual(t, len(found[kind]), most, "%s: %s", kind, strings.Join(found[kind], "\n"))
	}
}

// Limits of texts that ask for nothing and are ended or paused, and of requests that end.
const (
	mostEnded, mostPaused = 0, 0
	leastHeard            = 0.99
	// Of the plain requests of a writer who saw no rule, and the texts near them.
	leastPlain, mostNear = 0.95, 0
)

// Texts with the words of requests that are none hardly ever end or pause the
// programme, and clear requests end it or are asked.
func TestRequestsOfABlindWriter(t *testing.T) {
	ended, paused := 0, 0
	for _, row := range readRows(t, "testdata/requests/not_requests.tsv") {
		switch screening.Screen(screening.Message{Body: row[1]}).Intent {
		case models.IntentStop:
			ended++
		case models.IntentWrongNumber:
			paused++
		}
	}
	require.LessOrEqual(t, ended, mostEnded)
	require.LessOrEqual(t, paused, mostPaused)
	clear, heard := 0, 0
	for _, row := range readRows(t, "testdata/requests/requests.tsv") {
		if row[1] != "clear" {
			continue
		}
		clear++
		if intent := screening.Screen(screening.Message{Body: row[2]}).Intent; intent == models.IntentStop || intent == models.IntentUnclear {
			heard++
		}
	}
	require.GreaterOrEqual(t, float64(heard), leastHeard*float64(clear), "%d of %d", heard, clear)
}

// Plain requests of another writer who saw no rule end, or are asked about or read once
// more; texts near them, about another time, person or object, end nothing.
func TestPlainRequests(t *testing.T) {
	var clear, ended, heard, near int
	for _, row := range readRows(t, "testdata/requests/plain.tsv") {
		found := screening.Screen(screening.Message{Body: row[2]})
		isStop := found.Intent == models.IntentStop
		switch {
		case row[1] == "clear":
			clear++
			if isStop {
				ended++
			}
			if isHeard(found) {
				heard++
			}
		case isStop:
			near++
			t.Log(row[2])
		}
	}
	require.GreaterOrEqual(t, float64(ended), leastPlain*float64(clear), "%d of %d", ended, clear)
	require.GreaterOrEqual(t, float64(heard), leastHeard*float64(clear), "%d of %d", heard, clear)
	require.LessOrEqual(t, near, mostNear)
}
