package models

import "time"

// Alert is one row of table alarms: a message that may tell of a crisis. Its
// safety text and its page to a person on call are recorded in it.
type Alert struct {
	// ID derives from the inbound row, so that a text raises one.
	ID            string    `gorm:"primaryKey" json:"id"`
	ParticipantID string    `json:"participant_id" doc:"Empty when the number is not enrolled."`
	CreatedAt     time.Time `json:"at"`
	// Danger is what the text was found to speak of; Tier, Rule, Kind and Score are
	// those of its row. Escalated: it was a weak sign, and not the first of a day.
	Danger         Danger     `json:"danger" enum:"self_harm,harm,emergency"`
	Tier           string     `json:"tier" enum:"A,B" doc:"A pages a person, B is a weak sign."`
	Rule           string     `json:"rule" doc:"The rule that found it; in alerts of older versions also score for the classifier alone, or empty."`
	Kind           string     `json:"kind" doc:"The kind of statement that the rule looks for."`
	Score          float64    `json:"score" doc:"What the classifier gave the message. It raises no alert."`
	Escalated      bool       `json:"escalated" doc:"It was a weak sign, and not the first within 24 hours."`
	Answer         bool       `json:"answered" doc:"The safety text answers it."`
	Look           LookState  `json:"look,omitempty" enum:"due,none,possible,clear,failed" doc:"What the second look of the small model at a weak sign found; failed counts as possible. Empty: none was needed."`
	PagedAt        *time.Time `json:"paged_at,omitempty"` // when the page was taken
	AcknowledgedAt *time.Time `json:"acknowledged_at,omitempty" doc:"When an operator first said that they see to it."`
	AcknowledgedBy string     `json:"acknowledged_by,omitempty"`
	WaitedSeconds  int64      `gorm:"-" json:"waited_seconds" doc:"From the message to its acknowledgement, or until now."`
	EscalatedAt    *time.Time `json:"escalated_at,omitempty" doc:"When it paged a second time, because it was not acknowledged."`
	ClearedAt      *time.Time `json:"cleared_at,omitempty"`
	// Mark is what an operator said of the alert, empty before.
	Mark      AlertMark  `json:"mark,omitempty" enum:"right,wrong"`
	MarkedBy  string     `json:"marked_by,omitempty"`
	MarkedAt  *time.Time `json:"marked_at,omitempty"`
	InboundID int64      `json:"-"`
	// Safety says which safety text is for it.
	Safety SafetyKind `json:"-"`
	// Pages: a person is paged.
	Pages bool `json:"-"`
	// FoldedInto is the alert whose page counts this one too, so that it pages nobody by
	// itself; empty where it pages.
	FoldedInto string     `json:"-"`
	ToldAt     *time.Time `json:"-"` // when its activities were started
	// Note is what an operator wrote when clearing it; personal data.
	Note       string     `gorm:"serializer:sealed" json:"-"`
	LookedAt   *time.Time `json:"-"`
	LookReason string     `gorm:"serializer:sealed" json:"-"`
}

// TableName implements gorm's Tabler.
func (Alert) TableName() string { return "alarms" }

// SafetyKind says which of the safety texts is for an alert: what the person reads.
type SafetyKind string

// The safety texts. SafetyViolence names no danger: another may read the phone.
const (
	SafetyOneself  SafetyKind = "oneself"
	SafetyAnother  SafetyKind = "another"
	SafetyViolence SafetyKind = "violence"
	SafetyMedical  SafetyKind = "medical"
)

// SafetyKindOf returns the safety text for a danger and the kind of statement that a rule
// or a model found. About is self, another or general, empty where only a rule found it.
func SafetyKindOf(danger Danger, kind, about string) SafetyKind {
	switch kind {
	case "violence", "child":
		return SafetyViolence
	case "thirdperson":
		return SafetyAnother
	}
	switch {
	case about == "another":
		return SafetyAnother
	case kind == "emergency":
		return SafetyMedical
	case kind == "suicide", kind == "selfharm", kind == "harmothers", kind == "harm_others", kind == "eating":
		return SafetyOneself
	case danger == DangerHarm:
		return SafetyViolence
	case danger == DangerEmergency:
		return SafetyMedical
	}
	return SafetyOneself
}

// RuleCoach stands for a rule where the coach's model raised an alert.
const RuleCoach = "coach"

// Concern is an alert that the coach's model raises about the newest message of a turn.
// Kind is one of those that a second look names. Reason is personal data.
type Concern struct {
	TurnID    string
	IsAnother bool
	Kind      string
	// IsUrgent: it is grave, and pages a person.
	IsUrgent bool
	Reason   string
	Now      time.Time
}

// Danger returns the danger that the concern's kind speaks of.
func (c Concern) Danger() Danger {
	switch c.Kind {
	case "violence", "child", "harm_others":
		return DangerHarm
	case "emergency":
		return DangerEmergency
	}
	return DangerSelfHarm
}

// Safety returns the safety text that is for the concern.
func (c Concern) Safety() SafetyKind {
	about := "self"
	if c.IsAnother {
		about = "another"
	}
	return SafetyKindOf(c.Danger(), c.Kind, about)
}

// LookState is where the second look at a weak sign stands: a model reads the message
// once more before anything is answered.
type LookState string

const (
	// LookUnneeded: a rule acted at once, or no second look is made.
	LookUnneeded LookState = ""
	// LookDue: the turn of the message makes it; nothing was raised yet.
	LookDue LookState = "due"
	// LookNone: the model found no danger; the coach answers.
	LookNone LookState = "none"
	// LookPossible and LookClear: the model found a possible danger, or a clear one.
	LookPossible LookState = "possible"
	LookClear    LookState = "clear"
	// LookFailed: the model gave no answer of use in time, which counts as possible.
	LookFailed LookState = "failed"
)

// LookValidity is how long a second look may be due; after it the sign counts as
// possible without one.
const LookValidity = 2 * time.Minute

// LookVerdict is what the second look found. Reason is personal data.
type LookVerdict struct {
	State  LookState
	About  string // self, another or general; empty where it failed
	Kind   string
	Reason string
}

// LookResult settles the second look at a weak sign. TurnID is the turn that made it,
// empty where none did in time.
type LookResult struct {
	AlertID string
	TurnID  string
	Verdict LookVerdict
	Now     time.Time
}

// DueLook is a weak sign that waits for its second look.
type DueLook struct {
	AlertID   string
	InboundID int64
}

// AlertMessage is an alert with the text that raised it and the number that sent it.
// Both are empty after an erasure.
type AlertMessage struct {
	Alert
	Phone string `json:"phone" doc:"Empty for a message of another channel."`
	Text  string `json:"text" doc:"Empty after an erasure."`
	Words string `json:"words" doc:"What was recognised in it, by the rules of now."`
	// LookReason is shown here and in no list; personal data.
	LookReason string `json:"look_reason,omitempty" doc:"The reason of the second look, in a few words."`
	// More is how many alerts are counted on this one.
	More int64 `json:"more,omitempty" doc:"How many alerts besides are counted on this one, and page nobody."`
}

// AlertMark says whether an alert was right.
type AlertMark string

const (
	MarkRight AlertMark = "right"
	MarkWrong AlertMark = "wrong"
)

// AlertMarking is what an operator says of an alert.
type AlertMarking struct {
	AlertID string
	Mark    AlertMark
	Actor   string
	Now     time.Time
}

// AlertAcknowledgement says that an operator sees to an alert.
type AlertAcknowledgement struct {
	AlertID string
	Actor   string
	Now     time.Time
}

// AlertQuery selects a page of alerts, newest first.
type AlertQuery struct {
	Unmarked      bool   `query:"unmarked" doc:"Only those that no operator has judged."`
	ParticipantID string `query:"participant" maxLength:"64" doc:"Only those of one participant, by id."`
	Limit         int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	// BeforeInbound is of the alert that ended the page before; 0 is none.
	BeforeInbound int64 `query:"cursor" minimum:"1" doc:"next_cursor of the page before."`
}

// MarkedText is the text of an alert that an operator has judged, for the sheets
// that screening is trained on and scored with. Text is personal data.
type MarkedText struct {
	AlertID string
	Locale  string
	Kind    string
	Mark    AlertMark
	Text    string
}

// SafetyTextValidity is how long after the text the safety text is still sent, PageLife
// how long a page is tried.
const (
	SafetyTextValidity = 12 * time.Hour
	PageValidity       = 72 * time.Hour
)

// SafetyText asks for the outbox row of a safety text.
type SafetyText struct {
	AlertID string
	Body    string
	Now     time.Time
}

// AlertPage is what the paged system is told: no name or number.
type AlertPage struct {
	// ID is equal for all deliveries of one page.
	ID            string    `json:"id"`
	ParticipantID string    `json:"participant_id"`
	Kind          string    `json:"kind"`
	At            time.Time `json:"at"`
	// Again: it is the second page of an alert that no operator has acknowledged.
	Again bool `json:"again,omitempty"`
	// More is how many alerts besides are counted on this one, and page nobody.
	More int64 `json:"more,omitempty"`
	// Rule is what found the danger: a rule, or "score". Words are what it recognised in the
	// message, with numbers and addresses masked, Reason what the second look says; both are
	// personal data, and empty where only ids may be told.
	Rule   string `json:"rule"`
	Words  string `json:"words,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Link is the address of the participant in the console, that of the alert where the
	// number is not enrolled.
	Link string `json:"link"`
}

// AttentionClearing ends a participant's attention.
type AttentionClearing struct {
	ParticipantID string
	Note          string // why, in the operator's words; may be empty
	Actor         string
	Now           time.Time
}
