package activities_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/activities"
	"coachline/internal/coach"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
)

// A removal through Temporal takes a person out once, and again changes nothing.
func TestRemoveThroughTemporal(t *testing.T) {
	w := newStoreFixture(t)
	removal := &activities.RemovalActivities{Store: w.people.People}
	for range 2 {
		require.NoError(t, removal.RemoveParticipant(t.Context(), wire.RemoveParticipantInput{ParticipantID: ann, Now: now}))
	}
	require.NoError(t, removal.RemoveParticipant(t.Context(), wire.RemoveParticipantInput{ParticipantID: "conv_nobody", Now: now}))
	_, err := w.people.People.Participant(t.Context(), ann)
	require.ErrorIs(t, err, models.ErrNotFound)
}

// A step of a turn that the rules plan asks them first: without a prompt in their answer
// nothing is begun and no model is asked.
func TestStepOfAPlannedTurn(t *testing.T) {
	w := newStoreFixture(t)
	registry, err := tools.New()
	require.NoError(t, err)
	heard := &offered{}
	talk := &activities.ModelActivities{
		Turns: w.closing.Turns, Store: w.people.Turns, Attention: w.people.Attention, Tools: registry, Replies: heard,
		Rules: &activities.DecisionActivities{Rules: coach.Rules{PromptGrace: time.Hour}, Zones: zones},
	}
	w.env.RegisterActivity(talk)
	slot := wire.Slot{Date: now.Format(time.DateOnly), TargetAt: now, SendAt: now}
	state := wire.ParticipantState{ParticipantID: ann, Zone: "UTC", Status: wire.StatusActive, Mode: wire.ModeFeedback, Greeted: true,
		Schedules: []wire.Schedule{{ID: "s1", Type: wire.ScheduleFixed, At: now.Format("15:04"), Next: slot}}}
	in := wire.CallModelInput{
		ParticipantID: ann, TurnID: models.TurnID(ann, 1), Step: 1, Mode: wire.ModeFeedback, Kind: wire.TurnPrompt,
		Begin: &wire.PrepareTurnInput{ParticipantID: ann, TurnID: models.TurnID(ann, 1), Number: 1, Mode: wire.ModeFeedback, Now: now},
		Due:   &wire.DecideInput{State: state, Event: wire.Event{Kind: wire.EventDue, Due: wire.Due{Kind: wire.DueDailyPrompt, Ref: "gone", At: now}}, Now: now},
	}
	ask := func() wire.CallModelResult {
		value, err := w.env.ExecuteActivity(talk.CallModel, in)
		require.NoError(t, err)
		var out wire.CallModelResult
		require.NoError(t, value.Get(&out))
		require.NotNil(t, out.Planned)
		return out
	}
	require.Nil(t, ask().Begun)
	_, err = w.people.Turns.TurnContext(t.Context(), in.TurnID, 0)
	require.ErrorIs(t, err, models.ErrNotFound)
	in.Due.Event.Due.Ref = "s1"
	out := ask()
	require.NotNil(t, out.Planned.PromptPlan())
	require.NotNil(t, out.Begun)
	begun, err := w.people.Turns.TurnContext(t.Context(), in.TurnID, 0)
	require.NoError(t, err)
	require.Equal(t, wire.TurnPrompt, begun.Turn.Kind)
}

// A subagent is told its task and nothing of the conversation, and may only look things
// up; once its person has left it is asked nothing more.
func TestStepOfASubagent(t *testing.T) {
	w := newStoreFixture(t)
	registry, err := tools.New(tools.Subagents()...)
	require.NoError(t, err)
	heard := &offered{}
	talk := &activities.ModelActivities{Turns: w.closing.Turns, Store: w.people.Turns, Attention: w.people.Attention, Tools: registry, Replies: heard}
	w.env.RegisterActivity(talk)
	turn := w.turn(ann, "When does the pool open?", models.Step{Calls: `[{"id":"a","name":"subagent","arguments":"{\"task\":\"Opening hours of the pool\"}"}]`})
	in := wire.CallModelInput{
		ParticipantID: ann, TurnID: models.SubagentTurnID(turn, 1, 0), Step: 1, Mode: wire.ModeIntake, Kind: wire.TurnSubagent,
	}
	in.Begin = &wire.PrepareTurnInput{ParticipantID: ann, TurnID: in.TurnID, Mode: wire.ModeIntake, Plan: wire.TurnPlan{Kind: wire.TurnSubagent}, Now: now}
	_, err = w.env.ExecuteActivity(talk.CallModel, in)
	require.NoError(t, err)
	require.Equal(t, "Opening hours of the pool", heard.in.Task)
	require.Empty(t, heard.in.Context.Window)
	require.Equal(t, registry.ForSubagents(), heard.last.Specs)

	require.NoError(t, w.people.People.RemoveParticipant(t.Context(), ann, "operator", now))
	in.Step, heard.in.Task = 2, ""
	_, err = w.env.ExecuteActivity(talk.CallModel, in)
	require.NoError(t, err)
	require.Empty(t, heard.in.Task)
}
