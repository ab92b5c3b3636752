package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const coveragePage = "docs/coverage.md"

// coverageRow is one line of the page.
type coverageRow struct {
	id, status, test, note string
	places                 []string
}

var coverageLine = regexp.MustCompile(`^\| ([A-Z]\d+) \|`)

func coverageRows(t *testing.T) []coverageRow {
	t.Helper()
	text, err := os.ReadFile(coveragePage)
	require.NoError(t, err)
	var rows []coverageRow
	for line := range strings.Lines(string(text)) {
		if !coverageLine.MatchString(line) {
			continue
		}
		cells := strings.Split(strings.TrimSpace(line), "|")
		require.Len(t, cells, 8, line)
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		row := coverageRow{id: cells[1], status: cells[3], test: cells[5], note: cells[6]}
		if cells[4] != "" {
			row.places = strings.Split(cells[4], ", ")
		}
		rows = append(rows, row)
	}
	return rows
}

// coverageIDs are the rows that the page must hold: the checklist's, the
// decisions, and the acceptance cases, whose numbers have gaps.
func coverageIDs() []string {
	var ids []string
	add := func(letter string, from, to int) {
		for n := from; n <= to; n++ {
			ids = append(ids, fmt.Sprintf("%s%d", letter, n))
		}
	}
	add("J", 1, 106)
	add("O", 1, 32)
	add("O", 45, 45)
	add("P", 1, 46)
	add("C", 1, 18)
	add("D", 1, 4)
	for _, n := range []int{
		1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19, 20, 22, 23, 25, 26, 27, 28, 29, 31, 32, 34, 35, 37, 38, 40, 41, 43, 44, 46, 47,
		49, 50, 52, 53, 55, 56, 58, 59, 61, 62, 64, 65, 67, 68, 70, 71, 73, 74, 76,
	} {
		add("A", n, n)
	}
	for _, n := range []int{1, 2, 4, 6, 7, 10, 12, 14, 15, 17, 18} {
		add("H", n, n)
	}
	return ids
}

func TestCoverageHasEveryRow(t *testing.T) {
	var listed []string
	for _, row := range coverageRows(t) {
		listed = append(listed, row.id)
	}
	require.ElementsMatch(t, coverageIDs(), listed)
}

func TestCoverageNamesWhatExists(t *testing.T) {
	rooms := map[string]testRoom{}
	for _, row := range coverageRows(t) {
		t.Run(row.id, func(t *testing.T) {
			assert.Contains(t, []string{"done", "adapted", "not applicable", "open"}, row.status)
			shown := row.status == "done" || row.status == "adapted"
			assert.False(t, shown && (row.test == "" || len(row.places) == 0), "what holds has a place and a test")
			assert.False(t, !shown && row.note == "", "what does not hold has a reason")
			for _, place := range row.places {
				_, err := os.Stat(filepath.FromSlash(place))
				require.NoError(t, err)
			}
			if row.test == "" {
				return
			}
			folder, name, found := strings.Cut(row.test, ".")
			require.True(t, found, "%q is no package.TestName", row.test)
			if _, known := rooms[folder]; !known {
				rooms[folder] = readTests(t, folder)
			}
			name, part, _ := strings.Cut(name, "/")
			assert.Contains(t, rooms[folder].tests, name)
			assert.True(t, part == "" || rooms[folder].names(part), "no subtest %q in %s", part, folder)
		})
	}
}

// testRoom is what the test files of a folder declare.
type testRoom struct {
	tests    []string
	literals []string
}

// names reports whether a subtest may have a name: a text of the files says
// so, whole or as the beginning that a name is made with.
func (r testRoom) names(part string) bool {
	return slices.ContainsFunc(r.literals, func(text string) bool {
		return text == part || strings.HasSuffix(text, " ") && len(text) > 2 && strings.HasPrefix(part, text)
	})
}

func readTests(t *testing.T, folder string) testRoom {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(folder), "*_test.go"))
	require.NoError(t, err)
	var room testRoom
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			switch found := node.(type) {
			case *ast.FuncDecl:
				if found.Recv == nil && (strings.HasPrefix(found.Name.Name, "Test") || strings.HasPrefix(found.Name.Name, "Fuzz")) {
					room.tests = append(room.tests, found.Name.Name)
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(found.Value); err == nil && found.Kind == token.STRING {
					room.literals = append(room.literals, text)
				}
			}
			return true
		})
	}
	return room
}
