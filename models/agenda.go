package models

import "time"

// AgendaQuery selects a page of the prompts that are planned in a span of time,
// the earliest first.
type AgendaQuery struct {
	From, Until time.Time
	// ParticipantID, when not empty, selects one person's.
	ParticipantID string
	// StudyID, when not empty, selects the people of a study.
	StudyID string
	// After is the last entry of the page before; its zero value is the first page.
	After AgendaKey
	// Now decides which holds are in force.
	Now   time.Time
	Limit int // 1..201
}

// AgendaKey is the place of an entry in the agenda.
type AgendaKey struct {
	At            time.Time
	ParticipantID string
	ScheduleID    string
}

// AgendaEntry is a prompt that is planned. Participant holds personal data.
type AgendaEntry struct {
	Key AgendaKey
	// Zone is the IANA name of the zone that the prompt is planned in.
	Zone        string
	Participant Participant
	// Held: a hold that is in force now stops it.
	Held bool
}

// PlannedHour is how many prompts are planned in the hour that begins at At.
type PlannedHour struct {
	At      time.Time `json:"at" doc:"When the hour begins, in UTC."`
	Prompts int       `json:"prompts"`
}

// LeftOutPrompt is a prompt that was missed or has follow-ups that were left out.
type LeftOutPrompt struct {
	Prompt      Prompt
	Participant Participant // id, name and zone
}

// What returns what was left out, and why.
func (l LeftOutPrompt) What() (what, reason string) {
	if l.Prompt.State == PromptMissed {
		return "prompt", l.Prompt.Reason
	}
	return "follow_up", l.Prompt.LeftOut
}
