package api

import (
	"time"

	"coachline/models"
	"coachline/models/wire"
)

// TurnPage is one page of turns; NextBefore is null on the last.
type TurnPage struct {
	Turns      []models.TurnSummary `json:"turns" nullable:"false"`
	NextBefore *int                 `json:"next_before"`
}

// Turn is everything that is known of a turn. It holds personal data, as
// the history route does.
type Turn struct {
	Turn     models.TurnSummary `json:"turn"`
	PromptID string             `json:"prompt_id,omitempty"`
	Reason   string             `json:"reason,omitempty" doc:"Why a fixed text stood in for the model: its newest failure, or what was wrong with its answer."`
	// In are the texts that the turn answered, Out what it said.
	In     []Text     `json:"in" nullable:"false"`
	Out    []Text     `json:"out" nullable:"false"`
	Steps  []Round    `json:"rounds" nullable:"false"`
	Stages []Stage    `json:"stages" nullable:"false" doc:"What stages asked of models beside the steps, also after the reply."`
	Sent   []Delivery `json:"sent" nullable:"false"`
	// Subagents are the tasks that the turn gave away.
	Subagents []Subagent `json:"subagents" nullable:"false"`
}

// Subagent is a task that a turn gave away, what it did, and where it comes
// from. Its result is the text of its last step.
type Subagent struct {
	Turn   models.TurnSummary `json:"turn"`
	Origin Origin             `json:"origin"`
	Label  string             `json:"label,omitempty" doc:"As the model named it."`
	Task   string             `json:"task"`
	Steps  []Round            `json:"rounds" nullable:"false"`
}

// Origin is the call that a subagent was started by.
type Origin struct {
	Workflow string       `json:"workflow"`
	Channel  wire.Channel `json:"channel"`
	Turn     string       `json:"turn"`
	Step     int          `json:"round"`
	Call     int          `json:"call" doc:"From 0."`
	Tool     string       `json:"tool"`
}

// Text is an entry of the conversation.
type Text struct {
	Kind models.EntryKind `json:"kind"`
	Text string           `json:"text"`
	At   time.Time        `json:"at"`
}

// Round is one step of a turn: what the model was given, what it answered.
type Round struct {
	Number int          `json:"number"`
	Model  string       `json:"model"`
	Finish string       `json:"finish_reason"`
	Tokens models.Usage `json:"tokens" doc:"Of the calls of the chat model."`
	// Given is null where the step went on from the one before, and where its
	// record was erased or could not be read.
	Given  *Given    `json:"given"`
	Stages []Stage   `json:"stages" nullable:"false"`
	Text   string    `json:"text"`
	Calls  []Call    `json:"calls" nullable:"false"`
	At     time.Time `json:"at"`
}

// Given is what the stages before the model gave it.
type Given struct {
	Tools    []string `json:"tools" nullable:"false" doc:"Tools on offer."`
	ChosenBy string   `json:"chosen_by" doc:"How they were chosen."`
	Plan     []string `json:"plan" nullable:"false"`
	Memory   string   `json:"memory" doc:"What the model was told that it remembers."`
	Older    *Older   `json:"older,omitempty" doc:"Messages of the turn that the model read as a summary."`
}

// Older is the summary of messages that were too many to be read as they are.
type Older struct {
	Count int    `json:"count" doc:"How many messages; the first of the turn."`
	Text  string `json:"text" doc:"What the model was told of them."`
}

// Stage is a stage that ran and what it decided; no personal data.
type Stage struct {
	Name     models.StageName `json:"name"`
	Decision string           `json:"decision"`
	Model    string           `json:"model,omitempty"`
	Tokens   models.Usage     `json:"tokens"`
	Millis   int64            `json:"ms"`
	// Text is the draft that was judged, of advice only.
	Text string    `json:"text,omitempty"`
	At   time.Time `json:"at"`
}

// Call is a tool call and what came of it.
type Call struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments" doc:"As the model wrote them; may be no JSON."`
	// State is done, failed, refused or open: a call without a result yet.
	State  CallState `json:"state" enum:"done,failed,refused,open"`
	Result string    `json:"result"`
}

// CallState is what became of a tool call.
type CallState string

const (
	CallDone   CallState = "done"
	CallFailed CallState = "failed"
	// CallRefused: it was screened and not carried out.
	CallRefused CallState = "refused"
	// CallOpen: it has no result.
	CallOpen CallState = "open"
)

// Delivery is an outbox row of a turn.
type Delivery struct {
	ID        string            `json:"id"`
	Part      int               `json:"part"`
	Kind      models.EntryKind  `json:"kind"`
	Text      string            `json:"text"`
	Status    wire.OutboxStatus `json:"status"`
	ErrorCode string            `json:"error_code,omitempty"`
	Meaning   string            `json:"error_meaning,omitempty"`
	NextStep  string            `json:"error_next_step,omitempty" doc:"What an operator can do about it."`
	Attempts  int               `json:"attempts"`
	At        time.Time         `json:"at"`
	TakenAt   *time.Time        `json:"accepted_at"`
	ChangedAt time.Time         `json:"updated_at"`
}
