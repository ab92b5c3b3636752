package store_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

// TestReactionsAskForNothing: a tapback at a text of the conversation is kept and shown,
// and is no text to the coach, no answer, no opt-out and no danger.
func TestReactionsAskForNothing(t *testing.T) {
	const safety = "If you are in danger right now, call 911. Reply STOP to end."
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		w.text(0, "I walked to the pond")
		w.sent(1, 10, models.KindReply, safety)
		before := w.notices()
		for i, body := range []string{
			"Liked “" + safety + "”", `Emphasized "If you are in danger right now, call 911…"`, "Removed a like from “" + safety + "”",
			"👍 to “I walked to the pond”", "Lachte über ein Bild",
		} {
			got := w.text(20+i, body)
			require.Equal(w.t, models.LimitReaction, got.Inbound.Limit, body)
			require.Zero(w.t, got.Inbound.Seq, body)
			require.Zero(w.t, got.NoticeID, body)
			require.Empty(w.t, got.AlertID, body)
			require.Empty(w.t, got.Inbound.Danger, body)
			require.Empty(w.t, got.Inbound.Intent, body)
		}
		require.Equal(w.t, before, w.notices())
		history, err := w.People.History(w.ctx, "ann", 3, inboundAt(1000))
		require.NoError(w.t, err)
		require.Equal(w.t, "Lachte über ein Bild", history[2].Text)
		require.Equal(w.t, models.LimitReaction, history[2].Limit)

		// What nobody wrote is a text, with its danger; the numbers go on without a gap.
		coco := w.text(50, `Loved "Coco"`)
		require.Equal(w.t, models.LimitNone, coco.Inbound.Limit)
		require.EqualValues(w.t, 2, coco.Inbound.Seq)
		require.NotEmpty(w.t, w.text(60, `Emphasized "I am going to kill myself tonight"`).AlertID)
	})
}

func TestReactionsAnswerNoPrompt(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		plan := promptPlan("2026-03-02")
		w.sent(w.turn(1, plan, 0), 1)
		w.inbound("SM1", 310, "Liked an image")
		require.Equal(t, models.PromptPending, w.promptState(plan.PromptID))
	})
}

// TestShapesOfTexts: the notice of a text says whether more is likely to follow.
func TestShapesOfTexts(t *testing.T) {
	for body, want := range map[string]wire.TextShape{
		"hi": wire.ShapeOpen, "so I went to the river and": wire.ShapeOpen, "Ok.": wire.ShapeOpen, "I did it this morning 💪": wire.ShapeOpen,
		"I walked to the river today.": "", "Ich war heute schon laufen!": "",
		"shall I go twice tomorrow?": wire.ShapeEnded, "why?": wire.ShapeEnded, strings.Repeat("a long story ", 20): wire.ShapeEnded,
	} {
		inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
			w.text(0, body)
			_, rows, err := w.Notices.Untold(w.ctx, "ann")
			require.NoError(w.t, err)
			require.Equal(w.t, want, rows[len(rows)-1].Shape, body)
		})
	}
}

// TestTakeOverAfterAnOptOut: a person who opted out since the operator looked is not taken
// over.
func TestTakeOverAfterAnOptOut(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		w.text(0, "STOP")
		_, err := w.TakeOvers.TakeOver(w.ctx, models.TakeOver{ParticipantID: "ann", Until: inboundAt(3600), Actor: "op", Now: inboundAt(1)})
		require.ErrorIs(w.t, err, models.ErrConflict)
		p, err := w.People.Participant(w.ctx, "ann")
		require.NoError(w.t, err)
		require.Empty(w.t, p.TakenOverBy)
	})
}
