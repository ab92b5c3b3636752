package sheet

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
)

// formulas are the characters with which spreadsheets begin a formula.
const formulas = "=+-@\t\r"

// Write writes rows as CSV in UTF-8. A cell that a spreadsheet would take for a
// formula gets an apostrophe before it, which Read takes away again.
func Write(rows [][]string) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, text := range row {
			cells[i] = Escape(text)
		}
		if err := w.Write(cells); err != nil {
			return nil, fmt.Errorf("writing a table: %w", err)
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return nil, fmt.Errorf("writing a table: %w", err)
	}
	return out.Bytes(), nil
}

// Escape puts an apostrophe before a formula, and before what Escape has made, for
// tables that are written row by row.
func Escape(text string) string {
	if isFormula(strings.TrimLeft(text, "'")) {
		return "'" + text
	}
	return text
}

// unescape takes away what Escape has added.
func unescape(text string) string {
	if rest, found := strings.CutPrefix(text, "'"); found && isFormula(strings.TrimLeft(rest, "'")) {
		return rest
	}
	return text
}

func isFormula(text string) bool { return text != "" && strings.IndexByte(formulas, text[0]) >= 0 }
