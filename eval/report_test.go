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
	var good, bad Play
	cost := Cost{Calls: 3, Background: 1, Prompt: 2000, Completion: 40, Cached: 1024, Prefix: 1500, Micros: 600}
	good.Add(1, Exchange{Text: "hi", Cost: cost, Took: 1500 * time.Millisecond}, []Verdict{{Level: Must, Rule: "answered"}, {Level: Should, Rule: "says x"}})
	good.Add(2, Exchange{Cost: Cost{Calls: 1, Prompt: 1000}}, nil)
	bad.Add(1, Exchange{Text: "hi", Cost: cost, Sent: []Sent{{Body: "I saved that."}}}, []Verdict{
		{Level: Must, Rule: "answered"}, {Level: Must, Rule: "no false claim", Why: "it says saved,\nand nothing did that"},
		{Level: Should, Rule: "says x", Why: "the reply is y"},
	})
	return Run{
		StartedAt: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC),
		Columns:   []Column{{Name: "script", Model: "script", Prompts: "aaaa"}, {Name: "other@new", Model: "other", Prompts: "bbbb"}},
		Rows: []Row{
			{Case: "first", About: "one", Cells: []Cell{{good}, {bad}}},
			{Case: "second", About: "two", Cells: []Cell{{good}, nil}},
			{Case: "third", About: "three", Cells: []Cell{{good}, {{Error: "the turn does not end"}}}},
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
	total, held := r.plays(0).sum(), r.plays(0).held()
	require.Equal(t, []int{3, 3, 3, 12, 9000}, []int{held.Met, held.Of, total.turns(), total.Cost.Calls, total.Cost.Prompt})
	require.Equal(t, Score{0, 2}, r.plays(1).held(), "a case that is left out does not count")
	for i := range r.Rows {
		r.Rows[i].Cells[1] = nil
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

// repeated is a run of one case, some of whose plays held, at a number of calls each.
func repeated(plays, held, calls int) Run {
	var cell Cell
	for i := range plays {
		play := Play{Must: Score{0, 1}, Steps: []Said{{Text: "hi"}}, Cost: Cost{Calls: calls + i%2}}
		if i < held {
			play.Must.Met = 1
		}
		cell = append(cell, play)
	}
	return Run{Columns: []Column{{Name: "script"}}, Rows: []Row{{Case: "first", Cells: []Cell{cell}}}}
}

// TestNoise: a difference counts where chance alone does not explain it, and is not
// judged where too few plays were kept.
func TestNoise(t *testing.T) {
	for _, tc := range []struct {
		name                 string
		before, after        Run
		held, calls, written string
	}{
		{"once", repeated(1, 1, 2), repeated(1, 0, 9), "", "", "ok -> FAIL 0/1"},
		{"too few for figures", repeated(3, 3, 2), repeated(3, 0, 9), "beyond noise", "", "ok 3/3 (44-100%) -> FAIL 0/3 (0-56%)"},
		{"chance", repeated(5, 4, 2), repeated(5, 2, 3), "within noise", "within noise", "FAIL 4/5 (38-96%) -> FAIL 2/5 (12-77%)"},
		{"no chance", repeated(5, 5, 2), repeated(5, 0, 4), "beyond noise", "beyond noise", "ok 5/5 (57-100%) -> FAIL 0/5 (0-43%)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for range 2 {
				var out bytes.Buffer
				require.NoError(t, WriteComparison(&out, tc.before, tc.after))
				require.Regexp(t, `(?m)^first +script .*-> .*(WORSE|better) ?`+tc.held+`$`, out.String())
				require.Regexp(t, `(?m)^cases held +script .*-> \d/\d( .*\))? *`+tc.held+`$`, out.String())
				require.Regexp(t, `(?m)^model calls a turn +script .*-> [\d.]+ *`+tc.calls+`$`, out.String())
				if tc.written != "" {
					require.Contains(t, out.String(), tc.written)
				}
				tc.before, tc.after, tc.written = tc.after, tc.before, "" // Either direction.
			}
		})
	}
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
