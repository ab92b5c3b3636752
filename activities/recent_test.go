package activities_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/activities"
	"coachline/internal/agent"
	"coachline/internal/store"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// countedEndings counts how often the end of a turn is read.
type countedEndings struct {
	*store.Turns
	read int
}

func (e *countedEndings) EndingTurn(ctx context.Context, turnID string) (models.TurnContext, error) {
	e.read++
	return e.Turns.EndingTurn(ctx, turnID)
}

// hear has a participant's text answered by a worker: its next turn, up to the
// end of its first step.
func (w *storeFixture) hear(talk *activities.ModelActivities, text string) (turn string) {
	w.t.Helper()
	w.number++
	turn = models.TurnID(ann, w.number)
	in, err := w.people.Inbound.AcceptInbound(w.t.Context(), models.Inbound{ProviderSID: turn, From: "+12025550123", Body: text, ReceivedAt: now})
	require.NoError(w.t, err)
	_, err = w.env.ExecuteActivity(talk.CallModel, wire.CallModelInput{
		ParticipantID: ann, TurnID: turn, Step: 1, Mode: wire.ModeIntake, Kind: wire.TurnReply,
		Begin: &wire.PrepareTurnInput{
			ParticipantID: ann, TurnID: turn, Number: w.number, Mode: wire.ModeIntake,
			Plan: wire.TurnPlan{Kind: wire.TurnReply}, InboundIDs: []int64{in.Inbound.ID}, Now: now,
		},
	})
	require.NoError(w.t, err)
	return turn
}

func TestAnEndIsNotReadAgain(t *testing.T) {
	w := newStoreFixture(t)
	registry, err := tools.New()
	require.NoError(t, err)
	library, err := prompts.Load("")
	require.NoError(t, err)
	rows := &countedEndings{Turns: w.people.Turns}
	w.closing.Turns.Store, w.closing.Turns.Recent = rows, activities.NewRecent()
	talk := &activities.ModelActivities{Turns: w.closing.Turns, Store: w.people.Turns, Attention: w.people.Attention, Tools: registry, Replies: agent.New(agent.Config{
		Prompts: library, Model: w.model, Journal: nothingKept{}, Steps: w.people.Memory, Zones: time.LoadLocation, Now: fixed,
		Settings: agent.Settings{ChatModel: "gpt-4.1", HistoryLimit: 30},
	})}
	w.env.RegisterActivity(talk)

	w.model.answer = models.ChatResponse{Text: "Well done."}
	first := w.hear(talk, "I have a bad knee")
	out, err := w.send(ann, first, wire.SourceStep)
	require.NoError(t, err)
	require.Equal(t, wire.OutboxQueued, out.First.Status)
	require.Zero(t, rows.read, "the worker has just stored the round")
	kept, err := w.people.Turns.EndingTurn(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, "step", kept.Turn.Outcome)
	require.Equal(t, []string{"I have a bad knee", "Well done."}, []string{kept.Window[0].Text, kept.Window[1].Text})
	require.Equal(t, []string{first}, w.later.started, "what is worth remembering is seen without reading")

	again, err := w.send(ann, first, wire.SourceStep)
	require.NoError(t, err)
	require.Equal(t, out.First, again.First)
	require.Equal(t, []int{1, 1}, []int{rows.read, w.carrier.sends}, "a retry reads what the first attempt left")

	t.Run("a round by another worker", func(t *testing.T) {
		second := w.hear(talk, "and a walk")
		_, err := w.people.Turns.SaveStep(t.Context(), models.Step{TurnID: second, Number: 2, Text: "Great.", CreatedAt: now})
		require.NoError(t, err)
		_, err = w.env.ExecuteActivity(w.closing.SendTurn, wire.SendTurnInput{End: wire.PersistTurnInput{
			ParticipantID: ann, TurnID: second, Mode: wire.ModeIntake, Plan: wire.TurnPlan{Kind: wire.TurnReply},
			Source: wire.SourceStep, Step: 2, Now: now,
		}})
		require.NoError(t, err)
		require.Equal(t, 2, rows.read)
		row, err := w.people.Outbox.Row(t.Context(), models.OutboxID(second, 1))
		require.NoError(t, err)
		require.Equal(t, "Great.", row.Body)
	})
	t.Run("a round that calls is not the last", func(t *testing.T) {
		w.model.answer = models.ChatResponse{Text: "One moment.", Calls: []models.ToolCall{{ID: "a", Name: "scheduler", Arguments: "{}"}}}
		third := w.hear(talk, "at eight")
		_, err := w.send(ann, third, wire.SourceStep)
		require.NoError(t, err)
		require.Equal(t, 3, rows.read)
	})
	t.Run("another end than by the model's words", func(t *testing.T) {
		w.model.answer = models.ChatResponse{Text: "Good."}
		fourth := w.hear(talk, "at nine")
		_, err := w.send(ann, fourth, wire.SourceFallback)
		require.NoError(t, err)
		require.Equal(t, 4, rows.read)
	})
}
