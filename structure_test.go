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

// testedFrom are packages whose only other importers are tests.
var testedFrom = []string{"internal/database/prepared"}

// TestPackagesStandForThemselves: a package of fewer than 300 lines that only
// its parent's folder imports is a file of the parent.
func TestPackagesStandForThemselves(t *testing.T) {
	const small = 300
	lines, importers := map[string]int{}, map[string]map[string]bool{}
	for _, path := range textFiles(t, ".go") {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		require.NoError(t, err)
		folder := filepath.ToSlash(filepath.Dir(path))
		if file.Name.Name != "main" {
			lines[folder] += countLines(t, path)
		}
		for _, spec := range file.Imports {
			imported, isOwn := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "coachline/")
			if !isOwn {
				continue
			}
			if importers[imported] == nil {
				importers[imported] = map[string]bool{}
			}
			importers[imported][folder] = true
		}
	}
	require.NotEmpty(t, lines)
	for folder, count := range lines {
		parent := filepath.ToSlash(filepath.Dir(folder))
		isOnlyOfParent := len(importers[folder]) == 1 && importers[folder][parent] && !slices.Contains(testedFrom, folder)
		require.False(t, count < small && isOnlyOfParent, "%s has %d lines and only %s imports it: merge it", folder, count, parent)
	}
}
