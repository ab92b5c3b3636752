// Package sizes measures what turns send to a model, by part, for tests and
// benchmarks: the requests of one person whose days are made up.
package sizes

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"coachline/internal/agent"
	"coachline/internal/agent/marks"
	"coachline/internal/agent/toolcall"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// perToken is how many characters of these texts make a token: a tokenizer of 200,000
// words counts 3.9.
const perToken = 3.9

// Size is how many tokens a request has, by part. Shared are those of the beginning
// that the request before it had too.
type Size struct {
	Name  string
	Small bool
	// IsPlain says that it is one of an ordinary text of a person with a history.
	IsPlain bool
	// Common is the same for all people, Person what is known of this one.
	Common, Tools, Person, History, Notes, Total, Shared int
	Request                                              models.ChatRequest
}

// SharedPercent returns the part of a request that the one before it had too.
func (s Size) SharedPercent() int { return 100 * s.Shared / max(s.Total, 1) }

// Names are the columns of a table of sizes.
const Names = "request              common  tools person history  notes  total shared"

// Title names the request and the model.
func (s Size) Title() string {
	if s.Small {
		return s.Name + ", small"
	}
	return s.Name
}

func (s Size) String() string {
	return fmt.Sprintf("%-20s %6d %6d %6d %7d %6d %6d %5d%%", s.Title(), s.Common, s.Tools, s.Person, s.History, s.Notes, s.Total, s.SharedPercent())
}

// Measure returns the sizes of a greeting, of "hi", and of plain turns after 1, 20 and
// 60 days, for a large and for a small model. It fails when a request cannot be
// composed.
func Measure(ctx context.Context) ([]Size, error) {
	var out []Size
	for _, model := range []string{"gpt-4.1", "llama-3.2-3b"} {
		m, err := newMeter(model)
		if err != nil {
			return nil, err
		}
		for _, one := range []struct {
			name string
			days int
			kind wire.TurnKind
			text string
		}{{"greeting", 0, wire.TurnGreeting, ""}, {"hi", 0, wire.TurnReply, "hi"}, {"day 1", 1, wire.TurnReply, ""}, {"day 20", 20, wire.TurnReply, ""}, {"day 60", 60, wire.TurnReply, ""}} {
			size, err := m.measure(ctx, newPerson(one.days), one.kind, one.text)
			if err != nil {
				return nil, fmt.Errorf("measuring %s: %w", one.name, err)
			}
			size.Name, size.Small, size.IsPlain = one.name, model != "gpt-4.1", one.days >= 20
			out = append(out, size)
		}
	}
	return out, nil
}

// newMeter returns an agent whose model, of a name, counts and keeps what it is asked.
func newMeter(model string) (*meter, error) {
	lib, err := prompts.Load("")
	if err != nil {
		return nil, fmt.Errorf("loading prompts: %w", err)
	}
	registry, err := tools.New(tools.PlaybookTools(lib)...)
	if err != nil {
		return nil, fmt.Errorf("building tools: %w", err)
	}
	m := &meter{registry: registry}
	m.agent = agent.New(agent.Config{
		Prompts: lib, Model: m, Memory: nothing{}, Diary: nothing{}, Journal: nothing{}, Steps: m, Zones: time.LoadLocation,
		Now:      func() time.Time { return m.now },
		Settings: agent.Settings{ChatModel: model, SmallModel: model, Hot: 30 * time.Minute, Programme: "Coachline", HistoryLimit: 30, Advice: models.AdviceNone},
	})
	return m, nil
}

// replies are what the model answers, one after the other: none is said twice.
var replies = []string{
	"Nice to hear from you, Ada. How was the walk?", "Two minutes on the stairs counts. What helped you to begin?",
	"Good to know. What would make tomorrow easy?", "You kept at it on a busy day. Which part went best?", "That is a start. When is the next quiet moment?",
	"Petra is good company. Will she come along again?", "Once a day is plenty. What draws you to a second round?", "Rest counts too. How did you sleep?",
	"Rain and all. What got you out of the door?", "You said that the old ones pinch. Are the new ones better?", "Half is more than none. Which half was it?",
	"Longer than planned sounds like fun. What did you see?",
}

// meter is a model that keeps what it is sent.
type meter struct {
	nothing
	agent    *agent.Agent
	registry *tools.Registry
	now      time.Time
	newest   models.ChatRequest
	step     models.Step
	// answered counts the calls, said the replies among them.
	answered, said int
}

// LastStep returns the step before, as the store does.
func (m *meter) LastStep(context.Context, string, int, time.Time) (models.Step, error) {
	return m.step, nil
}

// Complete keeps the request and answers it.
func (m *meter) Complete(_ context.Context, req models.ChatRequest) (models.ChatResponse, error) {
	m.newest = req
	m.answered++
	if req.JSON {
		return models.ChatResponse{Text: `{"facts":[],"note":"Talked.","summary":"They talk.","keywords":["shoes"]}`, Model: req.Model}, nil
	}
	m.said++
	return models.ChatResponse{Text: replies[m.said%len(replies)], Model: req.Model}, nil
}

// measure has a person's turn after the turn before it.
func (m *meter) measure(ctx context.Context, p *person, kind wire.TurnKind, text string) (Size, error) {
	texts := []string{"I did two minutes on the stairs", "and it felt good"}
	if text != "" {
		texts = []string{"hello", text}
	}
	var before models.ChatRequest
	m.step = models.Step{}
	for _, one := range texts {
		m.now = p.at
		if err := m.take(ctx, p, kind, one); err != nil {
			return Size{}, err
		}
		if before.Messages == nil {
			before = m.newest
		}
		if kind == wire.TurnGreeting {
			p = newPerson(0)
			p.person.Name = "Bo"
		}
	}
	return sizeOf(m.newest, before), nil
}

func sizeOf(req, before models.ChatRequest) Size {
	count := func(text string) int {
		return toolcall.Tokens(models.ChatRequest{Messages: []models.ChatMessage{{Content: text}}}, perToken)
	}
	system := req.Messages[0].Content
	common, person, _ := strings.Cut(system, "\n# Participant\n")
	last := req.Messages[len(req.Messages)-1].Content
	_, notes, _ := strings.Cut(last, marks.Notes)
	out := Size{Request: req, Common: count(common), Person: count(person), Notes: count(notes), Total: toolcall.Tokens(req, perToken)}
	out.Tools = toolcall.Tokens(models.ChatRequest{Tools: req.Tools}, perToken)
	out.History = out.Total - out.Common - out.Person - out.Notes - out.Tools
	a, b := written(req), written(before)
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	out.Shared = out.Total * same / len(a)
	return out
}

// written returns a request in the order in which a server reads it.
func written(req models.ChatRequest) string {
	var out strings.Builder
	for _, tool := range req.Tools {
		fmt.Fprintf(&out, "%s %s %s\n", tool.Name, tool.Description, tool.Schema)
	}
	for _, message := range req.Messages {
		calls, err := json.Marshal(message.ToolCalls)
		if err != nil {
			calls = nil
		}
		fmt.Fprintf(&out, "%s %s %s\n", message.Role, message.Content, calls)
	}
	return out.String()
}
