// Package sheet reads and writes tables as spreadsheets save them: CSV with commas
// or semicolons, and TSV. Reading keeps where each cell stands, so that a fault
// can be found in the file; writing keeps cells from being run as formulas.
package sheet

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Position is a place in a file. Line and Column count from 1, Column in
// characters.
type Position struct{ Line, Column int }

// Cell is one cell of a table.
type Cell struct {
	Text string
	At   Position
}

// Fault is why a part of a file cannot be read.
type Fault struct {
	At      Position
	Message string
	// Ends says that nothing behind it can be read.
	Ends bool
}

// Table is what a file holds: rows of cells, and what could not be read of it.
// Empty lines are left out.
type Table struct {
	Rows   [][]Cell
	Faults []Fault
}

var (
	markUTF8   = []byte("\xEF\xBB\xBF")
	markLittle = []byte("\xFF\xFE")
	markBig    = []byte("\xFE\xFF")
	separators = []rune{',', ';', '\t'}
	errUTF16   = errors.New("the file is UTF-16; save it as CSV UTF-8")
	errNoText  = errors.New("the file holds zero bytes and is no text; save it as CSV UTF-8")
)

const (
	notUTF8   = "is not UTF-8; save the file as CSV UTF-8"
	openQuote = `has a quoted cell that does not end where a cell can; write "" for a quote within it`
)

// Read reads a table. The error says that the file as a whole is no table;
// everything else that is wrong is among the faults, at most maxFaults of them
// and one that ends the reading.
func Read(raw []byte, isHeader func(name string) bool, maxFaults int) (Table, error) {
	raw, offset, err := trimStart(raw)
	if err != nil {
		return Table{}, err
	}
	lines := bytes.Split(raw, []byte("\n"))
	r := reader{lines: lines, offset: offset, max: maxFaults}
	r.checkEncoding()
	if len(r.table.Faults) > 0 {
		return r.table, nil
	}
	r.readRows(raw, findSeparator(lines, isHeader))
	return r.table, nil
}

// trimStart takes away what stands before the first row: a byte order mark, and the
// line by which some spreadsheets name the separator. offset is the number of
// lines that went.
func trimStart(raw []byte) (rest []byte, offset int, err error) {
	switch {
	case bytes.HasPrefix(raw, markLittle), bytes.HasPrefix(raw, markBig):
		return nil, 0, errUTF16
	case bytes.IndexByte(raw, 0) >= 0:
		return nil, 0, errNoText
	}
	raw = bytes.TrimPrefix(raw, markUTF8)
	if !bytes.ContainsRune(raw, '\n') {
		raw = bytes.ReplaceAll(raw, []byte("\r"), []byte("\n")) // as old Macintosh programs end lines
	}
	first, after, found := bytes.Cut(raw, []byte("\n"))
	if name, is := bytes.CutPrefix(bytes.TrimRight(first, "\r"), []byte("sep=")); found && is && len(name) == 1 {
		return after, 1, nil
	}
	return raw, 0, nil
}

// findSeparator returns the separator by which the first line has most known
// names, and the first one where none has.
func findSeparator(lines [][]byte, isHeader func(string) bool) rune {
	found, most := separators[0], 0
	for _, line := range lines {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		for _, separator := range separators {
			record, err := newReader(line, separator).Read()
			known := 0
			for _, name := range record {
				if isHeader(name) {
					known++
				}
			}
			// A header of one known name has one cell by each separator, unless
			// unknown names follow it.
			if err == nil && (known > most || known == most && known > 0 && len(record) > columnsBy(line, found)) {
				found, most = separator, known
			}
		}
		break
	}
	return found
}

func columnsBy(line []byte, separator rune) int {
	record, err := newReader(line, separator).Read()
	if err != nil {
		return 0
	}
	return len(record)
}

func newReader(raw []byte, separator rune) *csv.Reader {
	r := csv.NewReader(bytes.NewReader(raw))
	r.Comma, r.FieldsPerRecord = separator, -1
	return r
}

type reader struct {
	table       Table
	lines       [][]byte
	offset, max int
}

// addFault keeps a fault while there is room. The last one may end the reading and
// always has room.
func (r *reader) addFault(fault Fault) {
	if len(r.table.Faults) < r.max || fault.Ends {
		r.table.Faults = append(r.table.Faults, fault)
	}
}

// checkEncoding finds the lines that are not UTF-8.
func (r *reader) checkEncoding() {
	for i, line := range r.lines {
		if utf8.Valid(line) {
			continue
		}
		column := 1
		for rest := line; len(rest) > 0; column++ {
			char, size := utf8.DecodeRune(rest)
			if char == utf8.RuneError && size == 1 {
				break
			}
			rest = rest[size:]
		}
		r.addFault(Fault{At: Position{Line: i + 1 + r.offset, Column: column}, Message: notUTF8})
	}
}

func (r *reader) readRows(raw []byte, separator rune) {
	in := newReader(raw, separator)
	for {
		record, err := in.Read()
		var parse *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return
		case errors.As(err, &parse):
			if parse.StartLine != parse.Line {
				r.addFault(Fault{At: r.position(parse.StartLine, 1), Message: openQuote, Ends: true})
				return // Where the next row begins is not known.
			}
			r.addFault(Fault{At: r.position(parse.Line, parse.Column), Message: explain(parse)})
		case err != nil:
			r.addFault(Fault{At: Position{Line: 1, Column: 1}, Message: fmt.Sprintf("cannot be read: %v", err), Ends: true})
			return
		default:
			r.addRow(in, record)
		}
	}
}

// addRow adds a row that is not empty.
func (r *reader) addRow(in *csv.Reader, record []string) {
	row := make([]Cell, len(record))
	isEmpty := true
	for i, text := range record {
		line, column := in.FieldPos(i)
		row[i] = Cell{Text: unescape(text), At: r.position(line, column)}
		isEmpty = isEmpty && strings.TrimSpace(text) == ""
	}
	if !isEmpty {
		r.table.Rows = append(r.table.Rows, row)
	}
}

// position turns a line and a column in bytes into a place in the file.
func (r *reader) position(line, column int) Position {
	at := Position{Line: line + r.offset, Column: column}
	if line >= 1 && line <= len(r.lines) {
		text := r.lines[line-1]
		at.Column = utf8.RuneCount(text[:min(max(column-1, 0), len(text))]) + 1
	}
	return at
}

func explain(err *csv.ParseError) string {
	if errors.Is(err.Err, csv.ErrBareQuote) {
		return `has a " within a cell that does not begin with one; put the cell in quotes and write "" for the quote`
	}
	return openQuote
}
