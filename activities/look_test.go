package activities_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/activities"
	"coachline/internal/agent"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// looker is a model whose second look says one thing and whose reply another.
func (w *storeFixture) looker(answer string, err error) *activities.ModelActivities {
	w.t.Helper()
	registry, regErr := tools.New()
	require.NoError(w.t, regErr)
	library, libErr := prompts.Load("")
	require.NoError(w.t, libErr)
	w.model.ask = func(req models.ChatRequest) (models.ChatResponse, error) {
		if req.JSON {
			return models.ChatResponse{Text: answer}, err
		}
		return models.ChatResponse{Text: "Well done."}, nil
	}
	talk := &activities.ModelActivities{Turns: w.closing.Turns, Store: w.people.Turns, Attention: w.people.Attention, Looks: w.people.Looks, Tools: registry, Now: fixed, Replies: agent.New(agent.Config{
		Prompts: library, Model: w.model, Journal: nothingKept{}, Zones: time.LoadLocation, Now: fixed,
		Settings: agent.Settings{ChatModel: "gpt-4.1", SmallModel: "gpt-4.1-mini", HistoryLimit: 30},
	})}
	w.env.RegisterActivity(talk)
	return talk
}

const weakSign = "i feel worthless"

// A weak sign is read once more before anything is answered: without danger the coach
// answers, otherwise the safety text does and the turn has no reply. A model that fails
// or writes something else leaves the sign possible.
func TestSecondLookInTheTurn(t *testing.T) {
	for name, c := range map[string]struct {
		answer  string
		err     error
		look    models.LookState
		outcome string
	}{
		"none":     {answer: `{"danger":"none","about":"general","kind":"other","reason":"a joke"}`, look: models.LookNone},
		"possible": {answer: `{"danger":"possible","about":"self","kind":"other","reason":"low"}`, look: models.LookPossible, outcome: models.OutcomeSafety},
		"clear":    {answer: `{"danger":"clear","about":"self","kind":"suicide","reason":"plan"}`, look: models.LookClear, outcome: models.OutcomeSafety},
		"prose":    {answer: "I am sorry that you feel that way.", look: models.LookFailed, outcome: models.OutcomeSafety},
		"refused":  {err: &models.ModelError{Class: models.ModelRefused}, look: models.LookFailed, outcome: models.OutcomeSafety},
		"down":     {err: errors.New("connection refused"), look: models.LookFailed, outcome: models.OutcomeSafety},
	} {
		t.Run(name, func(t *testing.T) {
			w := newStoreFixture(t)
			turn := w.hear(w.looker(c.answer, c.err), weakSign)
			kept, err := w.people.Turns.TurnContext(t.Context(), turn, 10)
			require.NoError(t, err)
			require.Equal(t, c.outcome, kept.Turn.Outcome)
			require.Equal(t, c.outcome == "", len(kept.Steps) == 1, "a reply only without danger")
			alerts, err := w.people.Alerts.List(t.Context(), models.AlertQuery{Limit: 10})
			require.NoError(t, err)
			require.Len(t, alerts, 1)
			require.Equal(t, c.look, alerts[0].Look)
			require.Equal(t, c.outcome != "", alerts[0].Answer)
			require.Equal(t, c.look == models.LookClear, alerts[0].Pages)
		})
	}
}

// An ordinary message costs no second look.
func TestOrdinaryMessageHasNoSecondLook(t *testing.T) {
	w := newStoreFixture(t)
	talk := w.looker("", errors.New("asked"))
	w.hear(talk, "I walked to the shop and bought bread")
	alerts, err := w.people.Alerts.List(t.Context(), models.AlertQuery{Limit: 10})
	require.NoError(t, err)
	require.Empty(t, alerts)
	require.Equal(t, 1, w.model.calls)
}

// A message that came with a weak sign is answered by the coach.
func TestSecondLookLeavesOtherMessages(t *testing.T) {
	w := newStoreFixture(t)
	talk := w.looker(`{"danger":"possible","about":"self","kind":"other","reason":"low"}`, nil)
	w.number++
	turn := models.TurnID(ann, w.number)
	var ids []int64
	for i, body := range []string{weakSign, "please text me at nine"} {
		in, err := w.people.Inbound.AcceptInbound(t.Context(), models.Inbound{ProviderSID: turn + strconv.Itoa(i), From: "+12025550123", Body: body, ReceivedAt: now})
		require.NoError(t, err)
		ids = append(ids, in.Inbound.ID)
	}
	_, err := w.env.ExecuteActivity(talk.CallModel, wire.CallModelInput{
		ParticipantID: ann, TurnID: turn, Step: 1, Mode: wire.ModeIntake, Kind: wire.TurnReply,
		Begin: &wire.PrepareTurnInput{
			ParticipantID: ann, TurnID: turn, Number: w.number, Mode: wire.ModeIntake,
			Plan: wire.TurnPlan{Kind: wire.TurnReply}, InboundIDs: ids, Now: now,
		},
	})
	require.NoError(t, err)
	kept, err := w.people.Turns.TurnContext(t.Context(), turn, 10)
	require.NoError(t, err)
	require.Empty(t, kept.Turn.Outcome)
	require.Len(t, kept.Steps, 1)
	alerts, err := w.people.Alerts.List(t.Context(), models.AlertQuery{Limit: 10})
	require.NoError(t, err)
	require.Len(t, alerts, 1)
	require.True(t, alerts[0].Answer, "the safety text goes out too")
}
