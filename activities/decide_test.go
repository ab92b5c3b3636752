package activities_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/activities"
	"coachline/internal/coach"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
)

// A call that rules decide is done, or refused with a reason that the model reads: past the
// turn's limit, with a tool that is out of order, and at a night hour that the person did
// not name. The result of a subagent is written by the subagent.
func TestDecideTool(t *testing.T) {
	registry, err := tools.New(tools.Subagents()...)
	require.NoError(t, err)
	quiet, err := coach.ParseQuietHours("21:00-08:00")
	require.NoError(t, err)
	night := models.ToolCall{ID: "a", Name: "scheduler", Arguments: `{"action":"create","type":"fixed","fixed_time":"22:30"}`}
	day := models.ToolCall{ID: "a", Name: "scheduler", Arguments: `{"action":"create","type":"fixed","fixed_time":"18:00"}`}
	for name, tt := range map[string]struct {
		call        models.ToolCall
		text        string // the person's
		refuse      string
		want        wire.EffectKind // empty: refused
		says        string
		leavesToSub bool
	}{
		"by day":           {call: day, want: wire.EffectPutSchedule},
		"at night":         {call: night, says: "in the quiet hours"},
		"at a named hour":  {call: night, text: "Text me at 22:30", want: wire.EffectPutSchedule},
		"past the limit":   {call: day, refuse: activities.RefuseLimit, says: "limit of this turn"},
		"out of order":     {call: day, refuse: activities.RefuseFailed, says: "out of order"},
		"refused before":   {call: models.ToolCall{ID: "a", Name: "scheduler", Refused: "too long"}, says: "too long"},
		"without its task": {call: models.ToolCall{ID: "a", Name: "subagent", Arguments: `{}`}, says: "task"},
		"a subagent":       {call: models.ToolCall{ID: "a", Name: "subagent", Arguments: `{"task":"Opening hours"}`}, want: wire.EffectSetSubagents, leavesToSub: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := &steps{steps: map[int]models.Step{1: {Number: 1, Calls: encodeCalls(t, tt.call)}}, text: tt.text}
			rules := &activities.DecisionActivities{Rules: coach.Rules{Quiet: quiet}, Zones: zones, Tools: registry, Calls: r}
			out, err := rules.DecideTool(t.Context(), wire.DecideToolInput{
				Tool:  wire.ToolInput{ParticipantID: "conv_1", TurnID: "conv_1-t1", Step: 1, Mode: wire.ModeIntake, Refuse: tt.refuse},
				State: wire.ParticipantState{ParticipantID: "conv_1", Zone: "UTC", Status: wire.StatusActive, Mode: wire.ModeIntake, Greeted: true}, Now: now,
			})
			require.NoError(t, err)
			if tt.leavesToSub {
				require.Empty(t, r.run.Name)
				require.Equal(t, []wire.EffectKind{wire.EffectSetSubagents, wire.EffectStartSubagent}, []wire.EffectKind{out.Effects[0].Kind, out.Effects[1].Kind})
				require.Equal(t, models.SubagentTurnID("conv_1-t1", 1, 0), out.Effects[1].Turn.Subagent.TurnID)
			} else {
				require.Equal(t, []any{tt.want == "", now}, []any{r.run.Failed, r.run.CreatedAt})
				require.Contains(t, r.run.Result, tt.says)
			}
			if tt.want == "" {
				require.Empty(t, out.Effects)
				return
			}
			require.Equal(t, tt.want, out.Effects[0].Kind)
		})
	}
	_, err = (&activities.DecisionActivities{Zones: zones, Tools: registry, Calls: &steps{steps: map[int]models.Step{1: {Number: 1}}}}).DecideTool(t.Context(), wire.DecideToolInput{
		Tool: wire.ToolInput{ParticipantID: "conv_1", TurnID: "conv_1-t1", Step: 1},
	})
	require.ErrorContains(t, err, "call 0 of step 1")
}

func encodeCalls(t *testing.T, calls ...models.ToolCall) string {
	t.Helper()
	text, err := json.Marshal(calls)
	require.NoError(t, err)
	return string(text)
}
