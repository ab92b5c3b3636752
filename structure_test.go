package main

import (
	"bufio"
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Limits of a file. A longer one usually holds two subjects.
const (
	productFileLines = 600
	testFileLines    = 900
)

// vagueNames say where code was put and not what it is.
var vagueNames = []string{"util", "utils", "common", "helper", "helpers", "types", "manager", "base", "shared", "misc"}

// unfinished matches marks of work left lying, and paths of one machine.
var unfinished = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b|(^|[\s"'=(` + "`" + `])/(work|home|root|Users)/\w`)

// unfinishedAllowed names files where such a path is what the file is about.
var unfinishedAllowed = []string{"structure_test.go"}

func TestFileSizes(t *testing.T) {
	paths := textFiles(t, ".go")
	require.NotEmpty(t, paths)
	for _, path := range paths {
		limit := productFileLines
		if strings.HasSuffix(path, "_test.go") {
			limit = testFileLines
		}
		assert.LessOrEqual(t, countLines(t, path), limit, "%s is too long", path)
	}
}

func TestPackageNames(t *testing.T) {
	for _, path := range textFiles(t, ".go") {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly)
		require.NoError(t, err)
		assert.NotContains(t, vagueNames, strings.TrimSuffix(file.Name.Name, "_test"), path)
	}
}

func TestNoUnfinishedWork(t *testing.T) {
	for _, path := range textFiles(t, ".go", ".md", ".sql", ".yml", ".yaml", ".sh") {
		if slices.Contains(unfinishedAllowed, path) {
			continue
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for number, line := range bytes.Split(text, []byte("\n")) {
			assert.False(t, unfinished.Match(line), "%s:%d: %s", path, number+1, line)
		}
	}
}

// textFiles lists the repository's files with one of the endings, without what
// tools put beside them.
func textFiles(t *testing.T, endings ...string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(entry.Name(), ".") && path != "."
		if entry.IsDir() && (hidden || path == "build" || entry.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if !entry.IsDir() && slices.Contains(endings, filepath.Ext(path)) {
			found = append(found, path)
		}
		return nil
	})
	require.NoError(t, err)
	return found
}

func countLines(t *testing.T, path string) int {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	lines := 0
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		lines++
	}
	require.NoError(t, scanner.Err())
	return lines
}
