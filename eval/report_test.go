package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/goldens"
)

// run has two columns, a case that one of them fails, one that is left out, and
// one that could not be played.
func gradedRun() Run {
	var good, bad Cell
	cost := Cost{Calls: 3, Background: 1, Prompt: 2000, Completion: 40, Cached: 1024, Prefix: 1500}
	good.Add(1, Exchange{Text: "hi", Cost: cost}, []Verdict{{Level: Must, Rule: "answered"}, {Level: Should, Rule: "says x"}})
	good.Add(2, Exchange{Cost: Cost{Calls: 1, Prompt: 1000}}, nil)
	bad.Add(1, Exchange{Text: "hi", Cost: cost, Sent: []Sent{{Body: "I saved that."}}}, []Verdict{
		{Level: Must, Rule: "answered"}, {Level: Must, Rule: "no false claim", Why: "it says saved,\nand nothing did that"},
		{Level: Should, Rule: "says x", Why: "the reply is y"},
	})
	return Run{
		StartedAt: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC),
		Columns:   []Column{{Name: "script", Model: "script", Prompts: "aaaa"}, {Name: "other@new", Model: "other", Prompts: "bbbb"}},
		Rows: []Row{
			{Case: "first", About: "one", Cells: []Cell{good, bad}},
			{Case: "second", About: "two", Cells: []Cell{good, {Left: true}}},
			{Case: "third", About: "three", Cells: []Cell{good, {Error: "the turn does not end"}}},
		},
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if goldens.ShouldRecord() {
		require.NoError(t, os.MkdirAll("testdata", 0o700))
		require.NoError(t, os.WriteFile(path, got, 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

func TestText(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, gradedRun().WriteText(&out))
	golden(t, "run.golden.txt", out.Bytes())
}

func TestHeldAndTotals(t *testing.T) {
	r := gradedRun()
	require.False(t, r.Held())
	total, held, played := r.Total(0)
	require.Equal(t, []int{3, 3, 3, 12, 9000}, []int{held, played, total.Turns, total.Cost.Calls, total.Cost.Prompt})
	_, held, played = r.Total(1)
	require.Equal(t, []int{0, 2}, []int{held, played}, "a case that is left out does not count")
	for i := range r.Rows {
		r.Rows[i].Cells[1] = Cell{Left: true}
	}
	require.True(t, r.Held())
}

func TestCompare(t *testing.T) {
	before, after := gradedRun(), gradedRun()
	require.Empty(t, Compare(before, after))
	after.Columns[0].Name = "renamed"
	require.Empty(t, Compare(before, after), "columns are told by their names")

	after = gradedRun()
	after.Rows[0].Cells[0], after.Rows[0].Cells[1] = after.Rows[0].Cells[1], after.Rows[0].Cells[0]
	after.Rows[1].Case = "another"
	changes := Compare(before, after)
	require.Len(t, changes, 2)
	require.Equal(t, []bool{true, false}, []bool{changes[0].Worse, changes[1].Worse})

	var out bytes.Buffer
	require.NoError(t, WriteComparison(&out, before, after))
	golden(t, "compare.golden.txt", out.Bytes())
}

func TestWriteAndRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	require.NoError(t, gradedRun().Write(path))
	again, err := Read(path)
	require.NoError(t, err)
	require.Equal(t, gradedRun(), again)

	_, err = Read(filepath.Join(t.TempDir(), "none.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
	for name, text := range map[string]string{
		"no JSON":             "{",
		"cells and no column": `{"cases":[{"case":"x","cells":[{}]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			_, err := Read(path)
			require.ErrorContains(t, err, path)
		})
	}
}

// full takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

var errFull = errors.New("disk full")

func TestAReportThatCannotBeWrittenIsAnError(t *testing.T) {
	require.ErrorIs(t, gradedRun().WriteText(full{}), errFull)
	require.ErrorIs(t, WriteComparison(full{}, gradedRun(), gradedRun()), errFull)
}
