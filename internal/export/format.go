package export

import (
	"fmt"
	"io"
	"slices"
)

// Format says as which files the tables are written.
type Format string

// The formats. The zero value counts as FormatCSV.
const (
	FormatCSV     Format = "csv"
	FormatParquet Format = "parquet"
	FormatBoth    Format = "both"
)

// Formats lists the formats.
func Formats() []Format { return []Format{FormatCSV, FormatParquet, FormatBoth} }

// ParseFormat returns the format of a name.
func ParseFormat(name string) (Format, error) {
	if f := Format(name); slices.Contains(Formats(), f) {
		return f, nil
	}
	return "", fmt.Errorf("%q is no format; the formats are csv, parquet and both", name)
}

// rowWriter writes the rows of a table into a file. A cell is nil where a value is
// missing, and string, int64, float64, bool or time.Time elsewhere.
type rowWriter interface {
	writeRow(cells []any) error
	// close writes what is left.
	close() error
}

// fileType is a type of the files of tables.
type fileType struct {
	// ending stands behind a table's name, suffix behind its name in the data package.
	ending, suffix, profile, encoding, mediaType string
	// isTyped: the file itself says the types of its fields and what is missing.
	isTyped bool
	open    func(io.Writer, []field) (rowWriter, error)
}

var (
	csvFile = fileType{
		ending: "csv", profile: "tabular-data-resource", encoding: "utf-8", mediaType: "text/csv", open: newCSVWriter,
	}
	parquetFile = fileType{
		ending: "parquet", suffix: ".parquet", profile: "data-resource", mediaType: "application/vnd.apache.parquet", isTyped: true, open: newParquetWriter,
	}
)

func (f Format) fileTypes() []fileType {
	switch f {
	case FormatParquet:
		return []fileType{parquetFile}
	case FormatBoth:
		return []fileType{csvFile, parquetFile}
	case FormatCSV:
	}
	return []fileType{csvFile}
}
