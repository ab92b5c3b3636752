package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// acceptanceRow is one line of docs/acceptance.md.
type acceptanceRow struct {
	id, status string
	tests      []string
}

func acceptanceRows(t *testing.T) []acceptanceRow {
	t.Helper()
	text, err := os.ReadFile("docs/acceptance.md")
	require.NoError(t, err)
	var rows []acceptanceRow
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) < 3 || !strings.HasPrefix(line, "| ") || strings.Contains(line, "| Status |") {
			continue
		}
		row := acceptanceRow{id: strings.TrimPrefix(cells[0], "| "), status: strings.TrimSuffix(cells[2], " |")}
		if names := strings.Trim(strings.Join(cells[3:], ""), "| "); names != "" {
			row.tests = strings.Split(names, ", ")
		}
		rows = append(rows, row)
	}
	return rows
}

func TestAcceptanceNamesWhatExists(t *testing.T) {
	sources := map[string]string{} // test files by folder
	for _, row := range acceptanceRows(t) {
		switch {
		case strings.HasPrefix(row.status, "open: "):
			assert.Empty(t, row.tests, "%s is open and shown", row.id)
		case row.status == "shown", strings.HasPrefix(row.status, "shown in part ("):
			assert.NotEmpty(t, row.tests, "%s is shown by nothing", row.id)
		default:
			t.Errorf("%s has the status %q", row.id, row.status)
		}
		for _, name := range row.tests {
			folder, rest, _ := strings.Cut(name, ".")
			function, subtest, _ := strings.Cut(rest, "/")
			if _, read := sources[folder]; !read {
				sources[folder] = testSources(t, folder)
			}
			declared := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(function) + `\([tf] \*testing\.[TF]\)`)
			assert.True(t, declared.MatchString(sources[folder]), "%s names %s, which is no test", row.id, name)
			quoted := regexp.MustCompile(`"` + regexp.QuoteMeta(subtest))
			assert.True(t, quoted.MatchString(sources[folder]), "%s names %s, which is no subtest", row.id, name)
		}
	}
}

func testSources(t *testing.T, folder string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	require.NoError(t, err)
	var all strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		all.Write(text)
	}
	return all.String()
}

// TestAcceptanceHasEveryCase: the cases of the durable side have gaps in their
// numbers; none may be dropped from the page.
func TestAcceptanceHasEveryCase(t *testing.T) {
	listed := map[string]int{}
	for _, row := range acceptanceRows(t) {
		listed[row.id]++
	}
	for _, id := range strings.Fields("2 3 5 6 8 9 11 12 14 15 17 18 20 21 23 24 26 27 29 30 32 33 35 36 38 39 41 42 44 45 47 48 50 51 53") {
		assert.Equal(t, 1, listed[id], "case %s", id)
	}
	for id, times := range listed {
		assert.Equal(t, 1, times, "%s is listed twice", id)
	}
}
