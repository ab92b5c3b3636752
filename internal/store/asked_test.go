package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// What a person asked for by a tool is written with its result, once.
func TestAskedForByTheModel(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		_, err := w.Turns.BeginTurn(w.ctx, begin(1, replyPlan))
		require.NoError(t, err)
		call := 0
		commit := func(minutes int, c models.ToolCommit) {
			call++
			c.Run.TurnID, c.Run.Step, c.Run.Call, c.Run.CreatedAt = "p1-t1", 1, call, at(minutes)
			for range 2 {
				require.NoError(t, w.Turns.CommitTool(w.ctx, c), "a retry finds it done")
			}
		}
		commit(1, models.ToolCommit{
			Run:       models.ToolRun{Name: models.ToolAskForPerson, Result: `{"content":"{\"ok\":true,\"reason\":\"Ada Quill wants to leave\"}"}`},
			Attention: wire.AttentionPerson,
		})
		open, err := w.Attention.OpenAttention(w.ctx, models.AttentionQuery{ParticipantID: "p1"})
		require.NoError(t, err)
		require.Len(t, open, 1)
		require.Equal(t, []any{wire.AttentionPerson, "p1-t1", "Ada Quill wants to leave"}, []any{open[0].Kind, open[0].Ref, open[0].Reason})
		other, err := w.Attention.OpenAttention(w.ctx, models.AttentionQuery{ParticipantID: "p2"})
		require.NoError(t, err)
		require.Empty(t, other)
		require.NotContains(t, w.dump(), "Ada Quill", "the reason is sealed")

		until := func(minutes int) *time.Time { at := at(minutes); return &at }
		held := func() (out []string) {
			rows, err := w.Holds.List(w.ctx, models.HoldQuery{ActiveAt: at(20), ParticipantID: "p1"})
			require.NoError(t, err)
			for _, h := range rows {
				out = append(out, fmt.Sprint(h.CreatedBy, " ", h.Until.Sub(at(0)).Minutes()))
			}
			return out
		}
		operator, err := w.Holds.CreateHold(w.ctx, models.Hold{Scope: models.HoldParticipant, ScopeID: "p1", CreatedBy: "grace", CreatedAt: at(2), Until: at(50)})
		require.NoError(t, err)
		commit(3, models.ToolCommit{Run: models.ToolRun{Name: "pause_prompts"}, PauseUntil: until(100)})
		require.Equal(t, []string{"participant 100", "grace 50"}, held())
		require.False(t, w.beginPrompt(2, 30, 30))
		require.Equal(t, "missed held", w.promptReason(2))
		commit(4, models.ToolCommit{Run: models.ToolRun{Name: "pause_prompts"}, PauseUntil: until(80)})
		require.Equal(t, []string{"participant 80", "grace 50"}, held(), "the newer one holds")
		commit(5, models.ToolCommit{Run: models.ToolRun{Name: "pause_prompts"}, PauseUntil: &time.Time{}})
		require.Equal(t, []string{"grace 50"}, held(), "an operator's stays")
		_, err = w.Holds.ReleaseHold(w.ctx, models.HoldRelease{ID: operator.ID, Actor: "grace", Now: at(6)})
		require.NoError(t, err)
		require.True(t, w.beginPrompt(3, 30, 30))
		require.Equal(t, 2, w.count("SELECT count(*) FROM audit WHERE action = 'hold' AND actor = 'participant' AND participant_id = 'p1'"))
	})
}

// The next prompt is told of the last five, with what came of them.
func TestRecentPrompts(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		report := func(n int, outcome models.PromptOutcome) {
			_, err := w.Turns.BeginTurn(w.ctx, begin(n, replyPlan))
			require.NoError(t, err)
			require.NoError(t, w.Turns.CommitTool(w.ctx, models.ToolCommit{Run: models.ToolRun{TurnID: models.TurnID("p1", n), CreatedAt: at(n)}, Outcome: outcome}))
		}
		for day := 1; day <= 6; day++ {
			w.sent(w.turn(10*day, promptPlan(fmt.Sprintf("2026-03-%02d", day)), 10*day), 10*day+1)
			if day == 5 {
				report(51, models.OutcomeNotDone)
			}
		}
		report(61, models.OutcomeDone)
		recent, err := w.Turns.RecentPrompts(w.ctx, "p1")
		require.NoError(t, err)
		var got []string
		for _, past := range recent {
			require.NotEmpty(t, past.Text)
			got = append(got, past.LocalDate+" "+string(past.Outcome))
		}
		require.Equal(t, []string{"2026-03-06 done", "2026-03-05 not_done", "2026-03-04 ", "2026-03-03 ", "2026-03-02 "}, got)
		begun, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{ParticipantID: "p1", TurnID: "p1-t70", Number: 70, Plan: promptPlan("2026-03-07"), Now: at(70)})
		require.NoError(t, err)
		require.False(t, begun.Skip)
		turn, err := w.Turns.TurnContext(w.ctx, "p1-t70", 50)
		require.NoError(t, err)
		require.Equal(t, recent, turn.Recent)
		require.Equal(t, 1, w.count("SELECT success_count FROM profiles WHERE participant_id = 'p1'"))
	})
}
