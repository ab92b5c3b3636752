package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

// lookedAt settles the second look of ann's newest weak sign.
func (w *inboundWorld) lookedAt(seconds int, state models.LookState) (models.Alert, bool) {
	w.t.Helper()
	due, err := w.Looks.DueLooks(w.ctx, "ann")
	require.NoError(w.t, err)
	require.NotEmpty(w.t, due)
	id := due[len(due)-1].AlertID
	answered, err := w.Looks.SettleLook(w.ctx, models.LookResult{
		AlertID: id, Verdict: models.LookVerdict{State: state, About: "self", Reason: "says that life is over"}, Now: inboundAt(seconds),
	})
	require.NoError(w.t, err)
	return w.alert(id), answered
}

func lookOnBoth(t *testing.T, test func(w *inboundWorld)) {
	t.Helper()
	inboundWith(t, store.Config{SecondLook: true}, test)
}

// A weak sign goes to the coach like any other message, and raises nothing before its
// second look.
func TestWeakSignWaitsForItsSecondLook(t *testing.T) {
	lookOnBoth(t, func(w *inboundWorld) {
		out := w.text(0, weak)
		require.NotZero(w.t, out.NoticeID, "a turn reads it")
		require.Equal(w.t, int64(1), out.Inbound.Seq)
		require.Empty(w.t, out.AlertID)
		pending, err := w.Alerts.PendingAlerts(w.ctx, inboundAt(10), 10)
		require.NoError(w.t, err)
		require.Empty(w.t, pending)
		require.Empty(w.t, w.ann().Attention)
		due, err := w.Looks.DueLooks(w.ctx, "ann")
		require.NoError(w.t, err)
		require.Len(w.t, due, 1)
		require.Equal(w.t, out.Inbound.ID, due[0].InboundID)
	})
}

func TestSecondLookDecides(t *testing.T) {
	for state, want := range map[models.LookState]struct {
		tier            string
		pages, answered bool
		attention       wire.Attention
	}{
		models.LookNone:     {tier: "B"},
		models.LookPossible: {tier: "B", answered: true},
		models.LookFailed:   {tier: "B", answered: true},
		models.LookClear:    {tier: "A", pages: true, answered: true, attention: wire.AttentionCrisis},
	} {
		lookOnBoth(t, func(w *inboundWorld) {
			w.text(0, weak)
			row, answered := w.lookedAt(5, state)
			require.Equal(w.t, []any{state, want.tier, want.pages, want.answered, "says that life is over"},
				[]any{row.Look, row.Tier, row.Pages, answered, row.LookReason}, state)
			require.Equal(w.t, want.attention, w.ann().Attention, state)
			pending, err := w.Alerts.PendingAlerts(w.ctx, inboundAt(10), 10)
			require.NoError(w.t, err)
			require.Len(w.t, pending, map[bool]int{true: 1}[state != models.LookNone], state)
			if want.answered {
				require.NotEmpty(w.t, w.safetyText(row.ID, 6), state)
			}
		})
	}
}

// The look knows better than the rule whose danger it is, and so which text answers.
func TestSecondLookChoosesTheText(t *testing.T) {
	for kind, want := range map[string]models.SafetyKind{
		"suicide": models.SafetyAnother, "violence": models.SafetyViolence, "emergency": models.SafetyAnother, "": models.SafetyOneself,
	} {
		lookOnBoth(t, func(w *inboundWorld) {
			w.text(0, weak)
			due, err := w.Looks.DueLooks(w.ctx, "ann")
			require.NoError(w.t, err)
			verdict := models.LookVerdict{State: models.LookPossible, About: "another", Kind: kind}
			_, err = w.Looks.SettleLook(w.ctx, models.LookResult{AlertID: due[0].AlertID, Verdict: verdict, Now: inboundAt(5)})
			require.NoError(w.t, err)
			require.Equal(w.t, want, w.alert(due[0].AlertID).Safety, kind)
		})
	}
}

// A retry, or a sweep that comes late, changes no verdict.
func TestFirstVerdictStays(t *testing.T) {
	lookOnBoth(t, func(w *inboundWorld) {
		w.text(0, weak)
		row, _ := w.lookedAt(5, models.LookNone)
		answered, err := w.Looks.SettleLook(w.ctx, models.LookResult{AlertID: row.ID, Verdict: models.LookVerdict{State: models.LookFailed}, Now: inboundAt(200)})
		require.NoError(w.t, err)
		require.False(w.t, answered)
		require.Equal(w.t, models.LookNone, w.alert(row.ID).Look)
		overdue, err := w.Looks.OverdueLooks(w.ctx, inboundAt(300), 10)
		require.NoError(w.t, err)
		require.Empty(w.t, overdue)
	})
}

// Signs that a second look dismissed make no later one grave; a possible one does.
func TestDismissedSignsDoNotEscalate(t *testing.T) {
	lookOnBoth(t, func(w *inboundWorld) {
		w.text(0, weak)
		w.lookedAt(1, models.LookNone)
		w.text(60, weak)
		second, _ := w.lookedAt(61, models.LookPossible)
		require.False(w.t, second.Escalated)
		w.text(3600, weak)
		third, _ := w.lookedAt(3601, models.LookPossible)
		require.Equal(w.t, []any{true, "A", true}, []any{third.Escalated, third.Tier, third.Pages})
	})
}

// Where no turn will read the message, the sign counts as before.
func TestNoSecondLookWithoutATurn(t *testing.T) {
	lookOnBoth(t, func(w *inboundWorld) {
		paused := wire.StatusPaused
		_, err := w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "ann", Patch: models.ParticipantPatch{Status: &paused}, Actor: "operator", Now: inboundAt(0)})
		require.NoError(w.t, err)
		out := w.text(1, weak)
		require.NotEmpty(w.t, out.AlertID)
		require.Equal(w.t, models.LookUnneeded, w.alert(out.AlertID).Look)
	})
}

func TestOverdueLooksAreListed(t *testing.T) {
	lookOnBoth(t, func(w *inboundWorld) {
		out := w.text(0, weak)
		none, err := w.Looks.OverdueLooks(w.ctx, inboundAt(0), 10)
		require.NoError(w.t, err)
		require.Empty(w.t, none)
		due, err := w.Looks.OverdueLooks(w.ctx, inboundAt(121), 10)
		require.NoError(w.t, err)
		require.Len(w.t, due, 1)
		require.Equal(w.t, out.Inbound.ID, due[0].InboundID)
	})
}

// A message in a language that no rule reads waits for a model in their place, and its
// sender is shown to an operator once a day; without a model it is not taken for danger.
func TestOtherLanguages(t *testing.T) {
	const polish, arabic = "nie chce mi sie zyc, mam dosc wszystkiego", "لم أعد أريد أن أعيش بعد الآن"
	attend := func(w *inboundWorld, seconds int) {
		w.t.Helper()
		_, err := w.Attention.ClearAttention(w.ctx, models.AttentionClearing{ParticipantID: "ann", Now: inboundAt(seconds)})
		require.NoError(w.t, err)
	}
	lookOnBoth(t, func(w *inboundWorld) {
		out := w.text(0, polish)
		require.Equal(w.t, int64(1), out.Inbound.Seq, "a turn reads it")
		require.Equal(w.t, wire.AttentionLanguage, w.ann().Attention)
		row, answered := w.lookedAt(5, models.LookClear)
		require.Equal(w.t, []any{"language", "A", true}, []any{row.Rule, row.Tier, answered})
		require.Equal(w.t, wire.AttentionCrisis, w.ann().Attention)
	})
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		w.text(0, arabic)
		require.Equal(w.t, wire.AttentionLanguage, w.ann().Attention)
		attend(w, 60)
		out := w.text(3600, polish)
		require.Empty(w.t, w.ann().Attention, "once a day")
		require.Empty(w.t, out.AlertID)
		require.Equal(w.t, models.DangerNone, out.Inbound.Danger)
		w.text(25*3600, polish)
		require.Equal(w.t, wire.AttentionLanguage, w.ann().Attention)
		attend(w, 25*3600+60)
		w.text(60*3600, "went for a long walk with my dog this morning")
		require.Empty(w.t, w.ann().Attention)
	})
}
