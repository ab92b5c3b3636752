package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
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
