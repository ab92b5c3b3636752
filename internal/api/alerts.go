package api

import (
	"time"

	"coachline/models"
)

// Alert is a message that was taken for a crisis, and why.
type Alert struct {
	ID            string        `json:"id"`
	ParticipantID string        `json:"participant_id" doc:"Empty when the number is not enrolled."`
	At            time.Time     `json:"at"`
	Danger        models.Danger `json:"danger" enum:"self_harm,harm,emergency"`
	Tier          string        `json:"tier" enum:"A,B" doc:"A pages a person, B is a weak sign."`
	Rule          string        `json:"rule" doc:"The rule that found it; in alerts of older versions also score for the classifier alone, or empty."`
	Kind          string        `json:"kind" doc:"The kind of statement that the rule looks for."`
	Score         float64       `json:"score" doc:"What the classifier gave the message. It raises no alert."`
	Escalated     bool          `json:"escalated" doc:"It was a weak sign, and not the first within 24 hours."`
	Answered      bool          `json:"answered" doc:"The safety text answers it."`
	Look          string        `json:"look,omitempty" enum:"due,none,possible,clear,failed" doc:"What the second look of the small model at a weak sign found; failed counts as possible. Empty: none was needed."`
	PagedAt       *time.Time    `json:"paged_at,omitempty"`
	// AcknowledgedAt is missing while no operator has said that they see to it.
	AcknowledgedAt *time.Time       `json:"acknowledged_at,omitempty" doc:"When an operator first said that they see to it."`
	AcknowledgedBy string           `json:"acknowledged_by,omitempty"`
	WaitedSeconds  int64            `json:"waited_seconds" doc:"From the message to its acknowledgement, or until now."`
	EscalatedAt    *time.Time       `json:"escalated_at,omitempty" doc:"When it paged a second time, because it was not acknowledged."`
	ClearedAt      *time.Time       `json:"cleared_at,omitempty"`
	Mark           models.AlertMark `json:"mark,omitempty" enum:"right,wrong"`
	MarkedBy       string           `json:"marked_by,omitempty"`
	MarkedAt       *time.Time       `json:"marked_at,omitempty"`
}

// AlertMessage is an alert with its message and the number that it came from.
type AlertMessage struct {
	Alert
	Phone string `json:"phone" doc:"Empty for a message of another channel."`
	Text  string `json:"text" doc:"Empty after an erasure."`
	Words string `json:"words" doc:"What was recognised in it, by the rules of now."`
	// LookReason is the model's own; personal data.
	LookReason string `json:"look_reason,omitempty" doc:"The reason of the second look, in a few words."`
}

// AlertPage is one page, newest first; NextCursor is null on the last.
type AlertPage struct {
	Alerts     []Alert `json:"alerts" nullable:"false"`
	NextCursor *string `json:"next_cursor"`
}

// AlertMarking says whether an alert was right.
type AlertMarking struct {
	Mark models.AlertMark `json:"mark" enum:"right,wrong"`
}

// Sheet is all that operators have judged, as lines of the sheets that screening
// is trained on and scored with.
type Sheet struct {
	Lines []SheetLine `json:"lines" nullable:"false"`
}

// SheetLine is one line of a sheet: a message that an operator has judged, with
// numbers, names of places on the web and the like masked. Text is personal data.
type SheetLine struct {
	Language string `json:"language" doc:"ISO 639-1, of the participant's locale."`
	Sheet    string `json:"sheet" enum:"crisis,negative"`
	Kind     string `json:"kind"`
	Text     string `json:"text"`
}
