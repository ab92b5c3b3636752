// Package alarm holds the shapes of what happens when a text may be a crisis:
// the alarm, the safety text that answers it and the page to a person. It
// imports the standard library only.
package alarm

import "time"

// Alarm is one row of table alarms: a text that may be a crisis.
type Alarm struct {
	// ID derives from the inbound row, so that a text raises one.
	ID            string `gorm:"primaryKey"`
	ParticipantID string
	InboundID     int64
	// Danger is what the text was found to speak of; Tier, Rule, Kind and Score are
	// those of its row. Escalated: it was a weak sign, and not the first of a day.
	Danger    string
	Tier      string
	Rule      string
	Kind      string
	Score     float64
	Escalated bool
	// Pages: a person is paged.
	Pages bool
	// Answer: the safety text answers it.
	Answer    bool
	CreatedAt time.Time
	ToldAt    *time.Time // when Temporal was told
	PagedAt   *time.Time // when the page was taken
	ClearedAt *time.Time
	// Note is what an operator wrote when clearing it; personal data.
	Note string `gorm:"serializer:sealed"`
	// Mark is what an operator said of the alarm, empty before.
	Mark     Mark
	MarkedBy string
	MarkedAt *time.Time
}

// Mark says whether an alarm was right.
type Mark string

const (
	MarkRight Mark = "right"
	MarkWrong Mark = "wrong"
)

// Marking is what an operator says of an alarm.
type Marking struct {
	AlarmID string
	Mark    Mark
	Actor   string
	Now     time.Time
}

// Query selects a page of alarms, newest first.
type Query struct {
	BeforeInbound int64 // of the alarm that ended the page before; 0 is none
	Unmarked      bool  // only those that no operator has judged
	Limit         int
}

// MarkedText is the text of an alarm that an operator has judged, for the sheets
// that screening is trained on and scored with. Text is personal data.
type MarkedText struct {
	AlarmID string
	Locale  string
	Kind    string
	Mark    Mark
	Text    string
}

// Activities that the relay starts for an alarm; no workflow waits for them.
const (
	ActivitySafetyText = "SendSafetyText"
	ActivityPage       = "SendPage"
)

// Input names the alarm that an activity is for.
type Input struct {
	AlarmID string `json:"alarm_id"`
}

// TextLife is how long after the text the safety text is still sent, PageLife
// how long a page is tried.
const (
	TextLife = 12 * time.Hour
	PageLife = 72 * time.Hour
)

// SafetyText asks for the outbox row of a safety text.
type SafetyText struct {
	AlarmID string
	Body    string
	Now     time.Time
}

// Page is what the paged system is told: no text, name or number.
type Page struct {
	// ID is equal for all deliveries of one page.
	ID            string    `json:"id"`
	ParticipantID string    `json:"participant_id"`
	Kind          string    `json:"kind"`
	At            time.Time `json:"at"`
	// Link is the path of the participant in the API.
	Link string `json:"link"`
}

// Clearing ends a participant's attention.
type Clearing struct {
	ParticipantID string
	Note          string // why, in the operator's words; may be empty
	Actor         string
	Now           time.Time
}
