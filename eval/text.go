package main

import (
	"fmt"
	"io"
	"text/tabwriter"
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
	for _, line := range totals {
		fmt.Fprint(table, line.name)
		for i := range r.Columns {
			fmt.Fprintf(table, "\t%s", line.of(r, i))
		}
		fmt.Fprintln(table)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return r.writeMisses(out)
}

// WriteCosts writes what each conversation cost in each column: model calls a
// turn, those before the reply, prompt tokens a turn, the share of them that
// repeats the beginning of an earlier prompt of the conversation and of any
// earlier one of the run, and the share that the server says it had cached.
func (r Run) WriteCosts(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for i, c := range r.Columns {
		fmt.Fprintf(table, "%s\tturns\tcalls\tbefore the reply\tprompt tokens\trepeated prefix\tof the run\tcached\n", c.Name)
		line := func(name string, cell Cell) {
			fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", name, cell.Turns,
				eachCell(cell, calls, "%.2f"), eachCell(cell, awaitedCalls, "%.2f"), eachCell(cell, prompt, "%.0f"),
				share(cell.Cost.Prefix, cell.Cost.Prompt), share(cell.Cost.RunPrefix, cell.Cost.Prompt), share(cell.Cost.Cached, cell.Cost.Prompt))
		}
		for _, row := range r.Rows {
			line(row.Case, row.Cells[i])
		}
		line(fmt.Sprintf("all %d", len(r.Rows)), sumColumn(r, i))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("writing the costs: %w", err)
	}
	return nil
}

func calls(c Cost) int        { return c.Calls }
func awaitedCalls(c Cost) int { return c.Calls - c.Background }
func prompt(c Cost) int       { return c.Prompt }

// short is a cell of the table: musts, shoulds, and calls of the model a turn.
func (c Cell) short() string {
	switch {
	case c.Left:
		return "-"
	case c.Error != "":
		return "error"
	}
	text := "ok"
	if !c.Held() {
		text = fmt.Sprintf("FAIL %d/%d", c.Must.Met, c.Must.Of)
	}
	if c.Should.Of > 0 {
		text += fmt.Sprintf(" +%d/%d", c.Should.Met, c.Should.Of)
	}
	return text
}

var totals = []struct {
	name string
	of   func(r Run, column int) string
}{
	{"prompt version", func(r Run, i int) string { return r.Columns[i].Prompts }},
	{"cases held", func(r Run, i int) string {
		_, held, played := r.Total(i)
		return fmt.Sprintf("%d/%d", held, played)
	}},
	{"must", func(r Run, i int) string { return sumColumn(r, i).Must.String() }},
	{"should", func(r Run, i int) string { return sumColumn(r, i).Should.String() }},
	{"model calls a turn", func(r Run, i int) string { return eachCell(sumColumn(r, i), calls, "%.2f") }},
	{"before the reply", func(r Run, i int) string { return eachCell(sumColumn(r, i), awaitedCalls, "%.2f") }},
	{"prompt tokens a turn", func(r Run, i int) string { return eachCell(sumColumn(r, i), prompt, "%.0f") }},
	{"answer tokens a turn", func(r Run, i int) string {
		return eachCell(sumColumn(r, i), func(c Cost) int { return c.Completion }, "%.0f")
	}},
	{"repeated prefix", func(r Run, i int) string { return share(sumColumn(r, i).Cost.Prefix, sumColumn(r, i).Cost.Prompt) }},
	{"repeated prefix of the run", func(r Run, i int) string { return share(sumColumn(r, i).Cost.RunPrefix, sumColumn(r, i).Cost.Prompt) }},
	{"cached by the server", func(r Run, i int) string { return share(sumColumn(r, i).Cost.Cached, sumColumn(r, i).Cost.Prompt) }},
	{"failed model calls", func(r Run, i int) string { return fmt.Sprint(sumColumn(r, i).Cost.Failed) }},
}

func sumColumn(r Run, column int) Cell {
	total, _, _ := r.Total(column)
	return total
}

func (s Score) String() string { return fmt.Sprintf("%d/%d", s.Met, s.Of) }

func eachCell(c Cell, of func(Cost) int, format string) string {
	if c.Turns == 0 {
		return "-"
	}
	return fmt.Sprintf(format, float64(of(c.Cost))/float64(c.Turns))
}

func share(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(whole))
}

func (r Run) writeMisses(out io.Writer) error {
	for _, row := range r.Rows {
		for i, cell := range row.Cells {
			if cell.Error != "" {
				if _, err := fmt.Fprintf(out, "\n%s, %s: error: %s\n", row.Case, r.Columns[i].Name, oneLine(cell.Error)); err != nil {
					return fmt.Errorf("writing misses: %w", err)
				}
			}
			for _, m := range cell.Misses {
				if _, err := fmt.Fprintf(out, "\n%s, %s, step %d: %s %s\n  %s\n",
					row.Case, r.Columns[i].Name, m.Step, m.Level, m.Rule, oneLine(m.Why)); err != nil {
					return fmt.Errorf("writing misses: %w", err)
				}
			}
		}
	}
	return nil
}
