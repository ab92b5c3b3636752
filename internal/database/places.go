package database

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"gorm.io/gorm/schema"

	"coachline/models"
)

// sealedTable is a table with sealed columns. A sealed value is bound to its
// table, its column and Row, columns that name the row, are known before the
// insert and never change: ids that the database assigns are not among them.
type sealedTable struct {
	Name string
	// Key is the primary key, by which rows are paged.
	Key []string
	// Row names the row. No two rows of the table agree in it, except entries
	// of the consent ledger that are the same but for their text.
	Row []string
	// Blank is a column of Row that may be empty where the others name the row.
	Blank string
	// Texts are sealed columns that hold base64, Blobs those that hold bytes.
	Texts, Blobs []string
}

// sealedTables lists every sealed column of the database.
func sealedTables() []sealedTable {
	return []sealedTable{
		{Name: "participants", Key: []string{"id"}, Row: []string{"id"}, Texts: models.PersonalColumns()},
		{Name: "profiles", Key: []string{"participant_id"}, Row: []string{"participant_id"}, Texts: append(models.HabitColumns(), "last_habit_prompt", "prepared_prompt")},
		{Name: "messages", Key: []string{"id"}, Row: []string{"participant_id", "key"}, Texts: []string{"text"}},
		{Name: "inbound", Key: []string{"id"}, Row: []string{"provider_sid"}, Texts: []string{"from", "body", "voice"}},
		{Name: "outbox", Key: []string{"id"}, Row: []string{"id"}, Texts: []string{"body"}},
		{Name: "disclosures", Key: []string{"outbox_id"}, Row: []string{"outbox_id"}, Texts: []string{"words"}},
		{Name: "consents", Key: []string{"id"}, Row: []string{"participant_id", "action", "method", "inbound_id", "at"}, Texts: []string{"text"}},
		{Name: "steps", Key: []string{"turn_id", "number"}, Row: []string{"turn_id", "number"}, Texts: []string{"text", "calls", "trace"}},
		{Name: "tool_runs", Key: []string{"turn_id", "step", "call"}, Row: []string{"turn_id", "step", "call"}, Texts: []string{"result"}},
		{Name: "stages", Key: []string{"turn_id", "number"}, Row: []string{"turn_id", "number"}, Texts: []string{"output"}},
		{
			Name: "facts", Key: []string{"participant_id", "id"}, Row: []string{"participant_id", "id"},
			Texts: []string{"text"}, Blobs: []string{"vector"},
		},
		{
			Name: "fact_versions", Key: []string{"participant_id", "fact_id", "version"},
			Row: []string{"participant_id", "fact_id", "version"}, Texts: []string{"text"},
		},
		{Name: "notes", Key: []string{"participant_id", "local_date"}, Row: []string{"participant_id", "local_date"}, Texts: []string{"text"}},
		{Name: "summaries", Key: []string{"participant_id"}, Row: []string{"participant_id"}, Texts: []string{"text"}},
		{
			Name: "audit", Key: []string{"id"}, Row: []string{"participant_id", "actor", "action", "at"}, Blank: "participant_id",
			Texts: []string{"reason", "change"},
		},
		{Name: "joins", Key: []string{"id"}, Row: []string{"id"}, Texts: []string{"phone"}},
		{Name: "former_phones", Key: []string{"id"}, Row: []string{"participant_id", "until_at"}, Texts: []string{"phone"}},
		{Name: "holds", Key: []string{"id"}, Row: []string{"scope", "created_at"}, Texts: []string{"reason"}},
		{Name: "alarms", Key: []string{"id"}, Row: []string{"id"}, Texts: []string{"note", "look_reason"}},
		{Name: "cohort_jobs", Key: []string{"id"}, Row: []string{"id"}, Texts: []string{"file_name", "report"}, Blobs: []string{"file"}},
		{Name: "studies", Key: []string{"id"}, Row: []string{"id"}, Blobs: []string{"seed", "pseudonym_key"}},
		{Name: "request_keys", Key: []string{"id"}, Row: []string{"id"}, Texts: []string{"answer"}},
		{Name: "webhooks", Key: []string{"id"}, Row: []string{"id"}, Texts: []string{"secret"}},
		{Name: "erasures", Key: []string{"participant_id"}, Row: []string{"participant_id"}, Texts: []string{"reason"}},
	}
}

// SealedColumn names the sealed columns of a table.
type SealedColumn struct {
	Name    string
	Columns []string
}

// SealedColumns lists what the database seals.
func SealedColumns() []SealedColumn {
	var out []SealedColumn
	for _, table := range sealedTables() {
		out = append(out, SealedColumn{Name: table.Name, Columns: slices.Concat(table.Texts, table.Blobs)})
	}
	return out
}

// rowColumns gives the Row columns of each sealed table.
var rowColumns = func() map[string][]string {
	columns := map[string][]string{}
	for _, table := range sealedTables() {
		columns[table.Name] = table.Row
	}
	return columns
}()

// blankColumns gives the column of Row that may be empty, for tables that have
// one.
var blankColumns = func() map[string]string {
	columns := map[string]string{}
	for _, table := range sealedTables() {
		if table.Blank != "" {
			columns[table.Name] = table.Blank
		}
	}
	return columns
}()

func canBeBlank(table string, i int) bool {
	blank := blankColumns[table]
	return blank != "" && i < len(rowColumns[table]) && rowColumns[table][i] == blank
}

// encodePlace encodes what a value is bound to: table, column and the values of the
// table's Row columns, each with its length, so that no two places are equal.
// A row without a name is an error: its value would open in other such rows.
func encodePlace(table, column string, row []any) ([]byte, error) {
	out := appendPart(appendPart(make([]byte, 0, 96), table), column)
	for i, value := range row {
		text, err := rowText(value)
		if err != nil && (!errors.Is(err, errNoName) || !canBeBlank(table, i)) {
			return nil, fmt.Errorf("naming a row of %s: %w", table, err)
		}
		out = appendPart(out, text)
	}
	return out, nil
}

func appendPart(out []byte, part string) []byte {
	out = binary.AppendUvarint(out, uint64(len(part)))
	return append(out, part...)
}

var errNoName = errors.New("a part of its name is empty or was not read before the sealed column")

// rowText writes one value of a Row identically for a field of a model and
// for what a driver reads: texts as they are, numbers in decimal, instants in
// microseconds, which is the precision that both databases keep.
func rowText(value any) (string, error) {
	switch v := value.(type) {
	case string:
		if v == "" {
			return "", errNoName
		}
		return v, nil
	case []byte:
		return rowText(string(v))
	case time.Time:
		if v.IsZero() {
			return "", errors.New("its instant is not known")
		}
		return fmt.Sprint(v.UnixMicro()), nil
	}
	v := reflect.ValueOf(value)
	if v.CanInt() {
		return fmt.Sprint(v.Int()), nil
	}
	if v.Kind() == reflect.String {
		return rowText(v.String())
	}
	return "", fmt.Errorf("unexpected type %T", value)
}

// placeOf returns the place of a field of dst, a row of a model.
func placeOf(ctx context.Context, field *schema.Field, dst reflect.Value) ([]byte, error) {
	columns, known := rowColumns[field.Schema.Table]
	if !known {
		return nil, fmt.Errorf("table %s is not among the sealed tables", field.Schema.Table)
	}
	row := make([]any, len(columns))
	for i, column := range columns {
		named := field.Schema.LookUpField(column)
		if named == nil {
			return nil, fmt.Errorf("%s has no field for %s", field.Schema.Name, column)
		}
		row[i] = named.ReflectValueOf(ctx, dst).Interface()
	}
	return encodePlace(field.Schema.Table, field.DBName, row)
}
