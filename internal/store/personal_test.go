package store_test

import (
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
)

// How a column stands to a person.
const (
	// classErased: an erasure empties it, or deletes its row.
	classErased = "erased"
	// classFigure: it stays under the participant's id, which then identifies no person.
	classFigure = "figure"
	// classNone: it holds nothing of a participant.
	classNone = "none"
)

// schemaColumns lists every column of every table.
func schemaColumns(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/schema.golden")
	require.NoError(t, err)
	return strings.Fields(string(text))
}

// columnClasses reads testdata/personal.tsv and adds what follows from the lists of
// personal columns and of tables whose rows are deleted.
func columnClasses(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/personal.tsv")
	require.NoError(t, err)
	classes := map[string]string{}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Equal(t, "column\tclass", lines[0])
	for _, line := range lines[1:] {
		column, class, found := strings.Cut(line, "\t")
		require.True(t, found, line)
		require.Contains(t, []string{classErased, classFigure, classNone}, class, line)
		require.NotContains(t, classes, column)
		classes[column] = class
	}
	for _, column := range models.PersonalColumns() {
		classes["participants."+column] = classErased
	}
	for _, column := range models.HabitColumns() {
		classes["profiles."+column] = classErased
	}
	for _, column := range schemaColumns(t) {
		table, _, _ := strings.Cut(column, ".")
		if slices.Contains(store.DeletedTables(), table) {
			classes[column] = classErased
		}
	}
	return classes
}

// TestEveryColumnIsClassed fails for a column of which testdata/personal.tsv does
// not say whether an erasure has to empty it.
func TestEveryColumnIsClassed(t *testing.T) {
	classes := columnClasses(t)
	for _, column := range schemaColumns(t) {
		require.Contains(t, classes, column, "say in erasedTables or testdata/personal.tsv what an erasure does with it")
		delete(classes, column)
	}
	require.Empty(t, classes, "no such columns")
}

const canary = "Wobbegong-Quandervoort"

// column is a column of a table as the database describes it.
type column struct{ table, name, kind string }

func (w *world) columns() []column {
	w.t.Helper()
	query := `SELECT m.name, c.name, c.type FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`
	if strings.HasPrefix(w.url, "postgres") {
		query = `SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public'`
	}
	var out []column
	w.raw(func(db *sql.DB) {
		rows, err := db.QueryContext(w.ctx, query)
		require.NoError(w.t, err)
		defer rows.Close()
		for rows.Next() {
			var c column
			require.NoError(w.t, rows.Scan(&c.table, &c.name, &c.kind))
			out = append(out, c)
		}
		require.NoError(w.t, rows.Err())
	})
	return out
}

// planted is the value of a column in a row of the participant p1.
func planted(c column, class string) string {
	switch name := c.table + "." + c.name; {
	case c.name == "participant_id":
		return "'p1'"
	case c.name == "turn_id", name == "turns.id":
		return "'p1-t1'"
	case c.name == "fact_id", name == "facts.id":
		return "'f1'"
	case name == "inbound.id", c.name == "inbound_id":
		return "7"
	}
	switch kind := strings.ToLower(c.kind); {
	case kind == "text" && class == classErased:
		return "'" + canary + "'"
	case kind == "text":
		return "'x'"
	case strings.HasPrefix(kind, "date"), strings.HasPrefix(kind, "timestamp"):
		return "'2026-03-02 09:00:00+00:00'"
	case kind == "boolean":
		return "false"
	case kind == "blob":
		return "x'00'"
	case kind == "bytea":
		return "'\\x00'"
	}
	return "5"
}

// plant puts the canary into every personal text of p1 and returns the columns.
func (w *world) plant() (all []string) {
	w.t.Helper()
	classes := columnClasses(w.t)
	tables := map[string][]column{}
	for _, c := range w.columns() {
		tables[c.table] = append(tables[c.table], c)
	}
	order := []string{"participants", "profiles", "turns", "facts", "inbound"}
	for table := range tables {
		if !slices.Contains(order, table) && slices.ContainsFunc(tables[table], func(c column) bool { return classes[c.table+"."+c.name] == classErased }) {
			order = append(order, table)
		}
	}
	for _, table := range order {
		var names, values, changes []string
		for _, c := range tables[table] {
			class := classes[c.table+"."+c.name]
			value := planted(c, class)
			names, values = append(names, `"`+c.name+`"`), append(values, value)
			if strings.Contains(value, canary) {
				changes = append(changes, fmt.Sprintf(`"%s" = %s`, c.name, value))
				all = append(all, c.table+"."+c.name)
			}
		}
		statement := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(names, ", "), strings.Join(values, ", "))
		if table == "participants" || table == "profiles" {
			statement = fmt.Sprintf("UPDATE %s SET %s", table, strings.Join(changes, ", "))
		}
		w.raw(exec(w.t, statement))
	}
	return all
}

// findings lists the columns in which the raw tables hold a text, in any case of
// letters.
func (w *world) findings(text string) []string {
	w.t.Helper()
	columns := w.columns()
	var found []string
	w.raw(func(db *sql.DB) {
		for _, c := range columns {
			var count int
			query := fmt.Sprintf(`SELECT count(*) FROM %s WHERE lower(CAST("%s" AS text)) LIKE '%%%s%%'`, c.table, c.name, strings.ToLower(text))
			require.NoError(w.t, db.QueryRowContext(w.ctx, query).Scan(&count))
			if count > 0 {
				found = append(found, c.table+"."+c.name)
			}
		}
	})
	slices.Sort(found)
	return found
}

// TestErasureEmptiesEveryPersonalColumn plants a word in every column that is
// classed as personal; after the erasure no table holds it.
func TestErasureEmptiesEveryPersonalColumn(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		_, err := w.Erasures.BeginErasure(w.ctx, models.ErasureRequest{ParticipantID: "p1", Actor: "user:eve", Now: at(1)})
		require.NoError(t, err)
		w.raw(exec(t, w.dropAuditTriggers()...))
		planted := w.plant()
		require.Contains(t, planted, "messages.text")
		require.ElementsMatch(t, planted, w.findings(canary))

		w.eraseAll("p1", 2)
		require.Empty(t, w.findings(canary))
	})
}

// eraseAll does the steps of an erasure that the database has a part in.
func (w *world) eraseAll(id string, minutes int) models.Erasure {
	w.t.Helper()
	step := models.ErasureStep{ParticipantID: id, From: models.ErasureEnding, To: models.ErasureHistory, Now: at(minutes)}
	require.NoError(w.t, w.Erasures.EndErasureStep(w.ctx, step))
	step.From, step.To = models.ErasureHistory, models.ErasureRows
	require.NoError(w.t, w.Erasures.EndErasureStep(w.ctx, step))
	require.NoError(w.t, w.Erasures.EraseRows(w.ctx, id, at(minutes)))
	for {
		copies, err := w.Erasures.CarrierCopies(w.ctx, id, 2)
		require.NoError(w.t, err)
		if len(copies) == 0 {
			break
		}
		for _, c := range copies {
			require.NoError(w.t, w.Erasures.CopyErased(w.ctx, id, c))
		}
	}
	require.NoError(w.t, w.Erasures.FinishErasure(w.ctx, id, at(minutes+1)))
	e, err := w.Erasures.Erasure(w.ctx, id)
	require.NoError(w.t, err)
	require.Equal(w.t, models.ErasureDone, e.State)
	return e
}
