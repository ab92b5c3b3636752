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

// coverageFile maps each requirement to the tests that hold it. docs/coverage.md
// says how it is read and changed.
const coverageFile = "testdata/coverage.tsv"

// requirement is one row of the file.
type requirement struct {
	id, status, what, note string
	files, tests           []string
}

func requirements(t *testing.T) []requirement {
	t.Helper()
	text, err := os.ReadFile(coverageFile)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	require.Equal(t, "id\tstatus\twhat\tfiles\ttests\tnote", lines[0])
	var rows []requirement
	for _, line := range lines[1:] {
		cells := strings.Split(line, "\t")
		require.Len(t, cells, 6, line)
		rows = append(rows, requirement{
			id: cells[0], status: cells[1], what: cells[2], files: listOf(cells[3]), tests: listOf(cells[4]), note: cells[5],
		})
	}
	return rows
}

func listOf(cell string) []string {
	if cell == "" {
		return nil
	}
	return strings.Split(cell, " | ")
}

// numberedRequirements are the ids of which none may be dropped: those of the
// reply engine, and the durable cases (T). Some have gaps in their numbers.
func numberedRequirements() []string {
	var ids []string
	add := func(letter string, numbers ...int) {
		for _, n := range numbers {
			ids = append(ids, fmt.Sprintf("%s%d", letter, n))
		}
	}
	for letter, last := range map[string]int{"J": 106, "O": 32, "P": 46, "C": 18, "D": 4} {
		for n := range last {
			add(letter, n+1)
		}
	}
	add("O", 45)
	add("A", 1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19, 20, 22, 23, 25, 26, 27, 28, 29, 31, 32, 34, 35, 37, 38, 40, 41, 43,
		44, 46, 47, 49, 50, 52, 53, 55, 56, 58, 59, 61, 62, 64, 65, 67, 68, 70, 71, 73, 74, 76)
	add("H", 1, 2, 4, 6, 7, 10, 12, 14, 15, 17, 18)
	add("T", 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18, 20, 21, 23, 24, 26, 27, 29, 30, 32, 33, 35, 36, 38, 39, 41, 42, 44, 45,
		47, 48, 50, 51, 53)
	return ids
}

// TestCoverageHasEveryRow fails when a numbered requirement is dropped or
// invented, and when any id is listed twice. Rules of messaging (M), of the
// conversation (V) and of the console's screens (S) have names instead of numbers.
func TestCoverageHasEveryRow(t *testing.T) {
	named := regexp.MustCompile(`^[MVS]\d(\.\d)?-`)
	listed := map[string]int{}
	var numbered []string
	for _, row := range requirements(t) {
		listed[row.id]++
		if !named.MatchString(row.id) {
			numbered = append(numbered, row.id)
		}
	}
	for id, times := range listed {
		assert.Equal(t, 1, times, "%s is listed %d times", id, times)
	}
	require.ElementsMatch(t, numberedRequirements(), numbered)
}

// TestCoverageNamesWhatExists fails when a file, a test or a subtest that the
// table names does not exist, and when a row's status and evidence disagree.
func TestCoverageNamesWhatExists(t *testing.T) {
	folders := map[string]testFolder{}
	for _, row := range requirements(t) {
		t.Run(row.id, func(t *testing.T) {
			checkEvidence(t, row)
			for _, path := range row.files {
				_, err := os.Stat(filepath.FromSlash(path))
				require.NoError(t, err)
			}
			for _, full := range row.tests {
				folder, name, found := strings.Cut(full, ".")
				require.True(t, found, "%q has not the form package.TestName", full)
				if _, known := folders[folder]; !known {
					folders[folder] = readTests(t, folder)
				}
				name, part, _ := strings.Cut(name, "/")
				assert.Contains(t, folders[folder].tests, name)
				assert.True(t, part == "" || folders[folder].hasSubtest(part), "no subtest %q in %s", part, folder)
			}
		})
	}
}

func checkEvidence(t *testing.T, row requirement) {
	t.Helper()
	assert.NotEmpty(t, row.what)
	switch row.status {
	case "done", "adapted":
		assert.NotEmpty(t, row.tests, "no test holds what is done")
		assert.True(t, len(row.files) > 0 || strings.ContainsAny(row.id[:1], "TMV"), "what is done has no file")
		assert.True(t, row.status == "done" || row.note != "", "the note does not say how it is adapted")
	case "partial":
		assert.NotEmpty(t, row.tests, "no test holds the part that is done")
		assert.NotEmpty(t, row.note, "the note does not say what is missing")
	case "open", "none":
		assert.Empty(t, row.tests, "a test holds what is not done")
		assert.NotEmpty(t, row.note, "the note gives no reason")
	default:
		t.Errorf("status %q", row.status)
	}
}

// testFolder is what the test files of a folder declare.
type testFolder struct {
	tests    []string
	literals []string
}

// hasSubtest reports whether a subtest may have a name: a string of the files
// is that name, or is the beginning that a name is made with.
func (f testFolder) hasSubtest(part string) bool {
	return slices.ContainsFunc(f.literals, func(text string) bool {
		return text == part || strings.HasSuffix(text, " ") && len(text) > 2 && strings.HasPrefix(part, text)
	})
}

func readTests(t *testing.T, folder string) testFolder {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(filepath.FromSlash(folder), "*_test.go"))
	require.NoError(t, err)
	var found testFolder
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.FuncDecl:
				if node.Recv == nil && (strings.HasPrefix(node.Name.Name, "Test") || strings.HasPrefix(node.Name.Name, "Fuzz")) {
					found.tests = append(found.tests, node.Name.Name)
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(node.Value); err == nil && node.Kind == token.STRING {
					found.literals = append(found.literals, text)
				}
			}
			return true
		})
	}
	return found
}
