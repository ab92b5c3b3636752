package models

import (
	"strings"
	"time"

	"coachline/models/wire"
)

// Danger is what a text was found to speak of before any model read it.
type Danger string

const (
	DangerNone     Danger = ""
	DangerSelfHarm Danger = "self_harm"
	// DangerHarm: by another person.
	DangerHarm Danger = "harm"
	// DangerEmergency: a medical one, now.
	DangerEmergency Danger = "emergency"
)

// DangerTier is how grave a danger is, and with it what is done.
type DangerTier string

const (
	TierNone DangerTier = ""
	// TierA: an explicit statement, a method or means, a medical emergency,
	// violence or a child at risk. The safety text answers, and a person is paged.
	TierA DangerTier = "A"
	// TierB: a weak sign. The safety text answers; a second one within a day is
	// TierA.
	TierB DangerTier = "B"
)

// Participant is one row of table participants: a person in the programme.
// Phone and PersonTexts are personal data; the store seals them at rest and looks
// phones up through a keyed index.
type Participant struct {
	ID         string `gorm:"primaryKey"`
	Phone      string `gorm:"serializer:sealed"` // E.164
	PhoneIndex string // keyed hash of Phone; unique among rows that are not removed
	PersonTexts[string]
	// Timezone is an IANA name. ZoneAssumed says that it is the programme's
	// default and not the person's own statement; the model is told so.
	Timezone    string
	ZoneAssumed bool
	Locale      string
	Channel     wire.Channel
	// LastChannel is the external channel that the person last wrote on.
	LastChannel wire.Channel
	Status      wire.Status
	Mode        wire.Mode
	// Tester marks a member of the team; only testers can have Debug.
	Tester bool
	Debug  bool
	// NextSeq is the sequence number the next inbound text gets.
	NextSeq int64
	// MemoryVersion rises with every change of what is remembered of the
	// person; 0 means that nothing is.
	MemoryVersion int64
	// UnreachableAt is since when the carrier cannot reach the number, and
	// UnreachableCode its error code; nil while nothing is known against it.
	UnreachableAt   *time.Time
	UnreachableCode string
	// DoubtedAt is since when the number may have gone to another person; nil once they
	// have said that it has not. Until then nothing that is known of the person is used
	// to answer, and the program asks.
	DoubtedAt *time.Time
	// Attention is the most urgent open reason why an operator should look at the
	// person, and AttentionAt since when; an operator ends it. While it is a crisis
	// nothing is sent that we start ourselves.
	Attention   wire.Attention
	AttentionAt *time.Time
	// TakenOverBy is the operator who writes in the place of the coach since
	// TakenOverAt and until TakenOverUntil; empty while the coach writes.
	TakenOverBy    string
	TakenOverAt    *time.Time
	TakenOverUntil *time.Time
	// PausedUntil is when the pause of a paused participant ends by itself; nil
	// where an operator ends it.
	PausedUntil *time.Time
	EnrolledAt  time.Time
	// StudyID is the study that the person belongs to, for ever; Arm is the arm that
	// they were allocated to, empty before that and where there are none.
	StudyID string
	Arm     string
	// GreetingAt is when the greeting was set to go out; nil in rows from before
	// there was such a time. SignedUp: the person enrolled themselves.
	GreetingAt *time.Time
	SignedUp   bool
	// LastInboundAt is when the newest text of the person came; nil before the
	// first.
	LastInboundAt *time.Time
	CreatedAt     time.Time
	UpdatedAt     time.Time
	RemovedAt     *time.Time
	// NumberCheckedAt is when the carrier said last that the number is still theirs.
	NumberCheckedAt *time.Time
	Version         int64
	// Unreadable names sealed columns that could not be opened, with commas
	// between them; lists only.
	Unreadable string `gorm:"-"`
}

// FirstName returns the first word of the name.
func (p Participant) FirstName() string {
	first, _, _ := strings.Cut(strings.TrimSpace(p.Name), " ")
	return first
}

// EnrolmentKey is one row of table enrolment_keys: the enrolment that an
// Idempotency-Key has made.
type EnrolmentKey struct {
	KeyIndex      string `gorm:"primaryKey"` // keyed hash of the key
	BodyIndex     string // keyed hash of the request
	ParticipantID string
	CreatedAt     time.Time
}

// FormerPhone is one row of table former_phones: a number that a participant had
// until UntilAt. Phone is personal data and sealed at rest.
type FormerPhone struct {
	ID            int64 `gorm:"primaryKey"`
	ParticipantID string
	UntilAt       time.Time // before Phone, whose seal is bound to it
	Phone         string    `gorm:"serializer:sealed"` // E.164
	PhoneIndex    string    // keyed hash of Phone
	ChangedBy     string    // the operator
}

// ParticipantPatch is a partial update; a nil field stays as it is.
type ParticipantPatch struct {
	// Phone is E.164 where the store gets it; the conversation, schedules and consent
	// go along with it.
	Phone *string `json:"phone_number,omitempty" minLength:"1" maxLength:"40" doc:"The participant's new number, in any usual notation. Conversation, schedules and consent stay; a number that has opted out makes the participant opted_out; the old number is a stranger's from then on."`
	PersonTexts[*string]
	Timezone *string      `json:"timezone,omitempty" maxLength:"64"`
	Locale   *string      `json:"locale,omitempty" maxLength:"35"`
	Status   *wire.Status `json:"status,omitempty" enum:"active,paused,completed,withdrawn,opted_out"`
	// PausedUntil goes with status paused, or moves the end of a pause that goes on;
	// the zero instant takes the end away.
	PausedUntil *time.Time `json:"paused_until,omitempty" doc:"For a participant who is paused or becomes so: when they are resumed by themselves, at most 366 days from now. A new pause without it lasts until an operator resumes them; of a pause that goes on 0001-01-01T00:00:00Z takes the end away."`
	Tester      *bool      `json:"tester,omitempty"`
	Debug       *bool      `json:"debug,omitempty" doc:"Testers only."`
}

// Intent is what a text asks of the programme itself, before any coaching.
type Intent string

const (
	IntentNone  Intent = ""
	IntentStop  Intent = "stop"
	IntentStart Intent = "start"
	// IntentYes means a return only from a participant who opted out; otherwise it
	// is an ordinary answer.
	IntentYes  Intent = "yes"
	IntentHelp Intent = "help"
	// IntentUnclear may mean STOP; the person is asked once.
	IntentUnclear Intent = "unclear"
	// IntentData asks what is kept of the person, IntentErasure for its deletion. The
	// privacy text answers both, once a day.
	IntentData    Intent = "data"
	IntentErasure Intent = "erasure"
	// IntentWrongNumber says that the number is another person's; the programme
	// pauses, the person is asked once and the operators are told.
	IntentWrongNumber Intent = "wrong_number"
	// IntentDoubted is of a text of a number that may have gone to another person; it is
	// answered with the question whether it has.
	IntentDoubted Intent = "doubted"
	// IntentMinor says that the person is not 18 yet; where the study is for adults the
	// programme pauses, the person is told and so are the operators.
	IntentMinor Intent = "minor"
)

// ConsentMethod is how a participant opted out or came back, and for other
// intents how they were recognised.
type ConsentMethod string

const (
	// MethodKeyword: the whole text was a keyword.
	MethodKeyword ConsentMethod = "keyword"
	// MethodPhrase: clear wording in a person's own words.
	MethodPhrase ConsentMethod = "phrase"
	// MethodCarrier: the carrier recognised it, and answered it itself.
	MethodCarrier ConsentMethod = "carrier"
	// MethodCarrierError: the carrier refused a text of ours with it.
	MethodCarrierError ConsentMethod = "carrier_error"
	// MethodOperator: recorded on the person's behalf.
	MethodOperator ConsentMethod = "operator"
	// MethodForm, on paper, and MethodWeb, on a page: how people agree to a study,
	// besides by keyword.
	MethodForm ConsentMethod = "form"
	MethodWeb  ConsentMethod = "web"
)

// Confirms reports whether we confirm what came this way. What the carrier
// knows it has answered itself, and an operator has spoken to the person.
func (m ConsentMethod) Confirms() bool { return m == MethodKeyword || m == MethodPhrase }

// ConsentAction is what an entry of the consent ledger records.
type ConsentAction string

const (
	ConsentOptOut ConsentAction = "opt_out"
	ConsentOptIn  ConsentAction = "opt_in"
)

// Consent is one row of table consents, the ledger of who opted out or came
// back, when and how. Rows are added and never changed, except that TurnID
// names the one turn that confirms the entry.
type Consent struct {
	Action        ConsentAction `json:"action"`
	Method        ConsentMethod `json:"method"`
	At            time.Time     `json:"at"`
	RecordedBy    string        `json:"actor" doc:"participant, carrier, or an operator's name."`
	ParticipantID string        `json:"-"`
	InboundID     int64         `json:"-"` // 0: no text of the person
	Text          string        `gorm:"serializer:sealed" json:"text" doc:"The person's own text; empty where there was none."`
	Channel       wire.Channel  `json:"channel,omitempty" doc:"Where the text came from; empty for SMS."`
	Caller        string        `json:"caller,omitempty" doc:"The user or token who brought a text of the chat."`
	TurnID        string        `json:"confirmed_by,omitempty" doc:"The turn that confirmed it."`
	ID            int64         `gorm:"primaryKey" json:"-"`
	PhoneIndex    string        `json:"-"` // of the number that the entry is about
	// Unreadable names sealed columns that could not be opened; erasures only.
	Unreadable string `gorm:"-" json:"-"`
}

// Profile is one row of table profiles: what the coach has learnt of a
// person's habit. The text fields are personal data and sealed at rest.
type Profile struct {
	ParticipantID string `gorm:"primaryKey"`
	HabitTexts
	// LastHabitPrompt is the newest generated prompt text; PreparedPrompt is
	// one generated ahead for the next scheduled slot, empty when none waits.
	LastHabitPrompt string `gorm:"serializer:sealed"`
	PreparedPrompt  string `gorm:"serializer:sealed"`
	Tone            Tone   `gorm:"serializer:json"`
	// SuccessCount and TotalPrompts belong to the system, never to the model.
	SuccessCount     int
	TotalPrompts     int
	LastPromptSentAt *time.Time
	UpdatedAt        time.Time
	Version          int64
}

// Tone is how a person likes to be written to.
type Tone struct {
	// Active tags, sorted.
	Tags []string `json:"tags,omitempty"`
	// Scores holds the smoothed weight 0..1 of each tag that was ever observed
	// implicitly.
	Scores map[string]float64 `json:"scores,omitempty"`
	// ImplicitAt is when an implicit observation was last taken.
	ImplicitAt time.Time `json:"implicit_at,omitzero"`
}

// AcceptedInbound is what became of a delivered text.
type AcceptedInbound struct {
	Inbound Inbound
	// Duplicate: this provider id was claimed before; nothing was written.
	Duplicate bool
	// NoticeID is the notice to deliver; 0 for strangers, duplicates and most
	// texts with a limit.
	NoticeID int64
	// HintID is the hint to a stranger that is to be sent; empty for none.
	HintID string
	// Enrolled: the text enrolled its sender, whose workflow is to be started.
	Enrolled bool
	// AlertID is the alert that the text raised; empty for none.
	AlertID string
	// Loop is why this text had its sender muted.
	Loop LoopReason
}
