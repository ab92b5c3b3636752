package models

import (
	"slices"
	"strings"
	"time"
)

// StageName is a stage of a reply (see docs/design.md).
type StageName string

const (
	StageRedact      StageName = "redact"
	StageFocus       StageName = "focus"
	StageRoute       StageName = "route"
	StagePlan        StageName = "plan"
	StageRecallCheck StageName = "gate"
	StageExtract     StageName = "extract"
	StageEmbed       StageName = "embed"
	StageRecall      StageName = "recall"
	StageDigest      StageName = "digest"
	StageModel       StageName = "model"
	StageGuard       StageName = "guard"
	StageScreen      StageName = "screen"
	StageLook        StageName = "look"
	// StageAdvice judges a draft before it is sent; its output is the draft.
	StageAdvice StageName = "advice"
	StageTool   StageName = "tool"
	StageLimit  StageName = "limit"
	// StageMemory remembers before a reply, StageClosing when the conversation
	// rests.
	StageMemory  StageName = "memory"
	StageClosing StageName = "closing"
	StageCheckIn StageName = "check_in"
	// StageTranscribe wrote a voice note down.
	StageTranscribe StageName = "transcribe"
	// StageLost is a call of a model whose answer was lost, with the worker that
	// waited for it or on its way: what it used, only the provider knows.
	StageLost StageName = "lost"
)

// Stage is one row of table stages: a stage that ran in a turn, what it
// decided, and what it cost. A stage that asked a model keeps the answer, so
// that a retry with the same input does not pay twice.
type Stage struct {
	TurnID string `gorm:"primaryKey"`
	// Number orders the stages of a turn, from 1.
	Number int `gorm:"primaryKey"`
	Name   StageName
	// Decision is a short code such as "gate skip 0.75"; no personal data.
	Decision string
	// InputHash tells one input of the stage from another.
	InputHash string
	// Output is empty where no model was asked, and after the person had
	// something forgotten.
	Output    string `gorm:"serializer:sealed"`
	Model     string
	Usage     Usage `gorm:"serializer:json"`
	Millis    int64
	CreatedAt time.Time
}

// failedCall begins the decision of a stage that says why a model gave no answer.
const failedCall = "model failed "

// DescribeFailure is the decision of a stage for a call of the chat model that gave no
// answer, such as "model failed time_out: no answer in time". It holds no personal data.
func DescribeFailure(err *ModelError) string {
	class := string(err.Class)
	if err.TimedOut {
		class = "time_out"
	}
	return failedCall + class + ": " + err.Message
}

// FallbackReason says why a turn ended with the fixed text of an outage: the newest failure
// of the model, or what the guard found in its last answer. kind is one word (time_out, busy,
// refused, declined, overflow, auth, no_tools, guard; other where nothing is on record),
// detail is for people.
func FallbackReason(steps []Step, stages []Stage) (kind, detail string) {
	var newest Stage
	for _, stage := range stages {
		if stage.Name == StageModel && strings.HasPrefix(stage.Decision, failedCall) && !stage.CreatedAt.Before(newest.CreatedAt) {
			newest = stage
		}
	}
	var found []string
	for _, step := range steps {
		if step.Text != "" || step.Calls != "" || step.CreatedAt.Before(newest.CreatedAt) {
			continue
		}
		trace, _ := step.StepTrace()
		for _, stage := range trace.Stages {
			if stage.Name == StageGuard && !slices.Contains(found, stage.Decision) {
				found = append(found, stage.Decision)
			}
		}
	}
	if len(found) > 0 {
		return string(StageGuard), strings.Join(found, ", ")
	}
	kind, _, known := strings.Cut(strings.TrimPrefix(newest.Decision, failedCall), ":")
	if !known {
		return "other", ""
	}
	return kind, newest.Decision
}

// Protocol is how a model is offered tools.
type Protocol string

const (
	// ProtocolNative: the tools field of the API.
	ProtocolNative Protocol = "native"
	// ProtocolText: fenced calls in plain text.
	ProtocolText Protocol = "text"
	// ProtocolTwoPhase: one JSON answer picks a tool, a second one fills it in.
	ProtocolTwoPhase Protocol = "two_phase"
)

// ModelSize is the class of a model that prompts are fitted to.
type ModelSize string

const (
	SizeSmall ModelSize = "small"
	SizeLarge ModelSize = "large"
)

// CapabilitySource says where something of a Capability comes from.
type CapabilitySource string

const (
	FromSetting  CapabilitySource = "setting"
	FromServer   CapabilitySource = "server"
	FromOverflow CapabilitySource = "overflow"
	FromName     CapabilitySource = "name"
)

// ModelFacts is what a server says of a model; 0 where it says nothing.
type ModelFacts struct {
	// ContextTokens bounds a request with its answer.
	ContextTokens int
	// Billions is how many parameters the model has.
	Billions float64
}

// Capability is one row of table capabilities: what is known of a model at an
// endpoint. Kept are the protocol that was learnt from a refusal, the context that
// an overflow named, and what was measured; the rest is known anew in each process.
type Capability struct {
	Model    string `gorm:"primaryKey"`
	Endpoint string `gorm:"primaryKey"`
	Protocol Protocol
	Size     ModelSize
	// ContextTokens bounds a request with its answer; 0 is unknown.
	ContextTokens int
	// SizeSource and ContextSource say where size and context come from.
	SizeSource    CapabilitySource `gorm:"-"`
	ContextSource CapabilitySource
	// AnswerTokens is kept of the context for an answer.
	AnswerTokens int `gorm:"-"`
	// CharactersPerToken and TokensPerSecond are measured, the latter with an answer's
	// token as five that are read; 0 before the first answer.
	CharactersPerToken, TokensPerSecond float64
	// Reason says where the protocol comes from: "name", "setting", "refused".
	Reason   string
	LearntAt time.Time
}
