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

// The limits of the house. They are there to make one stop and look for the
// missing responsibility.
const (
	productFileLines    = 400
	testFileLines       = 600
	packageProductFiles = 12
	packageProductLines = 2000
)

// vagueNames say where code was put and not what it is.
var vagueNames = []string{"util", "utils", "common", "helper", "helpers", "types", "manager", "base", "shared", "misc"}

// unfinished matches marks of work left lying, and paths of one machine.
var unfinished = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b|(^|[\s"'=(` + "`" + `])/(work|home|root|Users)/\w`)

// unfinishedAllowed names files where such a path is what the file is about.
var unfinishedAllowed = []string{"house_test.go"}

type sourceFile struct {
	path  string
	lines int
	test  bool
}

func TestHouseSizes(t *testing.T) {
	packages := map[string][]sourceFile{}
	for _, path := range textFiles(t, ".go") {
		file := sourceFile{path: path, lines: countLines(t, path), test: strings.HasSuffix(path, "_test.go")}
		limit := productFileLines
		if file.test {
			limit = testFileLines
		}
		assert.LessOrEqual(t, file.lines, limit, "%s is too long", path)
		if !file.test {
			packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], file)
		}
	}
	require.NotEmpty(t, packages)
	for name, files := range packages {
		lines := 0
		for _, file := range files {
			lines += file.lines
		}
		assert.LessOrEqual(t, len(files), packageProductFiles, "package %s has too many files", name)
		assert.LessOrEqual(t, lines, packageProductLines, "package %s has too many lines", name)
	}
}

func TestHousePackageNames(t *testing.T) {
	for _, path := range textFiles(t, ".go") {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly)
		require.NoError(t, err)
		assert.NotContains(t, vagueNames, strings.TrimSuffix(file.Name.Name, "_test"), path)
	}
}

func TestHouseLeavesNothingLying(t *testing.T) {
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
