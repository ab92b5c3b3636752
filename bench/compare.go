package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
)

// Change says what became of a figure between two runs.
type Change string

const (
	Same   Change = "same"
	Gain   Change = "better"
	Loss   Change = "worse"
	Added  Change = "new"
	Absent Change = "gone"
)

// noise is the relative difference that two runs of the same program show on
// one machine.
const noise = 0.10

// Difference is one figure in two runs; the zero figure stands for one that a
// run does not have.
type Difference struct {
	Before, After Figure
	Change        Change
	// Relative is (after - before) / before of the compared value: the ratio to
	// the bare workflow where both runs have it, because it does not depend on
	// the machine, otherwise the product's value. It is zero where a run lacks
	// the figure or the value before was zero and did not change.
	Relative float64
}

type key struct{ load, kase, name, unit string }

func (f Figure) key() key { return key{f.Load, f.Case, f.Name, f.Unit} }

// Compare sets two runs side by side, in the order of the second; what only
// the first has comes last.
func Compare(before, after Run) []Difference {
	earlier := map[key]Figure{}
	for _, f := range before.Figures {
		earlier[f.key()] = f
	}
	var out []Difference
	for _, now := range after.Figures {
		was, found := earlier[now.key()]
		if !found {
			out = append(out, Difference{After: now, Change: Added})
			continue
		}
		delete(earlier, now.key())
		out = append(out, compareFigures(was, now))
	}
	for _, was := range before.Figures {
		if _, left := earlier[was.key()]; left {
			out = append(out, Difference{Before: was, Change: Absent})
		}
	}
	return out
}

func compareFigures(was, now Figure) Difference {
	a, b := was.Product, now.Product
	before, one := was.Ratio()
	after, other := now.Ratio()
	if one && other {
		a, b = before, after
	}
	d := Difference{Before: was, After: now, Change: Same}
	switch a {
	case b:
		return d
	case 0:
		d.Relative = math.Inf(1)
	default:
		d.Relative = (b - a) / math.Abs(a)
	}
	switch {
	case math.Abs(d.Relative) <= noise:
	case (d.Relative < 0) == (now.Better == Lower):
		d.Change = Gain
	default:
		d.Change = Loss
	}
	return d
}

// WriteComparison prints the differences as a table.
func WriteComparison(w io.Writer, differences []Difference) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "load\tcase\tfigure\tbefore\tafter\tratio before\tratio after\tchange\t")
	for _, d := range differences {
		f := d.After
		if d.Change == Absent {
			f = d.Before
		}
		before, after := formatNumber(d.Before.Product), formatNumber(d.After.Product)
		change := fmt.Sprintf("%s %+.0f%%", d.Change, d.Relative*100)
		switch d.Change {
		case Added:
			before, change = "-", string(Added)
		case Absent:
			after, change = "-", string(Absent)
		case Same, Gain, Loss:
		}
		fmt.Fprintf(t, "%s\t%s\t%s, %s\t%s\t%s\t%s\t%s\t%s\t\n",
			f.Load, f.Case, f.Name, f.Unit, before, after, d.Before.ratioText(), d.After.ratioText(), change)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("printing the comparison: %w", err)
	}
	return nil
}
