package models

import (
	"time"

	"coachline/models/wire"
)

// PromptState is what became of one daily prompt.
type PromptState string

const (
	// PromptPlanned: the turn that writes it has begun.
	PromptPlanned PromptState = "planned"
	// PromptPending: the carrier took it and no answer has come.
	PromptPending   PromptState = "pending"
	PromptResponded PromptState = "responded"
	// PromptReminded: the one reminder went out; later answers still count.
	PromptReminded PromptState = "reminded"
	// PromptVoided: a newer prompt replaced it.
	PromptVoided PromptState = "voided"
	// PromptMissed: it was not sent at its time and never will be.
	PromptMissed PromptState = "missed"
	PromptFailed PromptState = "failed"
)

// PromptOutcome is what a person reported of a prompt.
type PromptOutcome string

const (
	OutcomeDone    PromptOutcome = "done"
	OutcomePartly  PromptOutcome = "partly"
	OutcomeNotDone PromptOutcome = "not_done"
	// OutcomeUnknown stands in counts for what a row leaves empty.
	OutcomeUnknown PromptOutcome = "unknown"
)

// PastPrompt is a prompt that was sent, with its text, which is personal data.
type PastPrompt struct {
	Prompt
	Text string
}

// Prompt is one row of table prompts: a daily prompt of one schedule on one
// local date, unique per participant, schedule and date.
type Prompt struct {
	ID            string `gorm:"primaryKey"` // PromptID(...)
	ParticipantID string
	ScheduleID    string
	LocalDate     string // YYYY-MM-DD in the schedule's zone
	TargetAt      time.Time
	State         PromptState
	// Reason says why a prompt was missed or failed: outage, quiet_hours,
	// paused, daily_limit, backed_off, carrier error code.
	Reason string
	// LeftOut says why it has no more follow-ups (a LeftOut's reason); empty where none
	// was left out.
	LeftOut        string
	SentAt         *time.Time
	RespondedAt    *time.Time
	ReminderSentAt *time.Time
	// Outcome is what they reported of it; empty while nothing is saved.
	Outcome PromptOutcome
	// Counted is set once the prompt has raised success_count.
	Counted bool
}

// PromptID names the prompt of a schedule on a local date.
func PromptID(participantID, scheduleID, localDate string) string {
	return participantID + "-" + scheduleID + "-" + localDate
}

// ScheduleRow mirrors a Schedule into table schedules for operators' queries.
type ScheduleRow struct {
	ParticipantID string `gorm:"primaryKey"`
	ID            string `gorm:"primaryKey"`
	Type          wire.ScheduleType
	At            string
	FromTime      string
	ToTime        string
	Zone          string
	NextAt        *time.Time
	UpdatedAt     time.Time
}
