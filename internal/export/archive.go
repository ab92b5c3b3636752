package export

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"coachline/internal/consort"
	"coachline/internal/wrap"
	"coachline/models"
)

// Input is what is exported.
type Input struct {
	Study models.Study
	Rows  models.StudyRows
	// Arms: the reader may see who is in which arm.
	Arms bool
	// Audit: the reader may see the audit.
	Audit bool
	// Texts: the messages have their words, masked. Rows must have been read with
	// them.
	Texts bool
	// Format says as which files the tables are written.
	Format Format
}

// ManifestName is the file that lists the others.
const ManifestName = "manifest.json"

// Manifest lists the files of an export.
type Manifest struct {
	Study string `json:"study"`
	// Arms is false where what tells a person's arm was left out.
	Arms bool `json:"arms"`
	// Audit is false where the table of the audit was left out.
	Audit bool `json:"audit"`
	// Texts is true where messages have their words, masked.
	Texts bool `json:"texts"`
	// SchemaSHA256 is the checksum of datapackage.json, equal for equal tables.
	SchemaSHA256 string         `json:"schema_sha256"`
	Files        []ManifestFile `json:"files"`
}

// ManifestFile is one file of an export. Rows is nil where it is no table.
type ManifestFile struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Rows   *int64 `json:"rows,omitempty"`
}

var errNoKey = errors.New("the study has no key for pseudonyms; start the server once, which makes one")

// Write writes the files of a study as a zip archive. It keeps no table in memory,
// and equal rows give equal bytes.
func Write(w io.Writer, in Input) error {
	if len(in.Study.PseudonymKey) == 0 {
		return errNoKey
	}
	a := archive{zip: zip.NewWriter(w), manifest: Manifest{Study: in.Study.ID, Arms: in.Arms, Audit: in.Audit, Texts: in.Texts}}
	for _, d := range describers {
		if d.readsCSV && in.Format == FormatParquet {
			continue
		}
		if err := a.add(d.name, func(w io.Writer) error { return d.write(w, in) }); err != nil {
			return err
		}
	}
	a.manifest.SchemaSHA256 = a.manifest.Files[0].SHA256
	counts := &consort.Flow{}
	pseudonyms := &names{key: in.Study.PseudonymKey, zones: map[string]*time.Location{}}
	for _, t := range in.tables() {
		for _, file := range in.Format.fileTypes() {
			table := &tableWriter{table: t, fields: t.fields(in), in: in, names: pseudonyms}
			err := a.add(t.name+"."+file.ending, func(w io.Writer) error { return table.writeFile(w, file, counts) })
			if err != nil {
				return err
			}
			a.manifest.Files[len(a.manifest.Files)-1].Rows = &table.count
		}
	}
	if err := a.add("consort.svg", func(w io.Writer) error { return consort.WriteDiagram(w, counts.Steps(in.Arms)) }); err != nil {
		return err
	}
	if err := a.add(ManifestName, func(w io.Writer) error { return writeJSON(w, a.manifest) }); err != nil {
		return err
	}
	return wrap.Error(a.zip.Close(), "closing the archive")
}

// archive adds files and keeps their checksums.
type archive struct {
	zip      *zip.Writer
	manifest Manifest
}

// add adds a file that fn writes. It is not compressed, whose bytes could change with
// the library, and has the same instant as all others.
func (a *archive) add(name string, fn func(io.Writer) error) error {
	w, err := a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		return fmt.Errorf("adding %s to the archive: %w", name, err)
	}
	sum := sha256.New()
	count := &counter{}
	if err := fn(io.MultiWriter(w, sum, count)); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	a.manifest.Files = append(a.manifest.Files, ManifestFile{Name: name, Bytes: count.bytes, SHA256: hex.EncodeToString(sum.Sum(nil))})
	return nil
}

type counter struct{ bytes int64 }

func (c *counter) Write(raw []byte) (int, error) {
	c.bytes += int64(len(raw))
	return len(raw), nil
}

func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

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
