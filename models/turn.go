package models

import (
	"slices"
	"time"

	"coachline/models/wire"
)

// Turn is one row of table turns: why it ran and how it ended.
type Turn struct {
	ID            string        `gorm:"primaryKey" json:"id"` // TurnID(...)
	Number        int           `json:"number"`
	Kind          wire.TurnKind `json:"kind"`
	Mode          wire.Mode     `json:"mode"`
	Outcome       string        `json:"outcome" doc:"Where the words came from (step, fixed, fallback, prepared, outbox, subagent, silent), canceled, or safety where the safety text answers; failed for a subagent without a result; empty while the turn runs."`
	StartedAt     time.Time     `json:"started_at"`
	FinishedAt    *time.Time    `json:"finished_at"`
	PromptVersion string        `json:"prompt_version"`
	Arm           string        `json:"arm,omitempty" doc:"Arm of the participant when the turn began; left out where there was none."`
	StudyVersion  int64         `json:"study_version,omitempty" doc:"Version of the study whose settings were in force; left out for turns from before there were studies."`
	ParticipantID string        `json:"-"`
	Channel       wire.Channel  `json:"-"` // of the texts that it answers; empty: SMS
	PromptID      string        `json:"-"`
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
	// Talk says where the turn stands in the conversation.
	Talk Talk
	// Safety is the safety text of the newest alert, while a crisis is open.
	Safety SafetyKind
}

// IsOver reports whether the turn has ended, or its person takes no more part.
func (c TurnContext) IsOver() bool {
	return c.Turn.Outcome != "" || c.Participant.RemovedAt != nil || c.Participant.Status != wire.StatusActive
}

// WithoutPerson returns the context of a person whose number may have gone to another
// without what is known of them: texts, profile, memory, and what was said before the
// doubt. Of any other it returns c.
func (c TurnContext) WithoutPerson() TurnContext {
	since := c.Participant.DoubtedAt
	if since == nil {
		return c
	}
	c.Participant.PersonTexts, c.Participant.MemoryVersion = PersonTexts[string]{}, 0
	c.Profile.HabitTexts, c.Profile.LastHabitPrompt, c.Profile.PreparedPrompt = HabitTexts{}, "", ""
	c.Recent, c.Instruction = nil, ""
	c.Window = slices.DeleteFunc(slices.Clone(c.Window), func(m Message) bool { return m.At.Before(*since) })
	return c
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
	// Heard is when the person wrote last, enrolled, or their number was found to be still
	// theirs; Consented when they agreed to be texted.
	Heard, Consented time.Time
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
	ParticipantID string `path:"id" maxLength:"64"`
	Limit         int    `query:"limit" minimum:"1" maximum:"200" default:"20"`
	Before        int    `query:"before" minimum:"1" doc:"Only turns with a smaller number; next_before of the page before."`
}

// TurnSummary is a turn and what it came to, without any text.
type TurnSummary struct {
	Turn
	Steps  int      `json:"rounds"`
	Tools  []string `json:"tools" nullable:"false" doc:"Names of the tools that were called, in order."`
	Tokens Usage    `json:"tokens" doc:"Of all model calls of the turn; cached is a part of prompt."`
}

// TurnRecord is everything that is kept of one turn. It holds personal data.
type TurnRecord struct {
	Totals TurnSummary
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
