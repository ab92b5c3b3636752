package models

import "time"

// Turn is one row of table turns: why it ran and how it ended.
type Turn struct {
	ID            string `gorm:"primaryKey"` // TurnID(...)
	ParticipantID string
	Number        int
	Kind          TurnKind
	Mode          Mode
	Channel       Channel // of the texts that it answers; empty: SMS
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
	// Steps and Runs are this turn's rounds so far, in order.
	Steps []Step
	Runs  []ToolRun
	// Outstanding is the newest prompt that was sent and not voided; nil when
	// there is none.
	Outstanding *Prompt
	Schedules   []ScheduleRow
	// Instruction is what the decision of the turn's prompt adds to its request.
	Instruction string
}

// PrepareTurnInput begins a turn, or adds texts to a running one. Safe to
// retry: rows are keyed by turn and inbound id.
type PrepareTurnInput struct {
	ParticipantID string   `json:"participant_id"`
	TurnID        string   `json:"turn_id"`
	Number        int      `json:"number"`
	Mode          Mode     `json:"mode"`
	Plan          TurnPlan `json:"plan"`
	// InboundIDs are the texts that the turn answers and the conversation does
	// not hold yet.
	InboundIDs []int64   `json:"inbound_ids,omitempty"`
	Channel    Channel   `json:"channel,omitempty"` // of these texts; empty: SMS
	Now        time.Time `json:"now"`
	// Study is the participant's; empty is the default one.
	Study string `json:"study,omitempty"`
	// StudyVersion is that of the settings in force; the activity notes it.
	StudyVersion int64 `json:"-"`
}

// PrepareTurnResult says how to go on.
type PrepareTurnResult struct {
	// Skip: nothing may or need be said (the person left, the prompt was sent).
	Skip bool `json:"skip,omitempty"`
	// Prepared: a text generated ahead waits; no model call is needed.
	Prepared bool `json:"prepared,omitempty"`
	// Stuck: two runs of the workflow ended over the texts; the fixed text answers
	// them.
	Stuck bool `json:"stuck,omitempty"`
	// Gone is how many of the texts the database does not hold any more.
	Gone int `json:"gone,omitempty"`
	// Limits are recorded with every turn, so that a changed setting takes
	// effect at the next turn and never in the middle of a replayed one.
	Limits Limits `json:"limits"`
}

// Limits bound a turn and a run of the workflow.
type Limits struct {
	Rounds    int `json:"rounds"`
	ToolCalls int `json:"tool_calls"`
	// RunEvents is the history length after which the workflow continues as
	// new; 0 leaves it to the server's suggestion.
	RunEvents int `json:"run_events,omitempty"`
}

// CallModelInput is one round of a turn. Safe to retry: a finished round is
// read back from its row.
type CallModelInput struct {
	ParticipantID string   `json:"participant_id"`
	TurnID        string   `json:"turn_id"`
	Step          int      `json:"step"`
	Mode          Mode     `json:"mode"`
	Kind          TurnKind `json:"kind"`
	// Introduce: the conversation begins with this turn.
	Introduce bool `json:"introduce,omitempty"`
	// NoTools asks for plain text.
	NoTools bool `json:"no_tools,omitempty"`
	// Last: the rounds are used up; sum up what they came to.
	Last bool `json:"last,omitempty"`
	// Begin, when set, is written first: the turn begins with this round, or
	// more texts join it.
	Begin *PrepareTurnInput `json:"begin,omitempty"`
	// TimeLimit bounds attempts and the pauses between them; 0 sets no bound.
	TimeLimit time.Duration `json:"time_limit,omitempty"`
	// State, when set, lets the round decide the first call that it makes, where
	// rules decide it.
	State *ParticipantState `json:"state,omitempty"`
	// Due, when set, is what the rules are asked first: the plan of the turn is in
	// their answer, and without a prompt in it nothing is stored or asked.
	Due *DecideInput `json:"due,omitempty"`
}

// CallModelResult is what the workflow needs to know of a round.
type CallModelResult struct {
	Calls []CallRef `json:"calls,omitempty"`
	// HasText: the round holds words for the participant.
	HasText bool `json:"has_text,omitempty"`
	// Begun is how the turn goes on, where the round began it. The model was
	// not asked when it says skip or prepared.
	Begun *PrepareTurnResult `json:"begun,omitempty"`
	// Decided is what the rules decided of the first call, whose result is stored;
	// nil when that is left to DecideTool.
	Decided *Decision `json:"decided,omitempty"`
	// Planned is the answer to Due.
	Planned *Decision `json:"planned,omitempty"`
}

// CallRef points at one tool call of a round; its arguments are in the row.
type CallRef struct {
	Name string `json:"name"`
	// InWorkflow: the call is decided by rules and applied to the workflow's
	// own state, not run outside.
	InWorkflow bool `json:"in_workflow,omitempty"`
	// Refused: the call is answered and not carried out.
	Refused bool `json:"refused,omitempty"`
	// Ends: the call ends the exchange without a reply.
	Ends bool `json:"ends,omitempty"`
}

// ToolInput is one tool call to decide or to run. Safe to retry: a call that
// has its row is not run again.
type ToolInput struct {
	ParticipantID string `json:"participant_id"`
	TurnID        string `json:"turn_id"`
	Step          int    `json:"step"`
	Call          int    `json:"call"`
	Mode          Mode   `json:"mode"`
	// Refuse, when set, is written as the failed result instead of running.
	Refuse string `json:"refuse,omitempty"`
	// TimeLimit bounds attempts and the pauses between them; 0 sets no bound.
	TimeLimit time.Duration `json:"time_limit,omitempty"`
}

// DecideInput asks the rules what follows from an event.
type DecideInput struct {
	State ParticipantState `json:"state"`
	Event Event            `json:"event"`
	Now   time.Time        `json:"now"`
}

// DecideToolInput asks the rules about a tool call that changes the
// workflow's own state.
type DecideToolInput struct {
	Tool  ToolInput        `json:"tool"`
	State ParticipantState `json:"state"`
	Now   time.Time        `json:"now"`
}

// TextSource says where the words of a turn come from.
type TextSource string

const (
	// SourceStep: the text of model round Step.
	SourceStep TextSource = "step"
	// SourceFixed: the fixed text for the turn's kind.
	SourceFixed TextSource = "fixed"
	// SourceFallback: the fixed text that stands in when the model has none.
	SourceFallback TextSource = "fallback"
	// SourcePrepared: the habit prompt generated ahead.
	SourcePrepared TextSource = "prepared"
	// SourceOutbox: an operator's message whose row exists already.
	SourceOutbox TextSource = "outbox"
	// SourceSilent: no text; the model ended the exchange.
	SourceSilent TextSource = "silent"
	// SourceSubagent: what a subagent found.
	SourceSubagent TextSource = "subagent"
	// SourceFailed: a subagent came to nothing.
	SourceFailed TextSource = "failed"
)

// SendTurnInput ends a turn and sends what it says: conversation entries and
// outbox rows in one transaction, then the first of the rows. Safe to retry: a
// finished turn keeps its rows, and a row is sent as SendSMS says.
type SendTurnInput struct {
	// Begin, when set, is written first: nothing of the turn was stored yet,
	// or not all of its texts.
	Begin *PrepareTurnInput `json:"begin,omitempty"`
	End   PersistTurnInput  `json:"end"`
	// LeaveUnsettled is as in SendSMSInput, for the first row.
	LeaveUnsettled bool `json:"leave_unsettled,omitempty"`
	// Sent, when set, is what the rules are asked once the carrier has taken the
	// first row; that instant is filled in then.
	Sent *DecideInput `json:"sent,omitempty"`
}

// SendTurnResult is how the first row fared, and what is left to send.
type SendTurnResult struct {
	// Begun is how the turn went on, where Begin was set.
	Begun *PrepareTurnResult `json:"begun,omitempty"`
	First SendSMSResult      `json:"first"`
	// Unsettled is the first row, where it was left with its fate unknown; it is
	// for SendSMS to settle before More.
	Unsettled string `json:"unsettled,omitempty"`
	// More lists the rows behind the first one, in order.
	More []string `json:"more,omitempty"`
	// Saved: the state that came with the end is in the tables.
	Saved bool `json:"saved,omitempty"`
	// Decided is the answer to Sent; nil when the carrier has not taken the row.
	Decided *Decision `json:"decided,omitempty"`
}

// RememberInput names the turn that is remembered.
type RememberInput struct {
	TurnID        string `json:"turn_id"`
	ParticipantID string `json:"participant_id,omitempty"`
}

// RemoveParticipantInput names a participant whose workflow was asked to end.
type RemoveParticipantInput struct {
	ParticipantID string    `json:"participant_id"`
	Now           time.Time `json:"now"`
}

// PersistTurnInput says how a turn ends.
type PersistTurnInput struct {
	ParticipantID string     `json:"participant_id"`
	TurnID        string     `json:"turn_id"`
	Mode          Mode       `json:"mode"`
	Plan          TurnPlan   `json:"plan"`
	Source        TextSource `json:"source"`
	Step          int        `json:"step,omitempty"`
	Now           time.Time  `json:"now"`
	// State, when set, is mirrored together with the end.
	State *SaveStateInput `json:"state,omitempty"`
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
	State *SaveStateInput
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

// SendSMSInput names the outbox row to send.
type SendSMSInput struct {
	OutboxID string `json:"outbox_id"`
	// LeaveUnsettled: a row whose fate is unknown for more than a minute comes
	// back as sending, so that the participant need not wait for it.
	LeaveUnsettled bool `json:"leave_unsettled,omitempty"`
}

// SendSMSResult is where the row stands afterwards. It is sending only where
// LeaveUnsettled allows that.
type SendSMSResult struct {
	Status     OutboxStatus `json:"status"`
	Code       string       `json:"code,omitempty"`
	AcceptedAt time.Time    `json:"accepted_at,omitzero"`
	// Returned are the texts of a reply that was refused after its turn had ended,
	// because a newer one went out first: they wait for an answer again.
	Returned []InboxItem `json:"returned,omitempty"`
}

// SaveStateInput mirrors workflow state into tables for operators' queries.
// Safe to retry: it writes absolute values.
type SaveStateInput struct {
	ParticipantID string `json:"participant_id"`
	Mode          Mode   `json:"mode"`
	Status        Status `json:"status,omitempty"` // empty: leave the row's
	// Applied is the number of the newest notice that the state follows from: a
	// status is written only where none of it was committed since. 0: not known.
	Applied   int64          `json:"applied,omitempty"`
	Schedules []Schedule     `json:"schedules,omitempty"`
	Missed    []MissedPrompt `json:"missed,omitempty"`
	LeftOut   []LeftOut      `json:"left_out,omitempty"`
	Now       time.Time      `json:"now"`
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
	Token    int64        // of the claim, as in ClaimRef
	Status   OutboxStatus // failed, unknown or canceled
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
	Turn   Turn
	Rounds int
	// Tools are the names of the calls that were answered, in order.
	Tools []string
	// Usage is what rounds and stages were answered with, together.
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
	Channel Channel // the person's
	// Subagents are the turns of the tasks that this one gave away.
	Subagents []TurnRecord
}
