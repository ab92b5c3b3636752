package report_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/eval/grade"
	"coachline/eval/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

// run has two columns, a case that one of them fails, one that is left out, and
// one that could not be played.
func run() report.Run {
	var good, bad report.Cell
	cost := grade.Cost{Calls: 3, Background: 1, Prompt: 2000, Completion: 40, Cached: 1024, Prefix: 1500}
	good.Add(1, grade.Exchange{Text: "hi", Cost: cost}, []grade.Verdict{{Level: grade.Must, Rule: "answered"}, {Level: grade.Should, Rule: "says x"}})
	good.Add(2, grade.Exchange{Cost: grade.Cost{Calls: 1, Prompt: 1000}}, nil)
	bad.Add(1, grade.Exchange{Text: "hi", Cost: cost, Sent: []grade.Sent{{Body: "I saved that."}}}, []grade.Verdict{
		{Level: grade.Must, Rule: "answered"}, {Level: grade.Must, Rule: "no false claim", Why: "it says saved,\nand nothing did that"},
		{Level: grade.Should, Rule: "says x", Why: "the reply is y"},
	})
	return report.Run{
		StartedAt: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC),
		Columns:   []report.Column{{Name: "script", Model: "script", Prompts: "aaaa"}, {Name: "other@new", Model: "other", Prompts: "bbbb"}},
		Rows: []report.Row{
			{Case: "first", About: "one", Cells: []report.Cell{good, bad}},
			{Case: "second", About: "two", Cells: []report.Cell{good, {Left: true}}},
			{Case: "third", About: "three", Cells: []report.Cell{good, {Error: "the turn does not end"}}},
		},
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o700))
		require.NoError(t, os.WriteFile(path, got, 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

func TestText(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run().WriteText(&out))
	golden(t, "run.golden.txt", out.Bytes())
}

func TestHeldAndTotals(t *testing.T) {
	r := run()
	require.False(t, r.Held())
	total, held, played := r.Total(0)
	require.Equal(t, []int{3, 3, 3, 12, 9000}, []int{held, played, total.Turns, total.Cost.Calls, total.Cost.Prompt})
	_, held, played = r.Total(1)
	require.Equal(t, []int{0, 2}, []int{held, played}, "a case that is left out does not count")
	for i := range r.Rows {
		r.Rows[i].Cells[1] = report.Cell{Left: true}
	}
	require.True(t, r.Held())
}

func TestCompare(t *testing.T) {
	before, after := run(), run()
	require.Empty(t, report.Compare(before, after))
	after.Columns[0].Name = "renamed"
	require.Empty(t, report.Compare(before, after), "columns are told by their names")

	after = run()
	after.Rows[0].Cells[0], after.Rows[0].Cells[1] = after.Rows[0].Cells[1], after.Rows[0].Cells[0]
	after.Rows[1].Case = "another"
	changes := report.Compare(before, after)
	require.Len(t, changes, 2)
	require.Equal(t, []bool{true, false}, []bool{changes[0].Worse, changes[1].Worse})

	var out bytes.Buffer
	require.NoError(t, report.WriteComparison(&out, before, after))
	golden(t, "compare.golden.txt", out.Bytes())
}

func TestWriteAndRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	require.NoError(t, run().Write(path))
	again, err := report.Read(path)
	require.NoError(t, err)
	require.Equal(t, run(), again)

	_, err = report.Read(filepath.Join(t.TempDir(), "none.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
	for name, text := range map[string]string{
		"no JSON":             "{",
		"cells and no column": `{"cases":[{"case":"x","cells":[{}]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			_, err := report.Read(path)
			require.ErrorContains(t, err, path)
		})
	}
}

// full takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

var errFull = errors.New("no room")

func TestAReportThatCannotBeWrittenIsAnError(t *testing.T) {
	require.ErrorIs(t, run().WriteText(full{}), errFull)
	require.ErrorIs(t, report.WriteComparison(full{}, run(), run()), errFull)
}
