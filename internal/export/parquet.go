package export

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"

	"coachline/internal/sheet"
)

// Rows that are written at once, and those of a row group, which is kept in memory
// until it is whole.
const (
	parquetBatch    = 64
	parquetRowGroup = 16_384
)

// parquetWriter writes a table as Parquet. Rows become row groups of bounded size.
type parquetWriter struct {
	fields []field
	out    *parquet.GenericWriter[any]
	batch  []parquet.Row
}

func newParquetWriter(w io.Writer, fields []field) (rowWriter, error) {
	config, err := parquet.NewWriterConfig(
		parquet.NewSchema("row", newRecord(fields)), parquet.MaxRowsPerRowGroup(parquetRowGroup), parquet.Compression(&parquet.Snappy),
	)
	if err != nil {
		return nil, fmt.Errorf("configuring Parquet: %w", err)
	}
	return &parquetWriter{fields: fields, out: parquet.NewGenericWriter[any](w, config)}, nil
}

// writeRow adds a row to the batch and writes the batch when it is whole.
func (w *parquetWriter) writeRow(cells []any) error {
	row := make(parquet.Row, len(cells))
	for i, cell := range cells {
		value, err := toParquet(w.fields[i], cell)
		if err != nil {
			return fmt.Errorf("%s: %w", w.fields[i].name, err)
		}
		present := 1
		if value.IsNull() {
			present = 0
		}
		row[i] = value.Level(0, present, i)
	}
	if w.batch = append(w.batch, row); len(w.batch) < parquetBatch {
		return nil
	}
	return w.writeBatch()
}

func (w *parquetWriter) writeBatch() error {
	_, err := w.out.WriteRows(w.batch)
	clear(w.batch)
	w.batch = w.batch[:0]
	return err
}

// close writes the last rows and the footer.
func (w *parquetWriter) close() error {
	if err := w.writeBatch(); err != nil {
		return err
	}
	return w.out.Close()
}

func toParquet(f field, cell any) (parquet.Value, error) {
	switch v := cell.(type) {
	case nil:
		return parquet.NullValue(), nil
	case string:
		if f.kind != kindDate {
			return parquet.ByteArrayValue([]byte(v)), nil
		}
		day, err := time.Parse(time.DateOnly, v)
		if err != nil {
			return parquet.Value{}, err
		}
		return parquet.Int32Value(int32(day.Unix() / secondsOfDay)), nil
	case bool:
		return parquet.BooleanValue(v), nil
	case int64:
		return parquet.Int64Value(v), nil
	case float64:
		return parquet.DoubleValue(v), nil
	case time.Time:
		if f.isLocal {
			_, offset := v.Zone()
			v = v.Add(time.Duration(offset) * time.Second)
		}
		return parquet.Int64Value(v.UnixMicro()), nil
	default:
		return parquet.Value{}, fmt.Errorf("a %T cannot be written", cell)
	}
}

const secondsOfDay = 24 * 60 * 60

// record is the schema of a table. Its columns stand in the order of the fields; the
// library's own group sorts them by name.
type record struct {
	parquet.Group
	columns []parquet.Field
}

// Fields lists the columns.
func (r record) Fields() []parquet.Field { return r.columns }

func newRecord(fields []field) record {
	group, places := parquet.Group{}, map[string]int{}
	for i, f := range fields {
		group[f.name], places[f.name] = parquet.Optional(newLeaf(f, i == 0)), i
	}
	columns := group.Fields()
	slices.SortFunc(columns, func(a, b parquet.Field) int { return cmp.Compare(places[a.Name()], places[b.Name()]) })
	return record{Group: group, columns: columns}
}

// newLeaf returns the type of a column. Texts that are there more than once become
// references to a dictionary.
func newLeaf(f field, isKey bool) parquet.Node {
	switch f.kind {
	case kindText:
		if isKey || f.words {
			return parquet.String()
		}
		return parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	case kindWhole:
		return parquet.Int(64)
	case kindNumber:
		return parquet.Leaf(parquet.DoubleType)
	case kindFlag:
		return parquet.Leaf(parquet.BooleanType)
	case kindDate:
		return parquet.Date()
	case kindInstant:
		return parquet.TimestampAdjusted(parquet.Microsecond, !f.isLocal)
	}
	panic(fmt.Sprintf("a field of kind %q cannot be written", f.kind))
}

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
