package agent_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent"
	"coachline/models"
	"coachline/models/wire"
)

// plainReply answers everything with the same text.
type plainReply struct{}

func (plainReply) Complete(_ context.Context, req models.ChatRequest) (models.ChatResponse, error) {
	text := "Nice, two minutes is a fine start. After your morning coffee, what would be the easiest way to begin tomorrow?"
	return models.ChatResponse{Text: text, FinishReason: "stop", Model: req.Model}, nil
}

// BenchmarkRespond is one step of a plain reply as a worker meets it: the
// conversation was seen before, but for its newest two entries.
func BenchmarkRespond(b *testing.B) {
	w := newWorld(b)
	w.settings.Router = "auto"
	for i := range 24 {
		w.number = i
		w.addEntry(models.Message{TurnID: w.turnID(), Role: models.RoleUser, Kind: models.KindMessage, Text: fmt.Sprintf("I walked for %d minutes before lunch and it was fine", i)})
		w.addEntry(models.Message{TurnID: w.turnID(), Role: models.RoleAssistant, Kind: models.KindReply, Text: fmt.Sprintf("That makes %d walks since you began. What made it easy today?", i)})
	}
	w.number = 24
	w.addEntry(models.Message{TurnID: w.turnID(), Role: models.RoleAssistant, Kind: models.KindPrompt})
	w.addText("")
	pipe := agent.New(agent.Config{
		Prompts: w.library, Model: plainReply{}, Embedder: w.vectors, Memory: w.rows, Diary: w.rows, Journal: w.rows, Steps: w.rows,
		Zones: time.LoadLocation, Now: func() time.Time { return w.now }, Settings: w.settings,
	})
	known := w.turnContext()
	require.Len(b, known.Window, 50)
	in := wire.CallModelInput{ParticipantID: ann, TurnID: w.turnID(), Step: 1, Mode: w.mode, Kind: w.kind}
	turn := 0
	b.ReportAllocs()
	for b.Loop() {
		turn++
		known.Window[48].Text = fmt.Sprintf("Time for step %d: two minutes of walking after your coffee.", turn)
		known.Window[49].Text = fmt.Sprintf("Done, %d minutes today, can you remind me at eight tomorrow?", turn)
		step, err := pipe.Respond(context.Background(), agent.StepInput{Input: in, Context: known, Offer: w.offer})
		if err != nil || step.Text == "" {
			b.Fatal(step, err)
		}
	}
}
