package sizes

import (
	"context"
	"fmt"
	"time"

	"coachline/internal/agent"
	"coachline/models"
	"coachline/models/wire"
)

// Calls is how many calls of a model a kind of conversation needs, with all that is kept
// of it.
type Calls struct {
	Name  string
	Calls int
	// Turns are the replies or prompts that they are for, Limit the most calls for one.
	Turns int
	Limit float64
}

// PerTurn returns the calls for a reply or a prompt.
func (c Calls) PerTurn() float64 { return float64(c.Calls) / float64(c.Turns) }

// dayTexts are what people write of their days; question asks what was said before, which
// takes one call more where it is looked up.
const question = "what did I say about my old shoes?"

var dayTexts = []string{
	"did it, ten minutes after breakfast", "not today, the meeting ran late", "my knee was sore so I went slower", "walked to the river with Petra",
	"I will go twice tomorrow", "skipped it, too tired", "did it in the rain even", "and again today", "half of it, before lunch", "longer than planned, it felt good",
}

// CountCalls counts, without looks at advice, the calls of ten texts that follow each other, of ten days with a text
// each, of a question about what was said before, and of ten daily prompts. It fails when a request cannot be composed.
func CountCalls(ctx context.Context) ([]Calls, error) {
	conversation := append([]string{question}, dayTexts[1:]...)
	ten := Calls{Name: "a conversation of ten texts", Turns: len(conversation), Limit: 1.2}
	single := Calls{Name: "a text a day", Turns: len(dayTexts), Limit: 2}
	asked := Calls{Name: "a question of what was said before", Turns: 1, Limit: 3}
	prompts := Calls{Name: "a daily prompt", Turns: len(dayTexts), Limit: 1}
	for _, one := range []struct {
		calls *Calls
		kind  wire.TurnKind
		texts []string
		rests bool // after each text
	}{{&ten, wire.TurnReply, conversation, false}, {&single, wire.TurnReply, dayTexts, true}, {&asked, wire.TurnReply, conversation[:1], true}, {&prompts, wire.TurnPrompt, dayTexts, false}} {
		m, err := newMeter("gpt-4.1")
		if err != nil {
			return nil, err
		}
		p := newPerson(20)
		for i, text := range one.texts {
			m.now = p.at
			if err := m.take(ctx, p, one.kind, text); err != nil {
				return nil, fmt.Errorf("counting calls of %s: %w", one.calls.Name, err)
			}
			if one.kind == wire.TurnReply && (one.rests || i == len(one.texts)-1) {
				m.now = p.at.Add(time.Hour)
				if err := m.agent.Remember(ctx, p.context(wire.TurnReply)); err != nil {
					return nil, fmt.Errorf("counting calls of %s: %w", one.calls.Name, err)
				}
				p.at = p.at.Add(23 * time.Hour)
			}
		}
		one.calls.Calls = m.answered
	}
	return []Calls{ten, single, asked, prompts}, nil
}

// take has a person's turn.
func (m *meter) take(ctx context.Context, p *person, kind wire.TurnKind, text string) error {
	turn := p.begin(kind, text)
	step, err := m.agent.Respond(ctx, agent.StepInput{
		Input: wire.CallModelInput{ParticipantID: p.id, TurnID: turn.Turn.ID, Step: 1, Mode: turn.Turn.Mode, Kind: kind}, Context: turn, Offer: agent.NewOffer(m.registry, turn.Turn.Mode, turn.Profile, models.Rights{}),
	})
	if err != nil {
		return err
	}
	m.step = step
	p.end(step.Text)
	return nil
}
