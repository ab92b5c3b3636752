package screening_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/goldens"
	"coachline/internal/screening"
	"coachline/internal/screening/sheets"
)

const (
	figuresPage = "../../docs/screening.md"
	// figuresByLanguage has each kind of the sheets by language.
	figuresByLanguage = "testdata/figures.md"
)

// figure is a row of the table of figures. More is better, unless isCost.
type figure struct {
	label, name, target string
	isCost              bool
}

// targetRows lists what has a target, and what belongs to it.
func targetRows() []figure {
	return []figure{
		{label: "crisis, all kinds", name: "crisis"},
		{label: "crisis: direct, method, emergency", name: explicit, target: "98, each language 95"},
		{label: "crisis: passive, slang, typo, third person", name: indirect, target: "90"},
		{label: "hard negatives flagged", name: "negative", target: "at most 10", isCost: true},
		{label: "ordinary texts flagged", name: "ordinary", target: "at most 0.1", isCost: true},
		{label: "opt-out: keyword", name: "optout/keyword", target: "100"},
		{label: "opt-out: clear request", name: "optout/clear", target: "97 en, es; 95 else"},
		{label: "opt-out: keyword or clear request, ended or asked", name: heard, target: "99"},
		{label: "opt-out: unclear, asked", name: "optout/unclear"},
		{label: "opt-out: wrong number, asked", name: "optout/wrongnumber", target: "95"},
		{label: "opted out by mistake", name: "opted out by mistake", target: "at most 0.5", isCost: true},
		{label: "asked by mistake", name: "asked by mistake", isCost: true},
	}
}

// kindRows lists the kinds of the sheets.
func kindRows(counts map[string]*share) []figure {
	var rows []figure
	var kinds []string
	for name := range counts {
		sheet, kind, ok := strings.Cut(name, "/")
		if ok && !strings.Contains(kind, " ") && (sheet == sheets.Crisis || sheet == sheets.Negative) {
			kinds = append(kinds, name)
		}
	}
	slices.Sort(kinds)
	for _, name := range kinds {
		sheet, kind, _ := strings.Cut(name, "/")
		label := map[string]string{sheets.Crisis: "crisis", sheets.Negative: "flagged"}[sheet]
		rows = append(rows, figure{label: label + ": " + kind, name: name, isCost: sheet == sheets.Negative})
	}
	return rows
}

// cell is a share with its interval, in percent.
func cell(s *share) string {
	if s == nil {
		return "-"
	}
	low, high := sheets.Wilson(s.hits, s.n)
	return fmt.Sprintf("%d/%d: %.1f (%.1f-%.1f)", s.hits, s.n, percent(s), max(0, 100*low), min(100, 100*high))
}

func percent(s *share) float64 { return 100 * float64(s.hits) / float64(max(s.n, 1)) }

// figureTable shows what has a target, or each kind, by language.
func figureTable(rows []figure, counts map[string]*share) string {
	var out strings.Builder
	out.WriteString("| | target, % | all | as tier A, % | " + strings.Join(screening.Languages(), " | ") + " |\n")
	out.WriteString("|---|---|---|---|" + strings.Repeat("---|", len(screening.Languages())) + "\n")
	for _, row := range rows {
		fmt.Fprintf(&out, "| %s | %s | %s | %s |", row.label, row.target, cell(counts[row.name]), graveShare(row, counts))
		for _, language := range screening.Languages() {
			fmt.Fprintf(&out, " %s |", cell(counts[row.name+" "+language]))
		}
		out.WriteString("\n")
	}
	return out.String()
}

// graveShare is the percentage of a row that alerts as tier A.
func graveShare(row figure, counts map[string]*share) string {
	if s := counts["tier A of "+row.name]; s != nil && !strings.HasPrefix(row.name, sheets.OptOut) {
		return fmt.Sprintf("%.1f", percent(s))
	}
	return "-"
}

// block gives the part of a page between the marks of a generated table.
func block(page, name string) (before, table, after string, ok bool) {
	begin, end := "<!-- "+name+": begin -->\n", "<!-- "+name+": end -->"
	before, rest, isBegun := strings.Cut(page, begin)
	table, after, isEnded := strings.Cut(rest, end)
	return before + begin, table, end + after, isBegun && isEnded
}

var cellShare = regexp.MustCompile(`(\d+)/(\d+):`)

// The tables of docs/screening.md, and that of testdata by language, are not
// better than what is measured, and their texts are those of the sheets. This
// writes them:
//
//	go test ./internal/screening -run TestFigures -record
func TestFiguresOfDocs(t *testing.T) {
	counts := scoredHalf(t)
	costs := map[string]bool{}
	for _, row := range slices.Concat(targetRows(), kindRows(counts)) {
		costs[row.label] = row.isCost
	}
	comparePage(t, figuresPage, "figures", figureTable(targetRows(), counts), costs)
	comparePage(t, figuresByLanguage, "kinds", figureTable(kindRows(counts), counts), costs)
}

// comparePage compares a table of a page with what is measured, or writes it.
func comparePage(t *testing.T, path, name, measured string, costs map[string]bool) {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	before, written, after, ok := block(string(raw), name)
	require.True(t, ok, "%s has no place for the table %s", path, name)
	if goldens.ShouldRecord() {
		require.NoError(t, os.WriteFile(path, []byte(before+measured+after), 0o600))
		return
	}
	for _, complaint := range worse(measured, written, costs) {
		t.Errorf("%s, %s: %s; write the figures anew: go test ./internal/screening -run TestFigures -record", path, name, complaint)
	}
}

// worse compares a table that is measured with the one that is written, and says
// where the written one promises more.
func worse(measured, written string, costs map[string]bool) []string {
	now, then := strings.Split(measured, "\n"), strings.Split(written, "\n")
	if len(now) != len(then) || now[0] != then[0] {
		return []string{"the rows or columns are others"}
	}
	head := strings.Split(now[0], "|")
	var complaints []string
	for i := range now {
		cells, old := strings.Split(now[i], "|"), strings.Split(then[i], "|")
		if len(cells) != len(old) || cells[min(1, len(cells)-1)] != old[min(1, len(old)-1)] {
			complaints = append(complaints, fmt.Sprintf("row %d is another one: %s", i+1, then[i]))
			continue
		}
		for j := range cells {
			isCost := len(cells) > 1 && costs[strings.TrimSpace(cells[1])] || j < len(head) && strings.Contains(head[j], "flagged") || strings.Contains(head[min(1, len(head)-1)], "flagged")
			if isWorse(cells[j], old[j], isCost) {
				complaints = append(complaints, fmt.Sprintf("%s,%s: measured%s, written%s", cells[1], head[j], cells[j], old[j]))
			}
		}
	}
	return complaints
}

// isWorse reports whether a cell is of other texts than the written one, or falls
// behind it.
func isWorse(measured, written string, isCost bool) bool {
	now, then := cellShare.FindStringSubmatch(measured), cellShare.FindStringSubmatch(written)
	if now == nil || then == nil {
		return (now == nil) != (then == nil)
	}
	hits, _ := strconv.Atoi(now[1])
	promised, _ := strconv.Atoi(then[1])
	if isCost {
		return now[2] != then[2] || hits > promised
	}
	return now[2] != then[2] || hits < promised
}

func TestWorse(t *testing.T) {
	costs := map[string]bool{"flagged": true}
	table := "| | all |\n|---|---|\n| crisis | 9/10: 90.0 (1.0-2.0) |\n| flagged | 1/10: 10.0 (1.0-2.0) |\n"
	require.Empty(t, worse(table, table, costs))
	require.Empty(t, worse(table, strings.Replace(table, "9/10", "8/10", 1), costs), "it found more since")
	require.Len(t, worse(table, strings.Replace(table, "9/10", "10/10", 1), costs), 1)
	require.Len(t, worse(table, strings.Replace(table, "1/10", "0/10", 1), costs), 1)
	require.Len(t, worse(table, strings.Replace(table, "9/10", "9/11", 1), costs), 1, "of other texts")
	require.Len(t, worse(table, strings.Replace(table, "| crisis", "| direct", 1), costs), 1)
	require.Len(t, worse(table, "| | all |\n", costs), 1)
}
