package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"coachline/models"
)

// Until when rows of a person stay where their table says nothing else.
const (
	keptDeleted = "until the person is erased"
	keptEmptied = "texts until the person is erased, times and figures for good"
	keptForGood = "for good, under the id alone"
)

// heldTables lists every table that has rows of a person: those that an erasure walks
// and those that it leaves.
func heldTables() []erasedTable {
	return slices.DeleteFunc(slices.Concat(erasedTables(), keptTables()), func(t erasedTable) bool { return t.holds == "" })
}

// howLong says how long the rows of the table stay.
func (t erasedTable) howLong() string {
	isKept := slices.ContainsFunc(keptTables(), func(k erasedTable) bool { return k.name == t.name })
	switch {
	case t.kept != "":
		return t.kept
	case isKept:
		return keptForGood
	case len(t.empty) == 0 && len(t.set) == 0:
		return keptDeleted
	}
	return keptEmptied
}

// isLeftOut reports whether a column is not shown: keyed hashes, vectors and marks of
// our own work say nothing that others do not say, and addresses are those of operators.
func isLeftOut(column string) bool {
	return strings.HasSuffix(column, "_index") || slices.Contains([]string{"vector", "claim_token", "input_hash", "address"}, column)
}

// PersonData returns everything that the tables hold of a person, enrolled or removed;
// tables without a row are left out. ErrNotFound for an unknown id.
func (s *People) PersonData(ctx context.Context, id string) ([]models.HeldTable, error) {
	var out []models.HeldTable
	for _, table := range heldTables() {
		rows, err := s.db.ReadTable(ctx, table.name, table.of, id)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", table.name, err)
		}
		if len(rows) == 0 {
			if table.name == "participants" {
				return nil, models.ErrNotFound
			}
			continue
		}
		held := models.HeldTable{Name: table.name, Holds: table.holds, Kept: table.howLong()}
		for _, row := range rows {
			held.Rows = append(held.Rows, shownRow(row))
		}
		out = append(out, held)
	}
	return out, nil
}

// shownRow returns what is set in a row, as texts.
func shownRow(row map[string]any) map[string]string {
	out := map[string]string{}
	for column, value := range row {
		text := ""
		switch v := value.(type) {
		case nil:
		case time.Time:
			text = v.UTC().Format(time.RFC3339)
		case []byte:
			text = string(v)
		default:
			text = fmt.Sprint(v)
		}
		if text != "" && !isLeftOut(column) {
			out[column] = text
		}
	}
	return out
}
