package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// TestManyChangedDraftsRaiseAttention: people are told once of a study where more than one
// in twenty replies were changed for what they advised, of forty at least and of the last
// days alone.
func TestManyChangedDraftsRaiseAttention(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		entry := models.AttentionEntry{ParticipantID: "p1", Kind: wire.AttentionAdvice, Ref: "p1-t1", RaisedAt: at(100)}
		judge := func(n int, verdict models.AdviceVerdict) {
			require.NoError(t, w.Memory.SaveStage(w.ctx, models.Stage{
				TurnID: models.TurnID("p1", n), Number: 1, Name: models.StageAdvice, Decision: models.DescribeAdvice(verdict, models.AdviceWeight), CreatedAt: at(n),
			}))
		}
		raise := func() bool {
			raised, err := w.Attention.RaiseAdvice(w.ctx, entry)
			require.NoError(t, err)
			return raised
		}
		begin := func(n int) {
			_, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{ParticipantID: "p1", TurnID: models.TurnID("p1", n), Number: n, Mode: wire.ModeIntake, Plan: wire.TurnPlan{Kind: wire.TurnReply}, Now: at(n)})
			require.NoError(t, err)
		}
		for n := 1; n < models.AdviceLeast; n++ {
			begin(n)
			judge(n, models.AdviceRefuse)
		}
		require.False(t, raise(), "too few replies")
		require.NoError(t, w.exec("DELETE FROM stages"))
		begin(models.AdviceLeast)
		judge(1, models.AdviceRefuse)
		judge(2, models.AdviceRewrite)
		judge(3, models.AdviceFine)
		require.False(t, raise(), "two of forty are five per cent")
		judge(4, models.AdviceFailed)
		entry.RaisedAt = at(100).Add(models.AdviceSpan + 24*time.Hour)
		require.False(t, raise(), "long ago")
		entry.RaisedAt = at(100)
		require.True(t, raise())
		require.Equal(t, []string{"advice p1-t1 "}, w.open())
		require.False(t, raise(), "one is open")
	})
}
