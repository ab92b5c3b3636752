package models

import "time"

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
	// Counted is set once the prompt has raised success_count.
	Counted bool
}

// PromptID names the prompt of a schedule on a local date.
func PromptID(participantID, scheduleID, localDate string) string {
	return participantID + "-" + scheduleID + "-" + localDate
}

// ScheduleType is how a schedule picks its instant.
type ScheduleType string

const (
	ScheduleFixed  ScheduleType = "fixed"
	ScheduleRandom ScheduleType = "random"
)

// Schedule is a daily prompt that a participant asked for, as the workflow
// state holds it. Times are local "HH:MM".
type Schedule struct {
	ID   string       `json:"id"`
	Type ScheduleType `json:"type"`
	// At is the local time of a fixed schedule.
	At string `json:"at,omitempty"`
	// From and To bound a random schedule; To before From means over midnight.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Zone is an IANA name; empty means the zone that the participant has at the
	// time.
	Zone string `json:"zone,omitempty"`
	// LastDate is the newest local date (YYYY-MM-DD) that had its prompt or
	// its recorded miss; the next one is always on a later date.
	LastDate string `json:"last_date,omitempty"`
	// LastAt is when the newest prompt went out; zero before the first. The next
	// one is on a later local date, in the zone that the schedule has then.
	LastAt time.Time `json:"last_at,omitzero"`
	// Next is the coming slot; the due time of the prompt belongs to it.
	Next Slot `json:"next"`
}

// Slot is one occurrence of a schedule.
type Slot struct {
	// Date is the local date (YYYY-MM-DD) that the occurrence belongs to.
	Date string `json:"date"`
	// TargetAt is the instant the person asked for, SendAt the instant the
	// prompt goes out; SendAt is never after TargetAt.
	TargetAt time.Time `json:"target_at"`
	SendAt   time.Time `json:"send_at"`
}

// ScheduleRow mirrors a Schedule into table schedules for operators' queries.
type ScheduleRow struct {
	ParticipantID string `gorm:"primaryKey"`
	ID            string `gorm:"primaryKey"`
	Type          ScheduleType
	At            string
	FromTime      string
	ToTime        string
	Zone          string
	NextAt        *time.Time
	UpdatedAt     time.Time
}
