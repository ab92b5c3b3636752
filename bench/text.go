package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
)

// WriteText prints the run as one table.
func (r Run) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "server on %s, %d CPUs, %s, %s\n\n", r.Backend, r.CPUs, r.Go, r.StartedAt.Format("2006-01-02 15:04 UTC"))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "load\tcase\tfigure\tn\tproduct\tbare, eager\tbare+webhook\tratio\ttarget\t\t")
	for _, f := range r.Figures {
		fmt.Fprintf(t, "%s\t%s\t%s, %s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t\n", f.Load, f.Case, f.Name, f.Unit, f.Count,
			formatNumber(f.Product), formatOptional(f.Bare), formatOptional(f.Webhook), f.ratioText(), f.targetText(), f.Verdict())
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("printing the figures: %w", err)
	}
	return nil
}

func (f Figure) ratioText() string {
	if ratio, ok := f.Ratio(); ok {
		return fmt.Sprintf("%.2f", ratio)
	}
	return "-"
}

func (f Figure) targetText() string {
	if f.Target == nil {
		return ""
	}
	sign := "<="
	if f.Better == Higher {
		sign = ">="
	}
	what := ""
	if f.Target.OfRatio {
		what = " x bare"
	}
	return sign + " " + formatNumber(f.Target.Limit) + what
}

func formatOptional(v *float64) string {
	if v == nil {
		return "-"
	}
	return formatNumber(*v)
}

// formatNumber keeps three digits or all before the point.
func formatNumber(v float64) string {
	switch size := math.Abs(v); {
	case v == math.Trunc(v) || size >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case size >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
