package store_test

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"coachline/internal/export"
)

// TestParquetEqualsCSV compares each cell of the Parquet files with that of the CSV
// files, and each column's type with the data package.
func TestParquetEqualsCSV(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.exportStory()
		everything := export.Input{Arms: true, Audit: true, Texts: true, Format: export.FormatBoth}
		raw, files := w.export(walkStudy, everything)
		again, _ := w.export(walkStudy, everything)
		require.Equal(t, raw, again, "equal rows give equal bytes")
		everything.Format = export.FormatCSV
		_, csvOnly := w.export(walkStudy, everything)
		var compared, present int
		rows := map[string]int{}
		for path, text := range files {
			name, isTable := strings.CutSuffix(path, ".parquet")
			if !isTable {
				continue
			}
			require.Equal(t, csvOnly[name+".csv"], files[name+".csv"], name)
			want := readTable(t, files[name+".csv"])
			got := readParquet(t, text, fieldTypes(t, files, name+".parquet"))
			require.Len(t, got, len(want), name)
			rows[name] = len(want)
			for i, row := range want {
				for field, cell := range row {
					require.Equal(t, plainCell(field, cell), got[i][field], "%s row %d field %s", name, i, field)
					compared++
					if cell != "" {
						present++
					}
				}
				require.Len(t, got[i], len(row), name)
			}
		}
		requireManifest(t, files, rows)
		require.Greater(t, compared, 1000)
		require.Greater(t, present, 1000)

		everything.Format = export.FormatParquet
		_, parquetOnly := w.export(walkStudy, everything)
		require.NotContains(t, parquetOnly, "participants.csv")
		require.NotContains(t, parquetOnly, "load.py")
		require.Equal(t, files["messages.parquet"], parquetOnly["messages.parquet"])
		require.Equal(t, files["consort.parquet"], parquetOnly["consort.parquet"])
		require.Equal(t, files["consort.svg"], parquetOnly["consort.svg"])
		requireManifest(t, parquetOnly, rows)
	})
}

// plainCell is a cell of CSV without the apostrophe that keeps it from being run, and
// without the offset of a local instant.
func plainCell(field, cell string) string {
	if strings.HasSuffix(field, "_local") && cell != "" {
		return cell[:len("2006-01-02T15:04:05.000000")]
	}
	if len(cell) > 1 && cell[0] == '\'' && strings.ContainsAny(strings.TrimLeft(cell, "'")[:1], "=+-@") {
		return cell[1:]
	}
	return cell
}

// fieldTypes are the types of a resource's fields, by the data package.
func fieldTypes(t *testing.T, files map[string]string, path string) map[string]string {
	t.Helper()
	var described struct {
		Resources []struct {
			Name, Path, Format string
			Schema             struct {
				Fields []struct{ Name, Type string }
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(files["datapackage.json"]), &described))
	types := map[string]string{}
	for _, r := range described.Resources {
		if r.Path == path {
			require.Equal(t, path, r.Name)
			require.Equal(t, "parquet", r.Format)
			for _, f := range r.Schema.Fields {
				types[f.Name] = f.Type
			}
		}
	}
	require.NotEmpty(t, types, path)
	return types
}

// physical is how each type of the data package is kept in a file.
var physical = map[string][]string{
	"string": {"STRING"}, "integer": {"INT(64,true)"}, "number": {"DOUBLE"}, "boolean": {"BOOLEAN"}, "date": {"DATE"},
	"datetime": {"TIMESTAMP(isAdjustedToUTC=true,unit=MICROS)", "TIMESTAMP(isAdjustedToUTC=false,unit=MICROS)"},
}

// readParquet returns the rows of a file as CSV has them, each with every field.
func readParquet(t *testing.T, text string, types map[string]string) (out []map[string]string) {
	t.Helper()
	file, err := parquet.OpenFile(strings.NewReader(text), int64(len(text)))
	require.NoError(t, err)
	columns := file.Schema().Fields()
	require.Len(t, columns, len(types))
	for _, c := range columns {
		require.True(t, c.Optional(), c.Name())
		require.Contains(t, physical[types[c.Name()]], c.Type().String(), c.Name())
	}
	rows := parquet.NewReader(file)
	defer rows.Close()
	buffer := make([]parquet.Row, 10)
	for {
		n, err := rows.ReadRows(buffer)
		for _, row := range buffer[:n] {
			one := map[string]string{}
			for _, value := range row {
				c := columns[value.Column()]
				one[c.Name()] = formatValue(value, c.Name(), types[c.Name()])
			}
			out = append(out, one)
		}
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			return out
		}
	}
}

// formatValue is a value as CSV has it.
func formatValue(value parquet.Value, field, kind string) string {
	switch {
	case value.IsNull():
		return ""
	case kind == "boolean":
		return fmt.Sprint(slices.Index([]bool{false, true}, value.Boolean()))
	case kind == "date":
		return time.Unix(int64(value.Int32())*24*60*60, 0).UTC().Format(time.DateOnly)
	case kind == "datetime" && strings.HasSuffix(field, "_local"):
		return time.UnixMicro(value.Int64()).UTC().Format("2006-01-02T15:04:05.000000")
	case kind == "datetime":
		return time.UnixMicro(value.Int64()).UTC().Format("2006-01-02T15:04:05.000000Z")
	}
	return value.String()
}
