package wire

import "time"

// ToolEffect is what the workflow has to know of a tool call that was run.
type ToolEffect struct {
	// Shown: a text is out on a channel without a carrier.
	Shown bool `json:"shown,omitempty"`
	// Send lists outbox rows to send, in order.
	Send []string `json:"send,omitempty"`
	// Reported is what the call has made known of the newest prompt.
	Reported FeedbackStage `json:"reported,omitempty"`
}

// TurnKind is why a turn runs.
type TurnKind string

const (
	// TurnMessage stores messages that nothing answers.
	TurnMessage TurnKind = "message"
	// TurnReply answers what is in the inbox.
	TurnReply            TurnKind = "reply"
	TurnGreeting         TurnKind = "greeting"
	TurnPrompt           TurnKind = "prompt"
	TurnReminder         TurnKind = "reminder"
	TurnFeedbackQuestion TurnKind = "feedback_question"
	TurnFeedbackFollowup TurnKind = "feedback_followup"
	TurnCheckIn          TurnKind = "check_in"
	// TurnAskLess asks a person who has not answered for long whether to write less.
	TurnAskLess  TurnKind = "ask_less"
	TurnOperator TurnKind = "operator"
	TurnNotice   TurnKind = "notice"
	// TurnConsent confirms that a participant opted out or came back.
	TurnConsent TurnKind = "consent"
	TurnHelp    TurnKind = "help"
	// TurnResult tells what a subagent found, where the model asked for that.
	TurnResult TurnKind = "result"
	// TurnSubagent is a subagent's own turn, which sends nothing.
	TurnSubagent TurnKind = "subagent"
)

// OutboxStatus is where an outbound text stands. The carrier's own words are
// used from Accepted on, except that its "sending" is a queued text to us.
type OutboxStatus string

const (
	OutboxReady       OutboxStatus = "ready"
	OutboxSending     OutboxStatus = "sending"
	OutboxAccepted    OutboxStatus = "accepted"
	OutboxQueued      OutboxStatus = "queued"
	OutboxSent        OutboxStatus = "sent"
	OutboxDelivered   OutboxStatus = "delivered"
	OutboxUndelivered OutboxStatus = "undelivered"
	OutboxFailed      OutboxStatus = "failed"
	OutboxRead        OutboxStatus = "read"
	// OutboxCanceled: a send check refused it before anything reached the carrier.
	OutboxCanceled OutboxStatus = "canceled"
	// OutboxUnknown: the carrier may or may not have it; it is never resent.
	OutboxUnknown OutboxStatus = "unknown"
)

// rank orders the statuses of an outbound text; equal
// ranks are alternatives, and the first one reported stays.
func (s OutboxStatus) rank() int {
	switch s {
	case OutboxReady:
		return 0
	case OutboxSending, OutboxUnknown:
		return 1
	case OutboxAccepted:
		return 2
	case OutboxQueued:
		return 3
	case OutboxSent:
		return 4
	case OutboxDelivered, OutboxUndelivered, OutboxFailed, OutboxCanceled:
		return 5
	case OutboxRead:
		return 6
	}
	return -1
}

// Supersedes reports whether a carrier's report s may replace status old:
// statuses only move up, and of two final ones the first stays. Reports come
// late, doubled and out of order.
func (s OutboxStatus) Supersedes(old OutboxStatus) bool { return s.rank() > old.rank() }

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
	Steps     int `json:"rounds"`
	ToolCalls int `json:"tool_calls"`
	// RunEvents is the history length after which the workflow continues as
	// new; 0 leaves it to the server's suggestion.
	RunEvents int `json:"run_events,omitempty"`
	// Debounce is the silence that ends a burst of texts, DebounceMax the longest that
	// one is waited for; 0 in older histories, and where nothing is waited for.
	Debounce    time.Duration `json:"debounce,omitempty"`
	DebounceMax time.Duration `json:"debounce_max,omitempty"`
}

// CallModelInput is one step of a turn. Safe to retry: a finished step is
// read back from its row.
type CallModelInput struct {
	ParticipantID string   `json:"participant_id"`
	TurnID        string   `json:"turn_id"`
	Step          int      `json:"step"`
	Mode          Mode     `json:"mode"`
	Kind          TurnKind `json:"kind"`
	// Feedback is how far the collecting of feedback is.
	Feedback FeedbackStage `json:"feedback,omitempty"`
	// Introduce: the conversation begins with this turn.
	Introduce bool `json:"introduce,omitempty"`
	// NoTools asks for plain text.
	NoTools bool `json:"no_tools,omitempty"`
	// Last: the steps are used up; sum up what they came to.
	Last bool `json:"last,omitempty"`
	// Begin, when set, is written first: the turn begins with this step, or
	// more texts join it.
	Begin *PrepareTurnInput `json:"begin,omitempty"`
	// TimeLimit bounds attempts and the pauses between them; 0 sets no bound.
	TimeLimit time.Duration `json:"time_limit,omitempty"`
	// State, when set, lets the step decide the first call that it makes, where
	// rules decide it.
	State *ParticipantState `json:"state,omitempty"`
	// Due, when set, is what the rules are asked first: the plan of the turn is in
	// their answer, and without a prompt in it nothing is stored or asked.
	Due *DecideInput `json:"due,omitempty"`
}

// CallModelResult is what the workflow needs to know of a step.
type CallModelResult struct {
	Calls []CallRef `json:"calls,omitempty"`
	// HasText: the step holds words for the participant.
	HasText bool `json:"has_text,omitempty"`
	// Begun is how the turn goes on, where the step began it. The model was
	// not asked when it says skip or prepared.
	Begun *PrepareTurnResult `json:"begun,omitempty"`
	// Decided is what the rules decided of the first call, whose result is stored;
	// nil when that is left to DecideTool.
	Decided *Decision `json:"decided,omitempty"`
	// Planned is the answer to Due.
	Planned *Decision `json:"planned,omitempty"`
}

// CallRef points at one tool call of a step; its arguments are in the row.
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
	// SourceStep: the text of model step Step.
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
