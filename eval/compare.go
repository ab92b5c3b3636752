package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"coachline/internal/screening/sheets"
)

// Change is how a case of a column differs between two runs.
type Change struct {
	Case, Column  string
	Before, After Cell
	// Worse: fewer of its plays held, or as many meet fewer expectations.
	Worse bool
}

// Compare lists the cells that both runs have and that differ in what they
// meet, in the order of after. A column of the one run is compared with that
// of the same name in the other.
func Compare(before, after Run) []Change {
	var out []Change
	for _, row := range after.Rows {
		old := slices.IndexFunc(before.Rows, func(r Row) bool { return r.Case == row.Case })
		if old < 0 {
			continue
		}
		for i, column := range after.Columns {
			at := before.columnOf(column.Name)
			if at < 0 {
				continue
			}
			a, b := before.Rows[old].Cells[at], row.Cells[i]
			if len(a) == 0 || len(b) == 0 || a.short() == b.short() && a.sum().Must == b.sum().Must {
				continue
			}
			out = append(out, Change{row.Case, column.Name, a, b, isWorse(a, b)})
		}
	}
	return out
}

func isWorse(a, b Cell) bool {
	if before, after := a.held().share(), b.held().share(); before != after {
		return before > after
	}
	return b.sum().share() < a.sum().share()
}

// share is the part that is met; all of none.
func (s Score) share() float64 {
	if s.Of == 0 {
		return 1
	}
	return float64(s.Met) / float64(s.Of)
}

func (p Play) share() float64 { return p.Must.add(p.Should).share() }

// isShareBeyondNoise reports whether the interval of 95 % of the difference of two
// shares leaves out 0: Newcombe's, of the Wilson intervals of the two.
func isShareBeyondNoise(a, b Score) bool {
	if a.share() > b.share() {
		a, b = b, a
	}
	_, high := sheets.Wilson(a.Met, a.Of)
	low, _ := sheets.Wilson(b.Met, b.Of)
	return b.share()-a.share() > math.Hypot(high-a.share(), b.share()-low)
}

// leastRounds is how often both runs must have played before their figures can be told
// from noise: of four and four figures that differ by chance alone, all of the one run
// are below all of the other in 2 of 70 cases.
const leastRounds = 4

// areApart reports whether all figures of the one run are below all of the other.
func areApart(a, b []float64) bool {
	return slices.Max(a) < slices.Min(b) || slices.Max(b) < slices.Min(a)
}

// noiseWord says what is known of a difference between runs of so many plays.
func noiseWord(least, a, b int, isBeyond func() bool) string {
	switch {
	case min(a, b) < least:
		return ""
	case isBeyond():
		return "beyond noise"
	}
	return "within noise"
}

// WriteComparison writes the changes and the totals of the columns that both
// runs have, and of repeated plays which of them chance alone does not explain.
func WriteComparison(out io.Writer, before, after Run) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	changes := Compare(before, after)
	for _, c := range changes {
		word := "better"
		if c.Worse {
			word = "WORSE"
		}
		a, b := c.Before.held(), c.After.held()
		noise := noiseWord(2, a.Of, b.Of, func() bool { return isShareBeyondNoise(a, b) })
		fmt.Fprintf(table, "%s\t%s\t%s -> %s\t%s\n", c.Case, c.Column, c.Before.short(), c.After.short(), strings.TrimSpace(word+" "+noise))
	}
	if len(changes) == 0 {
		fmt.Fprintln(table, "No case differs.")
	}
	for i, column := range after.Columns {
		if at := before.columnOf(column.Name); at >= 0 {
			compareColumns(table, before, after, [2]int{at, i})
		}
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return nil
}

// compareColumns writes the totals of a column that differ, which stands at two places.
func compareColumns(table io.Writer, before, after Run, at [2]int) {
	name := after.Columns[at[1]].Name
	write := func(what, a, b, word string) {
		if a != b {
			fmt.Fprintln(table, strings.TrimSpace(fmt.Sprintf("%s\t%s\t%s -> %s\t%s", what, name, a, b, word)))
		}
	}
	write("prompt version", before.Columns[at[0]].Prompts, after.Columns[at[1]].Prompts, "")
	was, is := before.rounds(at[0]), after.rounds(at[1])
	a, b := before.plays(at[0]), after.plays(at[1])
	write("cases held", before.heldText(at[0]), after.heldText(at[1]),
		noiseWord(2, len(was), len(is), func() bool { return isShareBeyondNoise(a.held(), b.held()) }))
	for _, f := range figures {
		values := func(rounds []Play) (out []float64) {
			for _, p := range rounds {
				out = append(out, f.of(p))
			}
			return out
		}
		write(f.name, f.text(a.sum()), f.text(b.sum()),
			noiseWord(leastRounds, len(was), len(is), func() bool { return areApart(values(was), values(is)) }))
	}
}
