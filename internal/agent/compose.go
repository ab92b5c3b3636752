package agent

import (
	"fmt"
	"strings"
	"time"

	"coachline/internal/agent/marks"
	"coachline/internal/helplines"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// Chat roles of an OpenAI-compatible request.
const (
	roleSystem    = "system"
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"
)

// Input is what one step of a turn is composed from. A nil Zone is UTC, an
// empty Programme is prompts.DefaultProgramme, an unknown Mode is INTAKE.
// HistoryLimit bounds the conversation entries as Window says. No Tools means
// that the model is asked for a text only.
type Input struct {
	Context models.TurnContext
	Mode    wire.Mode
	Kind    wire.TurnKind
	// Introduce says that the reply is the first message that the person gets
	// from the programme.
	Introduce bool
	// Feedback is how far the collecting of feedback is.
	Feedback     wire.FeedbackStage
	Tools        []models.ToolSpec
	Now          time.Time
	Zone         *time.Location
	HistoryLimit int
	Model        string
	Programme    string
	// IsSmall says that a small model reads it: it has a persona and a mode of its own, and
	// its last line is the next question.
	IsSmall bool
	// AlertsTeam says that an open crisis was paged to a person of the team.
	AlertsTeam bool
	// Lines are the numbers of the person's country.
	Lines helplines.Lines
	// Memory is the block of what is remembered of the person, Plan the section
	// of the steps to take; both may be empty. Guidance travels with the newest
	// result of a tool, never as a message of its own.
	Memory, Plan, Guidance string
	// Profile is the Profile section of the turn's first request, empty for that of now.
	Profile string
	// Focus is the operator's text for this turn, empty for none.
	// Playbooks says that the tool that reads them is among Tools.
	Focus     string
	Playbooks bool
}

// Compose builds the request for one step: one system message, the window of
// the conversation with notes behind the texts that are answered, then this turn's
// steps so far. What is equal for all people comes first, then what is known of this
// one, and what changes from turn to turn, the clock among it, stands in the notes, so
// that a prompt cache keeps hitting. It fails when a text cannot be rendered or a stored step
// cannot be read; the same input gives the same request, so a retry is safe
// and pointless.
func Compose(lib *prompts.Library, in Input) (models.ChatRequest, error) {
	if !in.Mode.Known() {
		in.Mode = wire.ModeIntake
	}
	if in.Zone == nil {
		in.Zone = time.UTC
	}
	system, notes, err := systemMessage(lib, in)
	if err != nil {
		return models.ChatRequest{}, fmt.Errorf("writing system message: %w", err)
	}
	steps, err := stepsOf(in.Context)
	if err != nil {
		return models.ChatRequest{}, fmt.Errorf("reading steps of the turn: %w", err)
	}
	addGuidance(steps, in.Guidance)
	cue, err := cueFor(lib, in)
	if err != nil {
		return models.ChatRequest{}, fmt.Errorf("writing cue: %w", err)
	}
	first := models.ChatMessage{Role: roleSystem, Content: system}
	return models.ChatRequest{Model: in.Model, Messages: interleaveSteps(first, in, steps, ending{cue, notes}), Tools: in.Tools}, nil
}

// cueFor returns the user message that starts a turn which no text started. It
// is empty for replies.
func cueFor(lib *prompts.Library, in Input) (string, error) {
	switch in.Kind { //nolint:exhaustive // the others have none
	case wire.TurnGreeting:
		text, err := lib.Render(prompts.GreetingHint, prompts.PersonaData{Programme: in.Programme})
		return marks.Hint + text, err
	case wire.TurnPrompt:
		text, err := lib.Render(prompts.HabitPromptRequest, prompts.RequestData{Notes: toOneLine(in.Context.Instruction)})
		return marks.Task + text, err
	}
	return "", nil
}

// addGuidance appends a note to the newest result.
func addGuidance(steps []toolStep, note string) {
	if len(steps) == 0 || note == "" {
		return
	}
	messages := steps[len(steps)-1].messages
	messages[len(messages)-1].Content += "\n\n" + note
}

// ending is what a request has behind the entries that the turn began with: a cue where
// no text began it, and notes.
type ending struct{ cue, notes string }

// addTo adds the cue and the notes to the messages. Notes stand in the user message that
// they follow.
func (e ending) addTo(messages []models.ChatMessage) []models.ChatMessage {
	if e.cue != "" {
		messages = append(messages, models.ChatMessage{Role: roleUser, Content: e.cue})
	}
	if e.notes == "" {
		return messages
	}
	last := len(messages) - 1
	if messages[last].Role != roleUser {
		return append(messages, models.ChatMessage{Role: roleUser, Content: strings.TrimSpace(marks.Notes + e.notes)})
	}
	messages[last].Content += marks.Notes + e.notes
	return messages
}

// interleaveSteps puts the steps of the turn among the entries, after the
// first message: each step stands after what the model had seen when it
// answered and before texts that came later. The ending stands before the first
// step.
func interleaveSteps(first models.ChatMessage, in Input, steps []toolStep, end ending) []models.ChatMessage {
	entries := Window(in.Context.Window, in.Context.Turn.ID, in.HistoryLimit)
	out := append(make([]models.ChatMessage, 0, len(entries)+2), first)
	next := 0
	for i, r := range steps {
		for next < len(entries) && entries[next].ID <= r.after {
			out = append(out, chatMessage(entries[next], in))
			next++
		}
		if i == 0 {
			out = end.addTo(out)
		}
		out = append(out, r.messages...)
	}
	for _, entry := range entries[next:] {
		out = append(out, chatMessage(entry, in))
	}
	if len(steps) == 0 {
		out = end.addTo(out)
	}
	return out
}
