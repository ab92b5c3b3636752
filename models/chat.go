package models

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"coachline/internal/wrap"
	"coachline/models/wire"
)

// ChatRequest is one call of an OpenAI-compatible chat model.
type ChatRequest struct {
	Model    string
	Messages []ChatMessage
	Tools    []ToolSpec
	// MaxTokens bounds the answer; 0 leaves it to the server.
	MaxTokens int
	// JSON asks for one JSON object and nothing else. A server that cannot be
	// held to it answers as it likes, so the reader must check; the messages
	// must ask for JSON in words too, which OpenAI insists on.
	JSON bool
	// Temperature is between 0 and 2; 0 leaves it to the server.
	Temperature float64
	// Effort is how much a model that thinks before it answers is asked to think, in the
	// words of its maker; empty leaves it to the server.
	Effort string
}

// ChatMessage is one message of a ChatRequest; Role is system, user,
// assistant or tool.
type ChatMessage struct {
	Role       string
	Content    string
	ToolCalls  []ToolCall
	ToolCallID string
}

// ToolSpec offers a tool to the model.
type ToolSpec struct {
	Name        string
	Description string
	// Schema is the JSON schema (draft 2020-12) of the arguments.
	Schema json.RawMessage
	// Keywords ask for the tool and its description lacks them; the router reads
	// them, and the model is not shown them.
	Keywords []string `json:"-"`
}

// ToolCall is one call that the model asked for. Arguments is the JSON text
// exactly as received; it may be invalid.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	// Refused is what the model is told of a call that is not carried out;
	// empty for the others.
	Refused string `json:"refused,omitempty"`
}

// RefusedSilence is why a call that ends an exchange without a reply is refused.
const RefusedSilence = "The person is due an answer: they asked, or the exchange before ended in silence. Answer now in one short text."

// ToolResult is what a tool call came to.
type ToolResult struct {
	CallID  string `json:"call_id"`
	Name    string `json:"name"`
	Content string `json:"content"`
	Failed  bool   `json:"failed,omitempty"`
}

// ChatResponse is the first choice of the model's answer.
type ChatResponse struct {
	Text string
	// Thinking is what the model wrote for itself. It may hold personal data and
	// is never shown, stored or sent back.
	Thinking     string
	Calls        []ToolCall
	FinishReason string
	Model        string
	Usage        Usage
	// Second says that the second server answered.
	Second bool
}

// Usage counts what a call used, in tokens; Cached is the part of Prompt that the provider had.
type Usage struct {
	Prompt     int `json:"prompt"`
	Cached     int `json:"cached"`
	Completion int `json:"completion"`
	// Audio is the length of recordings in milliseconds.
	Audio int `json:"audio_ms,omitempty"`
}

// FinishDeclined is the finish reason of a step that the model declined.
const FinishDeclined = "declined"

// ModelErrorClass says what can be done about a failed model call.
type ModelErrorClass string

const (
	// ModelBusy: the same call may succeed later (408, 409, 429, 5xx, network).
	ModelBusy ModelErrorClass = "busy"
	// ModelRefused: the same call will never succeed (other 4xx).
	ModelRefused ModelErrorClass = "refused"
	// ModelDeclined: the model, or a filter of its server, declined to answer.
	ModelDeclined ModelErrorClass = "declined"
	// ModelOverflow: the request is longer than the model's context.
	ModelOverflow ModelErrorClass = "overflow"
	// ModelAuth: the key is invalid or has no quota; an operator must act.
	ModelAuth ModelErrorClass = "auth"
	// ModelNoTools: the model or its server takes no tools or no tool messages;
	// the same request with the tools written out as text may succeed.
	ModelNoTools ModelErrorClass = "no_tools"
)

// UsualModelTimeout is how long an answer of a model is awaited where nothing else is set:
// the other limits of a turn are told for it, and grow with the one that is set, up to
// LongestModelTimeout.
const (
	UsualModelTimeout   = time.Minute
	LongestModelTimeout = 10 * time.Minute
)

// InProportion returns a limit that was told for UsualModelTimeout, for another timeout;
// one of 0 leaves it.
func InProportion(limit, timeout time.Duration) time.Duration {
	if timeout <= 0 {
		return limit
	}
	return time.Duration(float64(limit) * float64(timeout) / float64(UsualModelTimeout))
}

// ModelError is a classified failure of a model call. Error carries neither
// the request nor the key.
type ModelError struct {
	Class      ModelErrorClass
	Status     int           // HTTP status, 0 when no answer came
	RetryAfter time.Duration // what the server asked for, 0 when it did not
	Message    string
	// ContextTokens and PromptTokens are what an overflow says of the context and of
	// the request; 0 where it does not.
	ContextTokens, PromptTokens int
	// TimedOut says that the time for an answer ran out.
	TimedOut bool
}

func (e *ModelError) Error() string { return "model " + string(e.Class) + ": " + e.Message }

// Step is one row of table steps: what the model answered in one step of a
// turn. A retry that finds the row does not call (and pay) again.
type Step struct {
	TurnID string `gorm:"primaryKey"`
	Number int    `gorm:"primaryKey"`
	// AfterMessage is the id of the newest conversation entry the model saw.
	AfterMessage  int64
	Text          string `gorm:"serializer:sealed"`
	Calls         string `gorm:"serializer:sealed"` // JSON of []ToolCall
	FinishReason  string
	Model         string
	PromptVersion string
	Usage         Usage `gorm:"serializer:json"`
	// Trace says how the step came about; its shape is the pipeline's.
	Trace     string `gorm:"serializer:sealed"`
	CreatedAt time.Time
}

// ToolRun is one row of table tool_runs: the result of one call of a step. A
// retry that finds the row does not run the tool again.
type ToolRun struct {
	TurnID    string `gorm:"primaryKey"`
	Step      int    `gorm:"primaryKey"`
	Call      int    `gorm:"primaryKey"`
	Name      string
	Result    string `gorm:"serializer:sealed"` // JSON of ToolResult
	Failed    bool
	CreatedAt time.Time
}

// ToolCommit is what a tool call leaves behind, written in one transaction so
// that a retry after a lost answer finds it done.
type ToolCommit struct {
	Run ToolRun
	// Profile, when not nil, replaces the row if its Version still matches
	// (ErrStale otherwise); the store raises the version.
	Profile *Profile
	// Outcome is noted at the newest sent prompt. Done and partly raise success_count
	// once for it. Empty, or where none was sent, does nothing.
	Outcome PromptOutcome
	// Attention is raised for the participant, with the turn as what raised it; empty
	// raises none.
	Attention wire.Attention
	// PauseUntil holds what we start for the participant until then, in place of a hold
	// of their own; zero only ends that, nil leaves it.
	PauseUntil *time.Time
	// Said, when not nil, is what the call has the person sent in the middle of
	// the turn; ErrStale when the turn is over or the person may not be written to.
	Said *TurnOutcome
}

// ToolCalls decodes the calls of the step; nil when it made none.
func (s Step) ToolCalls() ([]ToolCall, error) {
	if s.Calls == "" {
		return nil, nil
	}
	var calls []ToolCall
	err := json.Unmarshal([]byte(s.Calls), &calls)
	return calls, wrap.Error(err, "decoding tool calls")
}

// ToolResult decodes the stored result.
func (r ToolRun) ToolResult() (ToolResult, error) {
	var result ToolResult
	err := json.Unmarshal([]byte(r.Result), &result)
	return result, wrap.Error(err, "decoding tool result")
}

// AsksPerson ends a recorded request that waits until the person has said that the number
// is still theirs.
const AsksPerson = " person"

// AsksForPerson reports whether a call of a turn waits until the person has said that the
// number is still theirs.
func AsksForPerson(runs []ToolRun) bool {
	return slices.ContainsFunc(runs, func(run ToolRun) bool { return strings.HasSuffix(RequestIn(run.Result), AsksPerson) })
}

// RequestIn returns the request that a stored result of a tool recorded, which begins with
// the tool's name; empty for any other text.
func RequestIn(stored string) string {
	result, err := ToolRun{Result: stored}.ToolResult()
	if err != nil || !result.Failed {
		return ""
	}
	var answer struct {
		Confirm string `json:"confirm"`
	}
	if json.Unmarshal([]byte(result.Content), &answer) != nil || !strings.HasPrefix(answer.Confirm, result.Name+" ") {
		return ""
	}
	return answer.Confirm
}

// StepTrace is what operators read of Step.Trace; the pipeline writes it.
type StepTrace struct {
	Prepared struct {
		Allowed []string `json:"allowed"`
		Label   string   `json:"label"`
		Plan    struct {
			Steps []struct{ Text string }
		} `json:"plan"`
		Memory string `json:"memory"` // personal data
		Newest int64  `json:"newest"`
		Older  *struct {
			Count int    `json:"count"`
			Text  string `json:"text"` // personal data
		} `json:"older"`
	} `json:"prepared"`
	Stages []Stage `json:"stages"`
	// Question is what to ask in the place of a reply that may not go.
	Question string `json:"question"`
}

// StandInQuestion returns what to ask in the place of a reply whose newest step wrote
// nothing that may go; empty where the model itself gave no answer.
func StandInQuestion(steps []Step) string {
	if len(steps) == 0 {
		return ""
	}
	trace, _ := steps[len(steps)-1].StepTrace()
	return trace.Question
}

// StepTrace decodes how the step came about; ok is false where nothing was
// kept, where it was erased because something was to be forgotten, and where it
// has another shape.
func (s Step) StepTrace() (trace StepTrace, ok bool) {
	err := json.Unmarshal([]byte(s.Trace), &trace)
	return trace, err == nil
}

// Spent is what the chat model was answered with in the step: all calls of it
// where the trace tells, else the one that the step kept.
func (s Step) Spent() Usage {
	var sum Usage
	trace, _ := s.StepTrace()
	for _, stage := range trace.Stages {
		sum = sum.Plus(stage.Usage)
	}
	if sum == (Usage{}) {
		return s.Usage
	}
	return sum
}

// ModelCalls returns the calls of models in the step: those that its trace lists,
// or the one that it kept where the trace was erased. A step that asked no model
// has none.
func (s Step) ModelCalls() []Stage {
	var out []Stage
	trace, _ := s.StepTrace()
	for _, stage := range trace.Stages {
		if stage.Model != "" || stage.Usage != (Usage{}) {
			out = append(out, stage)
		}
	}
	if len(out) == 0 && (s.Model != "" || s.Usage != (Usage{})) {
		out = append(out, Stage{Name: StageModel, Model: s.Model, Usage: s.Usage})
	}
	return out
}

// Plus adds two counts.
func (u Usage) Plus(other Usage) Usage {
	return Usage{Prompt: u.Prompt + other.Prompt, Cached: u.Cached + other.Cached, Completion: u.Completion + other.Completion, Audio: u.Audio + other.Audio}
}
