package models

import (
	"strconv"
	"time"

	"coachline/models/wire"
)

// Role is who an entry of the conversation belongs to.
type Role string

const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one row of table messages: an entry of the conversation in the
// order it happened. Text is personal data and sealed at rest; for tool calls
// it is the JSON of []ToolCall, for tool results the JSON of ToolResult.
type Message struct {
	ID            int64 `gorm:"primaryKey"`
	ParticipantID string
	TurnID        string
	// Key makes the append idempotent: unique per participant.
	Key      string
	Role     Role
	Kind     EntryKind
	Text     string `gorm:"serializer:sealed"`
	OutboxID string // first outbox row that carries it; empty for inbound
	// Danger is that of a person's text.
	Danger  Danger
	Channel wire.Channel
	At      time.Time
	// Unreadable names sealed columns that could not be opened, with commas
	// between them; lists only.
	Unreadable string `gorm:"-"`
	// WrittenBy is the operator who wrote a note to the coach.
	WrittenBy string
	// Undelivered: the carrier never took the text. It is read with a turn's
	// window only.
	Undelivered bool `gorm:"-"`
	// Refused: a reply that was called off before the carrier took it.
	Refused bool `gorm:"-"`
}

// InboundKey is the key of the entry that shows a stored text.
func InboundKey(inboundID int64) string { return "in-" + strconv.FormatInt(inboundID, 10) }

// Inbound is one row of table inbound: a text as the carrier delivered it.
type Inbound struct {
	ID            int64  `gorm:"primaryKey"`
	ProviderSID   string // unique
	ParticipantID string // empty: the sender is not enrolled
	// Seq numbers a participant's texts from 1 without gaps; 0 for strangers,
	// for texts that consent rules answered and for those with a limit.
	Seq  int64
	From string `gorm:"serializer:sealed"`
	To   string
	Body string `gorm:"serializer:sealed"`
	// OptOutType is what the carrier found in the text itself: STOP, START, HELP
	// or empty. It is read by the screening and not stored.
	OptOutType string `gorm:"-"`
	MediaCount int
	Channel    wire.Channel
	// Voice is the JSON of []VoiceNote; empty where nothing listens, or where
	// the text has none.
	Voice string `gorm:"serializer:sealed"`
	// Intent and IntentMethod are what the screening found; both empty for an
	// ordinary text.
	Intent       Intent
	IntentMethod ConsentMethod
	// IsLikeAnswer: the text is a keyword that is also an answer to a question about a
	// step ("fin"). It is not stored.
	IsLikeAnswer bool `gorm:"-"`
	// IsOtherLanguage: no rule reads the text's language. It is not stored.
	IsOtherLanguage bool `gorm:"-"`
	// Limit is what kept the text from the coach.
	Limit InboundLimit `gorm:"column:gate"`
	// Danger is what the text may speak of; a safety text may have answered it.
	// DangerTier says how grave it is, DangerRule which rule found it, such as
	// "en.kill-self" (of older versions also "score"), DangerKind which kind of
	// statement that is, and DangerScore what the classifier gave the text.
	Danger      Danger
	DangerTier  DangerTier
	DangerRule  string
	DangerKind  string
	DangerScore float64
	// FromIndex is the keyed hash of From, RepeatIndex that of From and the text
	// in its normal form together: it is equal for equal texts of one sender only.
	FromIndex   string
	RepeatIndex string
	// Waiting: the text came while the participant was paused, and no operator has
	// had it answered or marked it as read.
	Waiting bool
	// ResumeNoticeID is the notice that has the text answered after a pause.
	ResumeNoticeID int64
	ReceivedAt     time.Time
	// Unreadable is as that of a Message.
	Unreadable string `gorm:"-"`
}

// WaitingAction is what becomes of texts that came while a participant was
// paused.
type WaitingAction string

const (
	// WaitingAnswer has them answered in one turn.
	WaitingAnswer WaitingAction = "answer"
	// WaitingRead marks them as read; they are not answered.
	WaitingRead WaitingAction = "read"
)

// WaitingMessage is a text that waits for an operator. Text is personal data.
type WaitingMessage struct {
	ID      int64        `json:"id"`
	Text    string       `json:"text"`
	At      time.Time    `json:"at"`
	Channel wire.Channel `json:"channel"`
	// Danger is set for a text that may be a crisis.
	Danger Danger `json:"danger,omitempty"`
}

// Outbox is one row of table outbox: a text to be sent exactly once.
type Outbox struct {
	// ID is derived from the turn and the part, so a replay cannot make a
	// second row: "<participant>-t42-p1".
	ID            string `gorm:"primaryKey"`
	ParticipantID string
	TurnID        string
	Part          int
	Kind          EntryKind
	PromptID      string // the prompt that a reminder or prompt text belongs to
	// SentBy is the operator who wrote the text; empty for the programme's own.
	SentBy string
	// SentFrom is the number or messaging service that the newest POST was written
	// from; empty before the first one.
	SentFrom string
	Body     string `gorm:"serializer:sealed"`
	// Channel: a row of a channel without a carrier is delivered when it is
	// written.
	Channel     wire.Channel
	Status      wire.OutboxStatus
	ProviderSID string
	ErrorCode   string
	// Attempts counts the times that the row was about to be posted.
	Attempts int
	// ClaimToken counts the claims of the row. A claim is current while the row
	// has its number; what an earlier one asks for changes nothing.
	ClaimToken int64
	// UnknownPosts counts the posts whose outcome was not known and which the
	// carrier turned out not to have taken.
	UnknownPosts int
	// SendBefore is when it is too late to send it; nil where only its age counts.
	SendBefore *time.Time
	// LateTries counts how often it was put off for a second try; a later try has
	// had it.
	LateTries int
	// LateOf is the row that this one is the later try of, DueAt when that is due;
	// both are empty for all others.
	LateOf string
	DueAt  *time.Time
	// FormerPhoneID is the former number that the row was posted to; 0 is the
	// participant's present one.
	FormerPhoneID int64
	// Segments is what the carrier counts; nil before the first claim, and where
	// the channel has no carrier.
	Segments  *int
	CreatedAt time.Time
	// AttemptedAt is when the newest POST to the carrier was written; nil while
	// the current claim has written none.
	AttemptedAt *time.Time
	// UnsettledSince is when the first POST was written whose outcome is not
	// known; nil where every one of them was refused.
	UnsettledSince *time.Time
	// MissingSince is when the carrier's list first did not show the newest POST,
	// by the carrier's clock.
	MissingSince *time.Time
	AcceptedAt   *time.Time
	UpdatedAt    time.Time
}

// StatusCallback is what the carrier reports of one outbound text.
type StatusCallback struct {
	OutboxID    string // from our own callback URL; may be empty
	ProviderSID string
	Status      wire.OutboxStatus
	ErrorCode   string
	// Class is that of ErrorCode; empty for none and for unknown codes.
	Class CarrierClass
	At    time.Time
}

// LateID names the one later try of an outbox row.
func LateID(outboxID string) string { return outboxID + "-r1" }

// LateTry is the one later try of a text that the carrier took and reported as
// undelivered, with what says when it may go out.
type LateTry struct {
	Row, First  Outbox
	Participant Participant
	// LocalDate (YYYY-MM-DD in Zone) is the day of a prompt; empty for the rest.
	LocalDate, Zone string
	// Before are the later tries of the parts before it that are not out yet.
	Before []Outbox
}

// NoticeKind says what a participant's workflow has to be told.
type NoticeKind string

const (
	NoticeStart    NoticeKind = "start"
	NoticeMessage  NoticeKind = "message"
	NoticeChat     NoticeKind = "chat" // a message on that channel
	NoticeUpdate   NoticeKind = "update"
	NoticePause    NoticeKind = "pause"
	NoticeResume   NoticeKind = "resume"
	NoticeSend     NoticeKind = "send"
	NoticeUnenroll NoticeKind = "unenroll"
	// NoticeConsent: a participant opted out or came back.
	NoticeConsent NoticeKind = "consent"
	// NoticeHelp: a participant asked for help.
	NoticeHelp NoticeKind = "help"
	// NoticeLimit: a participant sent too many texts and is told so, without a
	// turn.
	NoticeLimit NoticeKind = "limit"
	// LimitHours divides the reference of a NoticeLimit: the inbound row's id, and after
	// how many hours texts are answered again, without which it is a minute.
	LimitHours = "+"
	// NoticeLate: a text is to be tried once more, later, without a turn.
	NoticeLate NoticeKind = "late"
	// NoticeAsk: a person is asked what a text meant, without a turn.
	NoticeAsk NoticeKind = "ask"
	// NoticeTakeOver: an operator writes in the place of the coach until Ref;
	// NoticeHandBack: the coach writes again.
	NoticeTakeOver NoticeKind = "take_over"
	NoticeHandBack NoticeKind = "hand_back"
	// NoticeFlags: the participant's flags have changed.
	NoticeFlags NoticeKind = "flags"
)

// StatusNotices lists the kinds of notices that may tell of another status.
func StatusNotices() []NoticeKind {
	return []NoticeKind{NoticeUpdate, NoticePause, NoticeResume, NoticeConsent, NoticeUnenroll}
}

// Notice is one row of table notices: something that was committed and that
// the workflow must hear of. It is written in the transaction that made it
// true, delivered at once where possible, and swept by the relay otherwise, in
// the order of ID for each participant.
type Notice struct {
	ID            int64 `gorm:"primaryKey"`
	ParticipantID string
	Kind          NoticeKind
	// Ref is what Kind needs: the inbound row's id, the outbox row's id, the
	// method of a consent.
	Ref string
	Seq int64
	// Shape is that of the text that Ref names.
	Shape       wire.TextShape
	CreatedAt   time.Time
	DeliveredAt *time.Time
}

// HistoryEntry is an entry of the conversation as operators read it. Text is
// personal data.
type HistoryEntry struct {
	Role     Role              `json:"role"`
	Kind     EntryKind         `json:"kind"`
	Text     string            `json:"text"`
	At       time.Time         `json:"at"`
	Channel  wire.Channel      `json:"channel"`
	Delivery wire.OutboxStatus `json:"delivery,omitempty"`
	// By is the operator who wrote it; empty for others.
	By        string `json:"by,omitempty"`
	ErrorCode string `json:"error_code,omitempty" doc:"Why it was not delivered: the carrier's code or our own."`
	Meaning   string `json:"error_meaning,omitempty" doc:"What the code means."`
	NextStep  string `json:"error_next_step,omitempty" doc:"What an operator can do about it."`
	// TurnID names the turn that the entry belongs to; empty for texts of no turn.
	TurnID string `json:"turn_id,omitempty"`
	// Limit is set for a text that was kept from the coach.
	Limit InboundLimit `json:"gate,omitempty"`
	// Danger is set for a text that may be a crisis.
	Danger Danger `json:"danger,omitempty"`
	// Unreadable is set for a text that could not be opened; Text is empty then.
	Unreadable bool `json:"unreadable,omitempty"`
}

// InboundLimit says what kept an inbound text from the coach, or a HELP from its answer.
// Every text is stored, with any limit; STOP and START act with any.
type InboundLimit string

const (
	// LimitNone: the text went to the coach, or acted by consent rules.
	LimitNone InboundLimit = ""
	// LimitRate: the sender had sent as many texts as the programme takes, or
	// as many times HELP as it answers.
	LimitRate InboundLimit = "rate_limited"
	// LimitSpent: the sender had cost what a person may on a day.
	LimitSpent InboundLimit = "spent"
	// LimitLoop: the text at which the sender was taken for a machine. LimitMuted
	// is what that sender sent while it was muted.
	LimitLoop  InboundLimit = "loop"
	LimitMuted InboundLimit = "muted"
	// LimitEmpty: nothing to see and no picture.
	LimitEmpty InboundLimit = "empty"
	// LimitStranger: the sender is not enrolled.
	LimitStranger InboundLimit = "unknown_sender"
	// LimitReaction: a tapback at a message of the conversation.
	LimitReaction InboundLimit = "reaction"
)

// LoopReason says what a sender was taken for a machine for.
type LoopReason string

const (
	LoopNone LoopReason = ""
	// LoopRepeats: the same text again and again.
	LoopRepeats LoopReason = "repeats"
	// LoopExchanges: an answer to every reply within seconds.
	LoopExchanges LoopReason = "exchanges"
)
