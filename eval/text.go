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

// WriteText writes the table, what each column cost, and what was not met.
func (r Run) WriteText(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "case")
	for _, c := range r.Columns {
		fmt.Fprintf(table, "\t%s", c.Name)
	}
	fmt.Fprintln(table)
	for _, row := range r.Rows {
		fmt.Fprint(table, row.Case)
		for _, cell := range row.Cells {
			fmt.Fprintf(table, "\t%s", cell.short())
		}
		fmt.Fprintln(table)
	}
	line := func(name string, text func(column int) string) {
		fmt.Fprint(table, name)
		for i := range r.Columns {
			fmt.Fprintf(table, "\t%s", text(i))
		}
		fmt.Fprintln(table)
	}
	line("prompt version", func(i int) string { return r.Columns[i].Prompts })
	line("cases held", func(i int) string { return r.heldText(i) })
	for _, f := range figures {
		line(f.name, func(i int) string { return f.text(r.plays(i).sum()) })
	}
	if r.Currency != "" {
		fmt.Fprintf(table, "money is in\t%s\n", r.Currency)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return r.writeMisses(out)
}

// WriteCosts writes what each conversation cost in each column.
func (r Run) WriteCosts(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for i, c := range r.Columns {
		line := func(name, turns string, text func(figure) string) {
			fmt.Fprintf(table, "%s\t%s", name, turns)
			for _, f := range figures {
				if f.cost != "" {
					fmt.Fprintf(table, "\t%s", text(f))
				}
			}
			fmt.Fprintln(table)
		}
		line(c.Name, "turns", func(f figure) string { return f.cost })
		of := func(name string, p Play) {
			line(name, fmt.Sprint(p.turns()), func(f figure) string { return f.text(p) })
		}
		for _, row := range r.Rows {
			of(row.Case, row.Cells[i].sum())
		}
		of(fmt.Sprintf("all %d", len(r.Rows)), r.plays(i).sum())
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("writing the costs: %w", err)
	}
	return nil
}

// short is a cell of the table: musts, then shoulds; of several plays how many held,
// and what interval that share is in.
func (c Cell) short() string {
	if len(c) == 0 {
		return "-"
	}
	if len(c) == 1 && c[0].Error != "" {
		return "error"
	}
	total, text := c.sum(), "ok"
	if !c.Held() {
		text = "FAIL"
	}
	switch {
	case len(c) > 1:
		text += " " + c.held().interval()
	case !c.Held():
		text += " " + total.Must.String()
	}
	if total.Should.Of > 0 {
		text += " +" + total.Should.String()
	}
	return text
}

// figure is a line of the totals: a number of the plays that were summed, NaN where
// there is none, and how it is written.
type figure struct {
	name, cost string
	of         func(Play) float64
	format     string
}

func (f figure) text(p Play) string {
	value := f.of(p)
	if math.IsNaN(value) {
		return "-"
	}
	return fmt.Sprintf(f.format, value)
}

var figures = []figure{
	{"must met", "", func(p Play) float64 { return percent(p.Must.Met, p.Must.Of) }, "%.1f%%"},
	{"should met", "", func(p Play) float64 { return percent(p.Should.Met, p.Should.Of) }, "%.1f%%"},
	{"model calls a turn", "calls", func(p Play) float64 { return p.each(p.Cost.Calls) }, "%.2f"},
	{"before the reply", "before the reply", func(p Play) float64 { return p.each(p.Cost.Calls - p.Cost.Background) }, "%.2f"},
	{"prompt tokens a turn", "prompt tokens", func(p Play) float64 { return p.each(p.Cost.Prompt) }, "%.0f"},
	{"answer tokens a turn", "", func(p Play) float64 { return p.each(p.Cost.Completion) }, "%.0f"},
	{"repeated prefix", "repeated prefix", func(p Play) float64 { return percent(p.Cost.Prefix, p.Cost.Prompt) }, "%.0f%%"},
	{"repeated prefix of the run", "of the run", func(p Play) float64 { return percent(p.Cost.RunPrefix, p.Cost.Prompt) }, "%.0f%%"},
	{"cached by the server", "cached", func(p Play) float64 { return percent(p.Cost.Cached, p.Cost.Prompt) }, "%.0f%%"},
	{"failed model calls", "", func(p Play) float64 { return float64(p.Cost.Failed) }, "%.0f"},
	{"seconds to a reply, half", "", func(p Play) float64 { return p.seconds(0.5) }, "%.2f"},
	{"seconds to a reply, 90%", "", func(p Play) float64 { return p.seconds(0.9) }, "%.2f"},
	{"money for 100 turns", "", func(p Play) float64 {
		if p.Cost.Unpriced > 0 {
			return math.NaN()
		}
		return 100 * p.each(int(p.Cost.Micros)) / 1e6
	}, "%.4f"},
}

func (s Score) String() string { return fmt.Sprintf("%d/%d", s.Met, s.Of) }

// interval is a share with its interval of 95 %.
func (s Score) interval() string {
	low, high := sheets.Wilson(s.Met, s.Of)
	return fmt.Sprintf("%s (%.0f-%.0f%%)", s, 100*max(low, 0), 100*min(high, 1))
}

func (p Play) each(n int) float64 {
	if p.turns() == 0 {
		return math.NaN()
	}
	return float64(n) / float64(p.turns())
}

// seconds is the time to a reply that a part of the replies did not take longer than.
func (p Play) seconds(part float64) float64 {
	var all []float64
	for _, said := range p.Steps {
		if said.Seconds > 0 {
			all = append(all, said.Seconds)
		}
	}
	if len(all) == 0 {
		return math.NaN()
	}
	slices.Sort(all)
	return all[int(math.Ceil(part*float64(len(all))))-1]
}

func percent(part, whole int) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return 100 * float64(part) / float64(whole)
}

// heldText says how many plays of a column held, of repeated ones with the interval.
func (r Run) heldText(column int) string {
	held := r.plays(column).held()
	if len(r.rounds(column)) > 1 {
		return held.interval()
	}
	return held.String()
}

func (r Run) writeMisses(out io.Writer) error {
	var text strings.Builder
	for _, row := range r.Rows {
		for i, cell := range row.Cells {
			for number, p := range cell {
				where := row.Case + ", " + r.Columns[i].Name
				if len(cell) > 1 {
					where += fmt.Sprintf(", play %d", number+1)
				}
				if p.Error != "" {
					fmt.Fprintf(&text, "\n%s: error: %s\n", where, oneLine(p.Error))
				}
				for _, m := range p.Misses {
					fmt.Fprintf(&text, "\n%s, step %d: %s %s\n  %s\n", where, m.Step, m.Level, m.Rule, oneLine(m.Why))
				}
			}
		}
	}
	if _, err := io.WriteString(out, text.String()); err != nil {
		return fmt.Errorf("writing misses: %w", err)
	}
	return nil
}
