package store

import (
	"fmt"
	"strings"

	"gorm.io/gorm"

	"coachline/models"
)

// erasedTable says what an erasure does with a table's rows of a person.
type erasedTable struct {
	name string
	// of selects the person's rows; its one argument is the participant's id.
	of string
	// empty lists the columns that become empty texts, set those that become
	// something else, in SQL. With neither, the rows are deleted.
	empty []string
	set   map[string]string
	// bump is a further assignment that is made with the others.
	bump string
}

const (
	ofParticipant = "participant_id = ?"
	ofTurn        = "turn_id IN (SELECT id FROM turns WHERE participant_id = ?)"
)

// erasedTables lists every table that holds something of a person. Rows with
// figures of a study stay, under the participant's id. What refers to other rows
// comes before them.
func erasedTables() []erasedTable {
	return []erasedTable{
		{
			name: "participants", of: "id = ?", empty: append(models.PersonalColumns(), "phone_index", "locale"),
			set: map[string]string{"timezone": "'UTC'"}, bump: "version = version + 1",
		},
		{
			name: "profiles", of: ofParticipant, bump: "version = version + 1",
			empty: append(models.HabitColumns(), "last_habit_prompt", "prepared_prompt", "tone"),
		},
		{name: "messages", of: ofParticipant, empty: []string{"text"}},
		{
			name: "hints", of: "inbound_id IN (SELECT id FROM inbound WHERE participant_id = ?)",
			set: map[string]string{"id": "'hint-erased-' || inbound_id"}, // it holds a part of the number's hash
		},
		{
			name: "inbound", of: ofParticipant, empty: []string{"from", "from_index", "repeat_index", "body", "voice"},
			// A carrier's ids go when it has deleted the messages.
			set: map[string]string{"provider_sid": "CASE WHEN " + carried("channel") + " THEN provider_sid ELSE '" + erasedSID + "' || id END"},
		},
		{name: "joins", of: ofParticipant, empty: []string{"phone", "phone_index", "locale", "timezone"}},
		{name: "outbox", of: ofParticipant, empty: []string{"body"}},
		{name: "consents", of: ofParticipant, empty: []string{"text", "phone_index"}},
		{name: "steps", of: ofTurn, empty: []string{"text", "calls", "trace"}},
		{name: "tool_runs", of: ofTurn, empty: []string{"result"}},
		{name: "stages", of: ofTurn, empty: []string{"output", "input_hash"}},
		{name: "alarms", of: ofParticipant, empty: []string{"note", "look_reason"}},
		{name: "audit", of: ofParticipant, empty: []string{"reason", "change"}},
		{name: "fact_versions", of: ofParticipant},
		{name: "facts", of: ofParticipant},
		{name: "notes", of: ofParticipant},
		{name: "summaries", of: ofParticipant},
		{name: "schedules", of: ofParticipant},
		{name: "former_phones", of: ofParticipant},
		{name: "enrolment_keys", of: ofParticipant},
		{name: "request_keys", of: ofParticipant},
		// Answers about no participant in particular may name the person all the same.
		{name: "request_keys", of: "participant_id = '' AND ? <> ''", empty: []string{"answer"}},
		{name: "memory_queue", of: ofParticipant},
		// What files of people say of whom is sealed text: all reports go, and files that
		// wait for a confirmation. One that is carried out is emptied at its end.
		{name: "cohort_jobs", of: "state = 'ready' AND ? <> ''", empty: []string{"file", "file_name", "report"}, set: map[string]string{"state": "'canceled'"}},
		{name: "cohort_jobs", of: "? <> ''", empty: []string{"file_name", "report"}},
	}
}

// emptyTables empties the person's rows and adds to counts how many rows of each
// table still held something.
func emptyTables(tx *gorm.DB, participantID string, counts map[string]int64) error {
	for _, table := range erasedTables() {
		res := tx.Exec(table.sql(), participantID)
		if res.Error != nil {
			return fmt.Errorf("emptying %s: %w", table.name, res.Error)
		}
		if res.RowsAffected > 0 {
			counts[table.name] += res.RowsAffected
		}
	}
	return nil
}

// sql touches rows only that still hold something, so that a repetition counts
// nothing twice.
func (t erasedTable) sql() string {
	var assign, held []string
	change := func(column, value string) {
		assign = append(assign, fmt.Sprintf(`"%s" = %s`, column, value))
		held = append(held, fmt.Sprintf(`"%s" <> %s`, column, value))
	}
	for _, column := range t.empty {
		change(column, "''")
	}
	for column, value := range t.set {
		change(column, value)
	}
	if len(assign) == 0 {
		return "DELETE FROM " + t.name + " WHERE " + t.of
	}
	if t.bump != "" {
		assign = append(assign, t.bump)
	}
	return "UPDATE " + t.name + " SET " + strings.Join(assign, ", ") + " WHERE " + t.of + " AND (" + strings.Join(held, " OR ") + ")"
}
