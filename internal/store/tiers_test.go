package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

const (
	weak  = "i feel worthless"
	hours = 3600
)

func (w *inboundWorld) alert(id string) models.Alert {
	w.t.Helper()
	row, err := w.Alerts.Alert(w.ctx, id)
	require.NoError(w.t, err)
	return row
}

// A weak sign is answered and pages no person; what raised it is on its record.
func TestWeakSignPagesNoPerson(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		out := w.text(0, weak)
		require.NotEmpty(w.t, out.AlertID)
		require.Equal(w.t, models.TierB, out.Inbound.DangerTier)
		row := w.alert(out.AlertID)
		require.Equal(w.t, models.Alert{
			ID: out.AlertID, ParticipantID: "ann", InboundID: out.Inbound.ID, Danger: "self_harm", Tier: "B", Rule: row.Rule, Kind: "passive",
			Score: row.Score, Safety: models.SafetyOneself, Answer: true, CreatedAt: row.CreatedAt,
		}, row)
		require.Contains(w.t, row.Rule, "en.")
		require.InDelta(w.t, out.Inbound.DangerScore, row.Score, 1e-6)
		require.Empty(w.t, w.ann().Attention)
		require.NotEmpty(w.t, w.safetyText(out.AlertID, 1))
	})
}

func TestSecondWeakSignOfADayIsGrave(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		require.False(w.t, w.alert(w.text(0, weak).AlertID).Pages)
		second := w.text(24*hours-1, weak)
		row := w.alert(second.AlertID)
		require.Equal(w.t, []any{"A", true, true}, []any{row.Tier, row.Escalated, row.Pages})
		require.Equal(w.t, models.TierA, second.Inbound.DangerTier)
		require.Equal(w.t, wire.AttentionCrisis, w.ann().Attention)
	})
}

func TestWeakSignsADayApartStayWeak(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		for _, at := range []int{0, 24 * hours, 48 * hours} {
			row := w.alert(w.text(at, weak).AlertID)
			require.Equal(w.t, []any{"B", false, false}, []any{row.Tier, row.Escalated, row.Pages})
		}
		require.Empty(w.t, w.ann().Attention)
	})
}

func TestGraveSignPagesAtOnce(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		row := w.alert(w.crisis(0).AlertID)
		require.Equal(w.t, []any{"A", false, true, "direct"}, []any{row.Tier, row.Escalated, row.Pages, row.Kind})
	})
}

// hear is what a voice note of a text turned out to say.
func (w *inboundWorld) hear(out models.AcceptedInbound, seconds, index int, text string) models.AcceptedInbound {
	w.t.Helper()
	heard, err := w.Inbound.AcceptTranscription(w.ctx, models.Transcription{
		InboundID: out.Inbound.ID, Note: models.VoiceNote{Index: index, Type: "audio/amr", Text: text}, At: inboundAt(seconds),
	})
	require.NoError(w.t, err)
	return heard
}

const twoNotes = `[{"index":0,"type":"audio/amr"},{"index":1,"type":"audio/amr"}]`

// What is typed may be a weak sign, and what is spoken with it a grave one: the
// alert of the message pages a person after all, once.
func TestGraveNoteOfAWeakMessagePages(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		out := w.take(models.Inbound{From: phone, Body: weak, MediaCount: 2, Voice: twoNotes, ReceivedAt: inboundAt(0)})
		read := w.alert(out.AlertID)
		heard := w.hear(out, 5, 0, crisis)
		require.Equal(w.t, out.AlertID, heard.AlertID, "to be told anew")
		require.NoError(w.t, w.Alerts.AlertTold(w.ctx, read, inboundAt(6)), "by a starter that read it before")
		row := w.alert(out.AlertID)
		require.Equal(w.t, []any{"A", true, true}, []any{row.Tier, row.Pages, row.ToldAt == nil})
		require.Equal(w.t, wire.AttentionCrisis, w.ann().Attention)
		pending, err := w.Alerts.PendingAlerts(w.ctx, inboundAt(60), 10)
		require.NoError(w.t, err)
		require.Len(w.t, pending, 1)
		require.Empty(w.t, w.hear(out, 7, 1, crisis).AlertID, "it pages already")
		require.NoError(w.t, w.Alerts.AlertTold(w.ctx, row, inboundAt(8)))
		require.NotNil(w.t, w.alert(out.AlertID).ToldAt)
	})
}
