package models

import (
	"time"

	"coachline/models/wire"
)

// Turn is one row of table turns: why it ran and how it ended.
type Turn struct {
	ID            string `gorm:"primaryKey"` // TurnID(...)
	ParticipantID string
	Number        int
	Kind          wire.TurnKind
	Mode          wire.Mode
	Channel       wire.Channel // of the texts that it answers; empty: SMS
	PromptID      string
	PromptVersion string
	// Arm is the participant's when the turn began, StudyVersion the version of the
	// study's settings that were in force; 0 in turns from before there were studies.
	Arm          string
	StudyVersion int64
	// Outcome is empty while the turn runs; then the source of its text, canceled, or
	// OutcomeSafety.
	Outcome    string
	StartedAt  time.Time
	FinishedAt *time.Time
}

// OutcomeSafety ends a turn whose message the safety text answers.
const OutcomeSafety = "safety"

// TurnContext is everything a reply is composed from, loaded in one go.
type TurnContext struct {
	Turn        Turn
	Participant Participant
	Profile     Profile
	// Window holds the newest entries of the conversation, oldest first,
	// including the texts that this turn answers.
	Window []Message
	// Steps and Runs are this turn's steps so far, in order.
	Steps []Step
	Runs  []ToolRun
	// Outstanding is the newest prompt that was sent and not voided; nil when
	// there is none.
	Outstanding *Prompt
	Schedules   []ScheduleRow
	// HeldUntil is when the last of the holds ends that stop the schedules now; zero
	// where none does.
	HeldUntil time.Time
	// Recent are the last prompts that were sent, the newest first, for a turn that
	// writes one.
	Recent []PastPrompt
	// Instruction is what the decision of the turn's prompt adds to its request.
	Instruction string
	// Safety is the safety text of the newest alert, while a crisis is open.
	Safety SafetyKind
}

// TurnOutcome is what the end of a turn writes to the store.
type TurnOutcome struct {
	TurnID        string
	ParticipantID string
	Outcome       string
	PromptVersion string
	Entries       []Message
	Outbox        []Outbox
	// ClearPrepared: the prepared habit prompt was used up by this turn.
	ClearPrepared bool
	// Claim the first row for sending in the same transaction.
	Claim bool
	// HabitPrompt is stored as the newest prompt text when not empty.
	HabitPrompt string
	// State, when set, is mirrored in the same transaction.
	State *wire.SaveStateInput
	At    time.Time
}

// EndedTurn is a turn that has its outcome: the rows to send, in order.
type EndedTurn struct {
	OutboxIDs []string
	// First is the claim of the first row, where it was asked for and this call
	// has written the row; its Outbox.ID is empty otherwise.
	First SendClaim
	// Saved: this call has mirrored the state.
	Saved bool
}

// SendClaim is the store's answer to "may I send this now?".
type SendClaim struct {
	Outbox Outbox
	// To is the participant's phone (E.164); for a resumed row the one that it was
	// posted to.
	To string
	// Version is that of the participant's row which the send check read; StudyID
	// and Arm are in it.
	Version      int64
	StudyID, Arm string
	// Sender is where the text is to come from, for StartPost to note; zero is the
	// installation's.
	Sender Sender
	// Post: send it. False: Outbox.Status says why not.
	Post bool
	// Resumed: an earlier attempt may have reached the carrier; look the text
	// up before posting.
	Resumed bool
	// Early: the part before it has not left the carrier yet; ask again in a
	// moment.
	Early bool
	// Wait: the whole sender is stopped; ask again after this time.
	Wait time.Duration
}

// Ref names the row and the claim on it.
func (c SendClaim) Ref() ClaimRef {
	return ClaimRef{OutboxID: c.Outbox.ID, Token: c.Outbox.ClaimToken}
}

// ClaimRef names one claim on an outbox row. The store changes the row for the
// newest claim only, and answers ErrStale to an older one.
type ClaimRef struct {
	OutboxID string
	Token    int64
}

// SendFailure ends an outbox row that the carrier did not take.
type SendFailure struct {
	OutboxID string
	Token    int64             // of the claim, as in ClaimRef
	Status   wire.OutboxStatus // failed, unknown or canceled
	Code     string
	// Class is why the carrier refused it; empty where it did not.
	Class CarrierClass
	Now   time.Time
}

// TurnQuery selects a page of a participant's turns, newest first.
type TurnQuery struct {
	ParticipantID string
	// Before is a turn's number: only older ones are meant; 0 is from the newest.
	Before int
	Limit  int // 1..500
}

// TurnTotals is a turn and what it came to, without any text.
type TurnTotals struct {
	Turn  Turn
	Steps int
	// Tools are the names of the calls that were answered, in order.
	Tools []string
	// Usage is what steps and stages were answered with, together.
	Usage Usage
}

// TurnRecord is everything that is kept of one turn. It holds personal data.
type TurnRecord struct {
	Totals TurnTotals
	// Steps, Runs and Stages are in the order in which they were done.
	Steps  []Step
	Runs   []ToolRun
	Stages []Stage
	// Entries are the turn's part of the conversation, Outbox what it sent.
	Entries []Message
	Outbox  []Outbox
	Channel wire.Channel // the person's
	// Subagents are the turns of the tasks that this one gave away.
	Subagents []TurnRecord
}
