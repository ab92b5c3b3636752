package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/models"
)

// decisionWords is the most words of an entry of docs/decisions.md.
const decisionWords = 45

func TestDecisionsAreShort(t *testing.T) {
	text, err := os.ReadFile("docs/decisions.md")
	require.NoError(t, err)
	entries := strings.Split(string(text), "\n## ")
	require.Greater(t, len(entries), 1)
	dated := regexp.MustCompile(`^20\d\d-\d\d-\d\d \S`)
	titles := map[string]bool{}
	last := ""
	for _, entry := range entries[1:] {
		title, body, _ := strings.Cut(entry, "\n")
		require.Regexp(t, dated, title)
		words := len(strings.Fields(body))
		assert.True(t, 0 < words && words <= decisionWords, "%q has %d words of %d", title, words, decisionWords)
		assert.False(t, titles[title], "%q is there twice", title)
		titles[title] = true
		date, _, _ := strings.Cut(title, " ")
		assert.LessOrEqual(t, last, date, "%q stands after a newer entry", title)
		last = date
	}
}

var (
	fencedBlock  = regexp.MustCompile("(?ms)^```.*?^```")
	codeSpan     = regexp.MustCompile("`[^`\n]*`")
	markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading      = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notInAnchors = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinksOfDocuments holds that every relative link of a document leads to a
// file, and every anchor to a heading of it.
func TestLinksOfDocuments(t *testing.T) {
	links := 0
	for _, page := range textFiles(t, ".md") {
		for _, link := range linksOf(t, page) {
			target, err := url.Parse(link)
			require.NoError(t, err)
			if target.IsAbs() {
				continue
			}
			links++
			path := page
			if target.Path != "" {
				path = filepath.Join(filepath.Dir(page), filepath.FromSlash(target.Path))
			}
			if _, err := os.Stat(path); err != nil {
				assert.Fail(t, "a link leads nowhere", "%s links to %s: %v", page, link, err)
				continue
			}
			assert.True(t, target.Fragment == "" || slices.Contains(anchorsOf(t, path), target.Fragment),
				"%s links to %s, and %s has no such heading", page, link, path)
		}
	}
	require.NotZero(t, links)
}

// TestReadmeLinksEveryDocument holds that a reader of README finds every file
// of docs, and that no picture is large.
func TestReadmeLinksEveryDocument(t *testing.T) {
	linked := linksOf(t, "README.md")
	for _, page := range append(textFiles(t, ".md"), textFiles(t, ".png")...) {
		if strings.HasPrefix(page, "docs/") || !strings.Contains(page, "/") && page != "README.md" {
			assert.Contains(t, linked, filepath.ToSlash(page))
		}
	}
	for _, picture := range textFiles(t, ".png") {
		about, err := os.Stat(picture)
		require.NoError(t, err)
		assert.Less(t, about.Size(), int64(150_000), picture)
	}
}

func linksOf(t *testing.T, page string) []string {
	t.Helper()
	var found []string
	for _, link := range markdownLink.FindAllStringSubmatch(proseOf(t, page), -1) {
		found = append(found, link[1])
	}
	return found
}

// anchorsOf are the names of a page's headings as code hosts make them.
func anchorsOf(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	var found []string
	for _, line := range heading.FindAllStringSubmatch(fencedBlock.ReplaceAllString(string(text), ""), -1) {
		plain := notInAnchors.ReplaceAllString(strings.ToLower(line[1]), "")
		found = append(found, strings.ReplaceAll(plain, " ", "-"))
	}
	return found
}

// proseOf is a page without its code.
func proseOf(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	return codeSpan.ReplaceAllString(fencedBlock.ReplaceAllString(string(text), ""), "")
}

// TestContributingNamesWhatExists holds that the files which CONTRIBUTING and
// design name are there.
func TestContributingNamesWhatExists(t *testing.T) {
	path := regexp.MustCompile("`([\\w.-]+(?:/[\\w.-]+)+|[\\w-]+\\.(?:go|yml|md))/?`")
	for _, page := range []string{"CONTRIBUTING.md", "docs/design.md", "docs/coverage.md"} {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		named := path.FindAllStringSubmatch(string(text), -1)
		require.NotEmpty(t, named, page)
		for _, one := range named {
			if strings.HasPrefix(one[1], "package/") || one[1] == "internal/tools/your_tool.go" {
				continue // A form, not a file.
			}
			_, err := os.Stat(filepath.FromSlash(one[1]))
			assert.NoError(t, err, "%s names %s", page, one[1])
		}
	}
}

// TestFeaturesNameWhatExists: columns and settings of the table of features; its files
// are among those that TestContributingNamesWhatExists looks for.
func TestFeaturesNameWhatExists(t *testing.T) {
	guide, err := os.ReadFile("CONTRIBUTING.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(guide), "\n## Features that can be taken out\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n## ")
	settings, err := os.ReadFile("docs/configuration.md")
	require.NoError(t, err)
	columns, err := os.ReadFile("internal/store/testdata/schema.golden")
	require.NoError(t, err)
	n := 0
	for _, name := range regexp.MustCompile("`(COACH_\\w+|[a-z_]+\\.[a-z_]+)`").FindAllStringSubmatch(table, -1) {
		n++
		if strings.HasPrefix(name[1], "COACH_") {
			assert.Contains(t, string(settings), "`"+name[1]+"`")
			continue
		}
		assert.Contains(t, strings.Fields(string(columns)), name[1])
	}
	require.Greater(t, n, 15)
}

// TestOperationsNameEveryMetric holds that the page of operations explains each
// metric of the product, and that it and the alerts ask for no other.
func TestOperationsNameEveryMetric(t *testing.T) {
	page, err := os.ReadFile("docs/operations.md")
	require.NoError(t, err)
	literal := regexp.MustCompile(`"_?([a-z]+(?:_[a-z]+)*_(?:total|seconds|waiting|open|brakes|texts|faults|failing|ready))"`)
	// The SDK's counters get their ending when they are served.
	known := map[string]bool{
		strings.TrimPrefix(models.MetricDrained, "coachline_") + "_total":   true,
		strings.TrimPrefix(models.MetricUnhandled, "coachline_") + "_total": true,
	}
	for _, path := range textFiles(t, ".go") {
		if !strings.HasPrefix(filepath.ToSlash(path), "internal/metrics/") || strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, name := range literal.FindAllStringSubmatch(string(text), -1) {
			known[name[1]] = true
		}
	}
	require.Greater(t, len(known), 15)
	_, explained, found := strings.Cut(string(page), "\n## Metrics\n")
	require.True(t, found)
	for name := range known {
		assert.Regexp(t, "`"+name+"[`{]", explained)
	}
	rules, err := os.ReadFile("deploy/prometheus/alerts.yml")
	require.NoError(t, err)
	for _, text := range []string{string(page), string(rules)} {
		for _, name := range regexp.MustCompile(`coachline_([a-z_]+)`).FindAllStringSubmatch(text, -1) {
			asked := strings.TrimSuffix(strings.TrimSuffix(name[1], "_bucket"), "_count")
			assert.True(t, known[asked], "no metric coachline_%s", asked)
		}
	}
}

// TestFeaturesAreCalledFromWhereTheTableSays holds that the last column of the table of
// features has each of the product's files that names what the feature's files declare.
// Who calls a package is known by its imports.
func TestFeaturesAreCalledFromWhereTheTableSays(t *testing.T) {
	guide, err := os.ReadFile("CONTRIBUTING.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(guide), "\n## Features that can be taken out\n")
	table, _, _ = strings.Cut(table, "\n## ")
	tree := readTree(t)
	quoted := regexp.MustCompile("`([^`]+\\.go)`")
	found := 0
	for _, row := range strings.Split(table, "\n") {
		cells := strings.Split(row, "|")
		if len(cells) != 7 {
			continue
		}
		var code []string
		for _, one := range quoted.FindAllStringSubmatch(cells[3], -1) {
			code = append(code, one[1])
		}
		for _, caller := range tree.callersOf(code) {
			found++
			assert.Contains(t, cells[5], "`"+caller+"`", strings.TrimSpace(cells[1]))
		}
	}
	require.Greater(t, found, 30)
}

// sourceTree is the product's files by path.
type sourceTree map[string]*ast.File

func readTree(t *testing.T) sourceTree {
	t.Helper()
	tree := sourceTree{}
	harness := regexp.MustCompile(`^(bench|chaos|dev|eval|deploy|internal/(sim|rehearsal|sample)|workflows/testdata)/|_test\.go$`)
	for _, path := range textFiles(t, ".go") {
		if path = filepath.ToSlash(path); harness.MatchString(path) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		tree[path] = file
	}
	return tree
}

// callersOf lists the other files that use what some files declare.
func (s sourceTree) callersOf(code []string) []string {
	declared := map[string]map[string]bool{} // by folder
	for _, path := range code {
		folder, file := filepath.ToSlash(filepath.Dir(path)), s[path]
		if file != nil && declared[folder] == nil {
			declared[folder] = map[string]bool{}
		}
		for name := range declaredIn(file) {
			declared[folder][name] = true
		}
	}
	var callers []string
	for path, file := range s {
		isCaller := false
		for folder, names := range declared {
			isCaller = isCaller || usesAny(file, filepath.ToSlash(filepath.Dir(path)) == folder, importName(file, folder), names)
		}
		if isCaller && !slices.Contains(code, path) {
			callers = append(callers, path)
		}
	}
	return callers
}

// declaredIn has the functions, types, variables and constants of a file.
func declaredIn(file *ast.File) map[string]bool {
	names := map[string]bool{}
	if file == nil {
		return names
	}
	for _, decl := range file.Decls {
		if fn, isFunc := decl.(*ast.FuncDecl); isFunc && fn.Recv == nil {
			names[fn.Name.Name] = true
		}
		group, isGroup := decl.(*ast.GenDecl)
		if !isGroup {
			continue
		}
		for _, spec := range group.Specs {
			switch one := spec.(type) {
			case *ast.TypeSpec:
				names[one.Name.Name] = true
			case *ast.ValueSpec:
				for _, name := range one.Names {
					names[name.Name] = true
				}
			}
		}
	}
	return names
}

// importName is the name by which a file imports a folder of this module; empty where it
// does not.
func importName(file *ast.File, folder string) string {
	for _, one := range file.Imports {
		if one.Path.Value == strconv.Quote("coachline/"+folder) {
			if one.Name != nil {
				return one.Name.Name
			}
			return filepath.Base(folder)
		}
	}
	return ""
}

// usesAny reports whether a file of the folder, or one that imports it as name, uses one
// of the names.
func usesAny(file *ast.File, isInside bool, name string, names map[string]bool) bool {
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		switch one := n.(type) {
		case *ast.SelectorExpr:
			of, isIdent := one.X.(*ast.Ident)
			found = found || isIdent && name != "" && of.Name == name && names[one.Sel.Name]
		case *ast.CallExpr:
			if fun, isIdent := one.Fun.(*ast.Ident); isIdent && isInside {
				found = found || names[fun.Name]
			}
		}
		return !found
	})
	return found
}
