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
	// holds says what the rows are, for the person whom they are about; empty where
	// they are not the person's alone. kept says how long they stay where that is not
	// until an erasure.
	holds, kept string
}

// keptDay is how long keys of requests stay.
const keptDay = "24 hours"

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
			name: "participants", of: "id = ?", holds: "The person: number, name and what was said of them, zone, status, study and arm", empty: append(models.PersonalColumns(), "phone_index", "locale"),
			set: map[string]string{"timezone": "'UTC'"}, bump: "version = version + 1",
		},
		{
			name: "profiles", of: ofParticipant, holds: "The habit as the coach knows it, and the tone of the conversation", bump: "version = version + 1",
			empty: append(models.HabitColumns(), "last_habit_prompt", "prepared_prompt", "tone"),
		},
		{name: "messages", of: ofParticipant, holds: "The conversation as the coach reads it", empty: []string{"text"}},
		{
			name: "hints", of: "inbound_id IN (SELECT id FROM inbound WHERE participant_id = ?)", holds: "Answers to texts from a number that was not enrolled",
			set: map[string]string{"id": "'hint-erased-' || inbound_id"}, // it holds a part of the number's hash
		},
		{
			name: "inbound", of: ofParticipant, holds: "What came from the person, as the carrier delivered it", empty: []string{"from", "from_index", "repeat_index", "body", "voice"},
			// A carrier's ids go when it has deleted the messages.
			set: map[string]string{"provider_sid": "CASE WHEN " + carried("channel") + " THEN provider_sid ELSE '" + erasedSID + "' || id END"},
		},
		{name: "joins", of: ofParticipant, holds: "How the person came to join a study by text", empty: []string{"phone", "phone_index", "locale", "timezone"}},
		{name: "outbox", of: ofParticipant, holds: "What was sent to the person, and what became of it", empty: []string{"body"}},
		{name: "disclosures", of: ofParticipant, holds: "When the person was told that a program writes, and how", empty: []string{"words"}},
		{name: "consents", of: ofParticipant, holds: "Opt-outs and returns", empty: []string{"text", "phone_index"}},
		{name: "steps", of: ofTurn, holds: "What the model was asked and said", empty: []string{"text", "calls", "trace"}},
		{name: "tool_runs", of: ofTurn, holds: "What the coach looked up or saved", empty: []string{"result"}},
		{name: "stages", of: ofTurn, holds: "What was worked out before a reply", empty: []string{"output", "input_hash"}},
		{name: "alarms", of: ofParticipant, holds: "Texts that may be a crisis, and what was done", empty: []string{"note", "look_reason"}},
		{name: "audit", of: ofParticipant, holds: "What operators did and read", empty: []string{"reason", "change"}},
		{name: "fact_versions", of: ofParticipant, holds: "What the coach remembered before"},
		{name: "facts", of: ofParticipant, holds: "What the coach remembers"},
		{name: "notes", of: ofParticipant, holds: "Notes of a day"},
		{name: "summaries", of: ofParticipant, holds: "The summary of older messages"},
		{name: "schedules", of: ofParticipant, holds: "Daily prompts"},
		{name: "former_phones", of: ofParticipant, holds: "Earlier numbers"},
		{name: "enrolment_keys", of: ofParticipant, holds: "Requests that enrolled the person, so that none does it twice", kept: keptDay},
		{name: "request_keys", of: ofParticipant, holds: "Answers to requests about the person, so that none is carried out twice", kept: keptDay},
		// Answers about no participant in particular may name the person all the same.
		{name: "request_keys", of: "participant_id = '' AND ? <> ''", empty: []string{"answer"}},
		{name: "memory_queue", of: ofParticipant, holds: "Turns that are still to be remembered"},
		// What files of people say of whom is sealed text: all reports go, and files that
		// wait for a confirmation. One that is carried out is emptied at its end.
		{name: "cohort_jobs", of: "state = 'ready' AND ? <> ''", empty: []string{"file", "file_name", "report"}, set: map[string]string{"state": "'canceled'"}},
		{name: "cohort_jobs", of: "? <> ''", empty: []string{"file_name", "report"}},
	}
}

// keptTables lists the tables of which an erasure leaves the rows of a person, under the
// participant's id alone.
func keptTables() []erasedTable {
	return []erasedTable{
		{name: "turns", of: ofParticipant, holds: "When the coach took a turn, and why"},
		{name: "prompts", of: ofParticipant, holds: "Daily prompts that were due, and what became of them"},
		{name: "decisions", of: ofParticipant, holds: "What the study drew for the person at each decision point"},
		{name: "decision_outcomes", of: "decision_id IN (SELECT id FROM decisions WHERE participant_id = ?)", holds: "Whether the person answered after a decision"},
		{name: "decision_heads", of: ofParticipant, holds: "How many decisions there are, with the end of their chain"},
		{name: "allocations", of: ofParticipant, holds: "The arm of the study that was drawn for the person"},
		{name: "study_consents", of: ofParticipant, holds: "Consents to the study"},
		{name: "attention", of: ofParticipant, holds: "Why an operator was asked to look"},
		{name: "holds", of: "scope = 'participant' AND scope_id = ?", holds: "Times without prompts for this person"},
		{name: "suppressions", of: "phone_index IN (SELECT phone_index FROM participants WHERE id = ? AND phone_index <> '')", holds: "That the number has opted out, without the number", kept: "as long as the number is opted out"},
		{name: "costs", of: ofParticipant, holds: "What texts and model calls cost"},
		{name: "budgets", of: ofParticipant, holds: "What may be spent on the person"},
		{name: "notices", of: ofParticipant, holds: "What the coach was told of, without texts"},
		{name: "webhook_deliveries", of: ofParticipant, holds: "Events that other systems were told of, without texts", kept: "30 days"},
		{name: "erasures", of: ofParticipant, holds: "The receipt of an erasure"},
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
