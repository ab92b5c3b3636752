package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// Change is how a case of a column differs between two runs.
type Change struct {
	Case, Column  string
	Before, After Cell
	// Worse: it held before and does not now, or meets fewer expectations.
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
			at := slices.IndexFunc(before.Columns, func(c Column) bool { return c.Name == column.Name })
			if at < 0 {
				continue
			}
			a, b := before.Rows[old].Cells[at], row.Cells[i]
			if a.Left || b.Left || a.short() == b.short() && a.Must == b.Must {
				continue
			}
			out = append(out, Change{row.Case, column.Name, a, b, isWorse(a, b)})
		}
	}
	return out
}

func isWorse(a, b Cell) bool {
	if a.Held() != b.Held() {
		return a.Held()
	}
	return countMissing(b.Must)+countMissing(b.Should) > countMissing(a.Must)+countMissing(a.Should)
}

func countMissing(s Score) int { return s.Of - s.Met }

// WriteComparison writes the changes and the totals of the columns that both
// runs have.
func WriteComparison(out io.Writer, before, after Run) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	changes := Compare(before, after)
	for _, c := range changes {
		word := "better"
		if c.Worse {
			word = "WORSE"
		}
		fmt.Fprintf(table, "%s\t%s\t%s -> %s\t%s\n", c.Case, c.Column, c.Before.short(), c.After.short(), word)
	}
	if len(changes) == 0 {
		fmt.Fprintln(table, "No case differs.")
	}
	for i, column := range after.Columns {
		at := slices.IndexFunc(before.Columns, func(c Column) bool { return c.Name == column.Name })
		if at < 0 {
			continue
		}
		for _, line := range totals {
			if a, b := line.of(before, at), line.of(after, i); a != b {
				fmt.Fprintf(table, "%s\t%s\t%s -> %s\n", line.name, column.Name, a, b)
			}
		}
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return nil
}
