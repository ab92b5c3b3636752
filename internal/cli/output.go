package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
)

// instant is how instants are printed, in UTC.
const instant = "2006-01-02 15:04:05Z"

func printJSON(w io.Writer, raw json.RawMessage) error {
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return fmt.Errorf("formatting the API's answer: %w", err)
	}
	out.WriteByte('\n')
	_, err := w.Write(out.Bytes())
	return err
}

// writeTable writes rows of cells; nothing that people typed can break its lines.
func writeTable(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = replaceControls(cell)
		}
		line := strings.TrimRight(strings.Join(cells, "\t"), "\t")
		if _, err := fmt.Fprintln(t, line); err != nil {
			return err
		}
	}
	return t.Flush()
}

// replaceControls replaces control characters, which could also steer the
// terminal.
func replaceControls(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}

func formatInstant(t time.Time) string { return t.UTC().Format(instant) }

// formatInstantIn prints an instant in UTC, and beside it what clocks show in a
// zone.
func formatInstantIn(t time.Time, zone *time.Location) string {
	if zone == nil || zone == time.UTC {
		return formatInstant(t)
	}
	return formatInstant(t) + t.In(zone).Format(" (Mon 15:04 MST)")
}

func formatBool(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func indentText(text string) string {
	var out strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		out.WriteString("    " + replaceControls(line) + "\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// writeSection writes a table after an empty line.
func writeSection(w io.Writer, rows [][]string) error {
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return writeTable(w, rows)
}

func loadZone(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return zone
}

// showResult decodes a result and has it rendered, or prints it as it came.
func showResult[T any](p *program, r result, render func(io.Writer, T) error) error {
	if p.json {
		return printJSON(p.out, r.raw)
	}
	var value T
	if err := r.decodeInto(&value); err != nil {
		return err
	}
	return render(p.out, value)
}

// fetch reads what a command needs before it does its work.
func fetch[T any](ctx context.Context, p *program, path string) (value T, err error) {
	got, err := p.client.do(ctx, request{path: path})
	if err == nil {
		err = got.decodeInto(&value)
	}
	return value, err
}

// parseNumber reads the number of a thing that coachline lists.
func parseNumber(thing, given string) (int64, error) {
	id, err := strconv.ParseInt(given, 10, 64)
	if err != nil || id < 1 {
		return 0, usageError{fmt.Errorf("%q is not the number of a %s; see coachline %s list", given, thing, thing)}
	}
	return id, nil
}

func callAndShow[T any](ctx context.Context, p *program, r request, render func(io.Writer, T) error) error {
	got, err := p.client.do(ctx, r)
	if err != nil {
		return err
	}
	return showResult(p, got, render)
}

// callCommand builds a command that makes one request of its arguments and shows the answer.
func callCommand[T any](p *program, use, short string, what func(args []string) request, render func(io.Writer, T) error) *cobra.Command {
	return verb(use, short, func(c *cobra.Command, args []string) error { return callAndShow(c.Context(), p, what(args), render) })
}

// listAndShow reads a list to its last page and shows it as one page.
func listAndShow[T any](ctx context.Context, p *program, l listing, query url.Values, render func(io.Writer, T) error) error {
	items, err := listItems[json.RawMessage](ctx, p.client, l, query)
	if err != nil {
		return err
	}
	page, err := joinPages(l, items)
	if err != nil {
		return err
	}
	return showResult(p, page, render)
}

// meter shows on standard error how far a long command is: as a bar on a
// terminal, and elsewhere, for a log, as one line with the count after each
// part.
type meter struct {
	to    io.Writer
	unit  string
	bars  bool
	bar   *progressbar.ProgressBar
	part  string
	done  int64
	total int64
}

const barWidth = 30

// newMeter counts units; how many there are is said as the work goes on.
func (p *program) newMeter(unit string) *meter {
	return &meter{to: p.err, unit: unit, bars: p.bars}
}

// setProgress says which part of the work is in progress, and how many units
// are done of the whole; a total below 0 is not known. A count may go back
// where the work begins anew.
func (m *meter) setProgress(part string, done, total int64) {
	newPart, again := m.part != part, done < m.done
	if !m.bars && newPart && m.part != "" {
		m.logProgress()
	}
	m.part, m.done, m.total = part, done, total
	if !m.bars {
		return
	}
	if m.bar == nil || again {
		m.bar = m.newBar()
	}
	if newPart || again {
		m.bar.Describe(part)
	}
	_ = m.bar.Set64(done) // What cannot be drawn must not stop the work.
}

func (m *meter) newBar() *progressbar.ProgressBar {
	return progressbar.NewOptions64(m.total,
		progressbar.OptionSetWriter(m.to), progressbar.OptionSetWidth(barWidth), progressbar.OptionClearOnFinish(),
		progressbar.OptionShowCount(), progressbar.OptionShowBytes(m.unit == "bytes"))
}

func (m *meter) logProgress() {
	if m.total >= 0 {
		fmt.Fprintf(m.to, "%s: %d of %d %s\n", m.part, m.done, m.total, m.unit)
		return
	}
	fmt.Fprintf(m.to, "%s: %d %s\n", m.part, m.done, m.unit)
}

// endPart removes the bar, or logs the last part.
func (m *meter) endPart() {
	switch {
	case m.bar != nil:
		_ = m.bar.Finish() // As above.
	case m.part != "":
		m.logProgress()
	}
}
