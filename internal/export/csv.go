package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"time"

	"coachline/internal/sheet"
)

// csvWriter writes a table as CSV.
type csvWriter struct {
	fields []field
	out    *csv.Writer
}

func newCSVWriter(w io.Writer, fields []field) (rowWriter, error) {
	out := &csvWriter{fields: fields, out: csv.NewWriter(w)}
	var head []string
	for _, f := range fields {
		head = append(head, f.name)
	}
	return out, out.out.Write(head)
}

func (w *csvWriter) writeRow(cells []any) error {
	line := make([]string, len(cells))
	for i, cell := range cells {
		text, err := formatCell(w.fields[i], cell)
		if err != nil {
			return fmt.Errorf("%s: %w", w.fields[i].name, err)
		}
		line[i] = text
	}
	return w.out.Write(line)
}

func (w *csvWriter) close() error {
	w.out.Flush()
	return w.out.Error()
}

// Layouts of instants; both have microseconds.
const (
	layoutUTC   = "2006-01-02T15:04:05.000000Z"
	layoutLocal = "2006-01-02T15:04:05.000000-07:00"
)

// formatCell writes a value; a missing one is empty.
func formatCell(f field, cell any) (string, error) {
	switch v := cell.(type) {
	case nil:
		return "", nil
	case string:
		if f.kind == kindText {
			return sheet.Escape(v), nil
		}
		return v, nil
	case bool:
		return strconv.Itoa(toNumber(v)), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case time.Time:
		if f.isLocal {
			return v.Format(layoutLocal), nil
		}
		return v.Format(layoutUTC), nil
	default:
		return "", fmt.Errorf("a %T cannot be written", cell)
	}
}
