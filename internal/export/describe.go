package export

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"strings"
)

// describers write the files that say what the tables hold; the data package is the
// first. Those that read CSV are left out where there is none: Parquet has its types
// within.
var describers = []struct {
	name     string
	write    func(io.Writer, Input) error
	readsCSV bool
}{
	{"datapackage.json", writePackage, false},
	{"redcap_dictionary.csv", writeDictionary, false},
	{"load.py", writePython, true},
	{"load.R", writeR, true},
}

type packageField struct {
	Name        string   `json:"name"`
	Type        kind     `json:"type"`
	Format      string   `json:"format,omitempty"`
	Description string   `json:"description"`
	TrueValues  []string `json:"trueValues,omitempty"`
	FalseValues []string `json:"falseValues,omitempty"`
	Personal    bool     `json:"pii"`
}

type packageReference struct {
	Resource string   `json:"resource"`
	Fields   []string `json:"fields"`
}

type packageKey struct {
	Fields    []string         `json:"fields"`
	Reference packageReference `json:"reference"`
}

type packageSchema struct {
	Fields        []packageField `json:"fields"`
	PrimaryKey    []string       `json:"primaryKey"`
	ForeignKeys   []packageKey   `json:"foreignKeys,omitempty"`
	MissingValues []string       `json:"missingValues,omitempty"`
}

type packageResource struct {
	Name        string        `json:"name"`
	Path        string        `json:"path"`
	Profile     string        `json:"profile"`
	Description string        `json:"description"`
	Format      string        `json:"format"`
	MediaType   string        `json:"mediatype"`
	Encoding    string        `json:"encoding,omitempty"`
	Schema      packageSchema `json:"schema"`
}

type dataPackage struct {
	Profile   string            `json:"profile"`
	Name      string            `json:"name"`
	Resources []packageResource `json:"resources"`
}

// writePackage writes the Frictionless data package.
func writePackage(w io.Writer, in Input) error {
	out := dataPackage{Profile: "tabular-data-package", Name: in.Study.ID}
	for _, t := range in.tables() {
		for _, file := range in.Format.fileTypes() {
			out.Resources = append(out.Resources, packageResource{
				Name: t.name + file.suffix, Path: t.name + "." + file.ending, Profile: file.profile, Description: t.description,
				Format: file.ending, MediaType: file.mediaType, Encoding: file.encoding, Schema: newPackageSchema(t, file, in),
			})
		}
	}
	return writeJSON(w, out)
}

// newPackageSchema describes the fields of a table. How texts stand for values is left
// out where a file has types of its own.
func newPackageSchema(t table, file fileType, in Input) packageSchema {
	schema := packageSchema{PrimaryKey: []string{t.key()}}
	if !file.isTyped {
		schema.MissingValues = []string{""}
	}
	for _, f := range t.fields(in) {
		one := packageField{Name: f.name, Type: f.kind, Description: f.description, Personal: f.personal}
		if !file.isTyped {
			one.Format = f.format
		}
		if f.kind == kindFlag && !file.isTyped {
			one.TrueValues, one.FalseValues = []string{"1"}, []string{"0"}
		}
		schema.Fields = append(schema.Fields, one)
		if f.refers != "" {
			schema.ForeignKeys = append(schema.ForeignKeys, packageKey{
				Fields: []string{f.name}, Reference: packageReference{Resource: f.refers + file.suffix, Fields: []string{tableByName(f.refers).key()}},
			})
		}
	}
	return schema
}

func tableByName(name string) table {
	for _, t := range tables {
		if t.name == name {
			return t
		}
	}
	return table{}
}

// dictionaryHead are the columns of a REDCap data dictionary.
var dictionaryHead = []string{
	"Variable / Field Name", "Form Name", "Section Header", "Field Type", "Field Label", "Choices, Calculations, OR Slider Labels", "Field Note",
	"Text Validation Type OR Show Slider Number", "Text Validation Min", "Text Validation Max", "Identifier?",
	"Branching Logic (Show field only if...)", "Required Field?", "Custom Alignment", "Question Number (surveys only)", "Matrix Group Name",
	"Matrix Ranking?", "Field Annotation",
}

// validations are what REDCap checks of a kind. Its own instants have no offset and
// no parts of seconds, so instants are texts.
var validations = map[kind]string{kindWhole: "integer", kindNumber: "number", kindDate: "date_ymd"}

// writeDictionary writes the REDCap data dictionary. A field's variable is its name
// behind its table's, since REDCap's variables are unique in a project; the first is
// the record id, the pseudonym of the person.
func writeDictionary(w io.Writer, in Input) error {
	out := csv.NewWriter(w)
	if err := out.Write(dictionaryHead); err != nil {
		return err
	}
	for i, t := range in.tables() {
		if t.name == consortTable {
			continue // not about persons
		}
		for j, f := range t.fields(in) {
			if i > 0 && f.refers == peopleTable {
				continue // the record id
			}
			name, kind, validation, personal := t.name+"_"+f.name, "text", validations[f.kind], ""
			if i == 0 && j == 0 {
				name = f.name
			}
			if f.kind == kindFlag {
				kind = "truefalse"
			}
			if f.personal {
				personal = "y"
			}
			row := make([]string, len(dictionaryHead))
			row[0], row[1], row[3], row[4], row[7], row[10] = name, t.name, kind, f.description, validation, personal
			if err := out.Write(row); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

//go:embed load.py
var pythonText string

//go:embed load.R
var rText string

func writePython(w io.Writer, in Input) error {
	return writeLoader(w, in, loader{text: pythonText, table: "    %q: {\n%s    },\n", field: "        %q: %q,\n"})
}

func writeR(w io.Writer, in Input) error {
	return writeLoader(w, in, loader{text: rText, table: "  %s = c(\n%s\n  ),\n", field: "    %s = %q,\n", trim: true})
}

// loader is a loader's text, with a mark where the tables belong, and how tables and
// fields are written.
type loader struct {
	text, table, field string
	// trim leaves out the last comma of a list.
	trim bool
}

const tablesMark = "#TABLES#\n"

func writeLoader(w io.Writer, in Input, l loader) error {
	var all strings.Builder
	for _, t := range in.tables() {
		var fields strings.Builder
		for _, f := range t.fields(in) {
			fmt.Fprintf(&fields, l.field, f.name, f.kind)
		}
		list := fields.String()
		if l.trim {
			list = strings.TrimSuffix(list, ",\n")
		}
		fmt.Fprintf(&all, l.table, t.name, list)
	}
	list := all.String()
	if l.trim {
		list = strings.TrimSuffix(list, ",\n") + "\n"
	}
	_, err := io.WriteString(w, strings.Replace(l.text, tablesMark, list, 1))
	return err
}
