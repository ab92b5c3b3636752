package activities_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/activities"
	"coachline/internal/metrics"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
)

// A subagent's result answers the call that waits for it, also where it has none, and not
// where it was stopped; a person is sent what fits a text.
func TestEndOfASubagent(t *testing.T) {
	registry, err := tools.New(tools.Subagents()...)
	require.NoError(t, err)
	long := strings.Repeat("The pool opens at seven. ", 40)
	for name, tt := range map[string]struct {
		source        wire.TextSource
		text          string // of its last step; empty: it never began
		left          bool   // no call waits for the result
		want          []string
		failed, short bool
	}{
		"found":         {source: wire.SourceStep, text: "The pool opens at seven.", want: []string{`"ok":true`, `"label":"pool"`, `"result":"The pool opens at seven."`}},
		"found much":    {source: wire.SourceStep, text: long, want: []string{`"ok":true`, `"for_user":"The pool`}, short: true},
		"found nothing": {source: wire.SourceFailed, text: "The pool", want: []string{"failed: the helper came to no result"}, failed: true},
		"never began":   {source: wire.SourceStep, want: []string{"failed: the helper came to no result"}, failed: true},
		"stopped":       {source: wire.SourceSilent, text: "The pool"},
		"no call waits": {source: wire.SourceStep, text: "The pool opens at seven.", left: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newStoreFixture(t)
			m, err := metrics.New(metrics.Config{})
			require.NoError(t, err)
			ending := &activities.SubagentActivities{Store: w.people.Turns, Tools: registry, Metrics: m}
			w.env.RegisterActivity(ending)
			turn := w.turn(ann, "When does the pool open?", models.Step{Calls: `[{"id":"a","name":"subagent","arguments":"{\"task\":\"Opening hours\",\"label\":\"pool\"}"}]`})
			in := wire.PersistTurnInput{ParticipantID: ann, TurnID: models.SubagentTurnID(turn, 1, 0), Source: tt.source, Now: now,
				Plan: wire.TurnPlan{Kind: wire.TurnSubagent, Subagent: wire.Subagent{Wait: !tt.left}}}
			if tt.text != "" {
				_, err := w.people.Turns.BeginTurn(t.Context(), wire.PrepareTurnInput{ParticipantID: ann, TurnID: in.TurnID, Mode: wire.ModeIntake, Plan: in.Plan, Now: now})
				require.NoError(t, err)
				_, err = w.people.Turns.SaveStep(t.Context(), models.Step{TurnID: in.TurnID, Number: 1, Text: tt.text, PromptVersion: "v7", CreatedAt: now})
				require.NoError(t, err)
			}
			for range 2 {
				_, err := w.env.ExecuteActivity(ending.EndSubagent, in)
				require.NoError(t, err)
			}
			if tt.text != "" {
				ended, err := w.people.Turns.TurnContext(t.Context(), in.TurnID, 0)
				require.NoError(t, err)
				require.Equal(t, []string{string(tt.source), "v7"}, []string{ended.Turn.Outcome, ended.Turn.PromptVersion})
			}
			run, err := w.people.Turns.ToolRun(t.Context(), turn, 1, 0)
			if tt.want == nil {
				require.ErrorIs(t, err, models.ErrNotFound)
				return
			}
			require.NoError(t, err)
			result, err := run.ToolResult()
			require.NoError(t, err)
			require.Equal(t, tt.failed, result.Failed)
			require.Regexp(t, `coachline_tool_runs_total\{result="`+map[bool]string{false: "ok", true: "failed"}[tt.failed]+`",tool="subagent"\} [12]`, scrape(t, m))
			for _, part := range tt.want {
				require.Contains(t, result.Content, part)
			}
			require.Equal(t, tt.short, strings.Contains(result.Content, "for_user"))
		})
	}
	t.Run("the person is told", func(t *testing.T) {
		w := newStoreFixture(t)
		asked := w.turn(ann, "Tell me when the pool opens", models.Step{Text: "I will."})
		found := models.SubagentTurnID(asked, 1, 0)
		_, err := w.people.Turns.BeginTurn(t.Context(), wire.PrepareTurnInput{ParticipantID: ann, TurnID: found, Mode: wire.ModeIntake, Plan: wire.TurnPlan{Kind: wire.TurnSubagent}, Now: now})
		require.NoError(t, err)
		_, err = w.people.Turns.SaveStep(t.Context(), models.Step{TurnID: found, Number: 1, Text: long, CreatedAt: now})
		require.NoError(t, err)
		told := w.turn(ann, "hm", models.Step{})
		_, err = w.env.ExecuteActivity(w.closing.SendTurn, wire.SendTurnInput{End: wire.PersistTurnInput{
			ParticipantID: ann, TurnID: told, Mode: wire.ModeIntake, Source: wire.SourceSubagent, Now: now,
			Plan: wire.TurnPlan{Kind: wire.TurnResult, Subagent: wire.Subagent{TurnID: found}},
		}})
		require.NoError(t, err)
		row, err := w.people.Outbox.Row(t.Context(), models.OutboxID(told, 1))
		require.NoError(t, err)
		require.Contains(t, row.Body, "The pool opens at seven.")
	})
}
