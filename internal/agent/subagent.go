package agent

import (
	"fmt"
	"time"

	"coachline/internal/agent/marks"
	"coachline/models"
	"coachline/prompts"
)

// subagentTokens bounds each answer of a subagent.
const subagentTokens = 4096

// SubagentInput is what a step of a subagent is written from: the task, and of
// Context the person, the tone, and the steps so far.
type SubagentInput struct {
	Context   models.TurnContext
	Task      string
	Tools     []models.ToolSpec
	Now       time.Time
	Zone      *time.Location
	Model     string
	Programme string
}

// ComposeSubagent builds the request for one step of a subagent: its task
// stands in the place of the person's text, and nothing of the conversation is
// in it. It fails when a text cannot be rendered or a stored call not be read.
func ComposeSubagent(lib *prompts.Library, in SubagentInput) (models.ChatRequest, error) {
	w := sectionWriter{lib: lib, programme: in.Programme, tools: toolNames(in.Tools)}
	w.addPrompt("Task of a helper", prompts.Subagent)
	w.addSection("Participant", participantLines(in.Context.Participant, in.Zone))
	w.addTone(in.Context.Profile.Tone, in.Context.Participant, in.Now)
	if len(in.Tools) == 0 {
		w.addPrompt("This round", prompts.NoTools)
	}
	w.addSection("Now", []string{clockLine(in.Now, in.Zone)})
	if w.err != nil {
		return models.ChatRequest{}, fmt.Errorf("writing system message: %w", w.err)
	}
	steps, err := stepsOf(in.Context)
	if err != nil {
		return models.ChatRequest{}, fmt.Errorf("reading steps of the subagent: %w", err)
	}
	messages := []models.ChatMessage{{Role: roleSystem, Content: joinSections(w.sections)}, {Role: roleUser, Content: marks.Task + in.Task}}
	for _, r := range steps {
		messages = append(messages, r.messages...)
	}
	return models.ChatRequest{Model: in.Model, Messages: messages, Tools: in.Tools, MaxTokens: subagentTokens}, nil
}
