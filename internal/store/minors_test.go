package store_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

func (w *inboundWorld) setSettings(settings string) {
	w.t.Helper()
	_, err := w.Studies.ChangeStudy(w.ctx, models.StudyUpdate{ID: models.DefaultStudy, Actor: "user:kim", Now: inboundAt(0), Patch: models.StudyPatch{Settings: &settings}})
	require.NoError(w.t, err)
}

// TestMinorIsPaused: who says that they are not 18 yet is paused, answered and shown to the
// operators, and again where one has resumed them; a study that takes minors coaches on and
// shows them alone. A birth year keeps a minor out of a study for adults.
func TestMinorIsPaused(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		first := w.text(0, "ok but i'm 14, is that fine?")
		require.Equal(w.t, models.IntentMinor, first.Inbound.Intent)
		require.Zero(w.t, first.Inbound.Seq, "no turn of the coach")
		require.Equal(w.t, wire.StatusPaused, w.ann().Status)
		require.Equal(w.t, wire.AttentionMinor, w.ann().Attention)
		require.Equal(w.t, []models.NoticeKind{models.NoticeFlags, models.NoticePause, models.NoticeAsk}, w.newNotices())
		intent, err := w.Hints.AskedIntent(w.ctx, first.Inbound.ID)
		require.NoError(w.t, err)
		require.Equal(w.t, models.IntentMinor, intent)
		require.Empty(w.t, w.text(10, "im 14").Inbound.Intent, "the person has been told")
		w.set(20, wire.StatusActive)
		require.Equal(w.t, models.IntentMinor, w.text(30, "im 14").Inbound.Intent)
		require.Equal(w.t, wire.StatusPaused, w.ann().Status)
	})
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		_, err := w.People.Enroll(w.ctx, models.Participant{ID: "kid", Phone: "+12025550188", Timezone: "UTC", EnrolledAt: inboundAt(0), PersonTexts: models.PersonTexts[string]{BirthYear: "2015"}}, "kim")
		require.ErrorContains(w.t, err, "birth_year")
		w.setSettings(`{"adults_only":false}`)
		_, err = w.People.Enroll(w.ctx, models.Participant{ID: "kid", Phone: "+12025550188", Timezone: "UTC", EnrolledAt: inboundAt(0), PersonTexts: models.PersonTexts[string]{BirthYear: "2015"}}, "kim")
		require.NoError(w.t, err)
		out := w.text(0, "i'm 14")
		require.Empty(w.t, out.Inbound.Intent)
		require.Equal(w.t, int64(1), out.Inbound.Seq)
		require.Equal(w.t, wire.StatusActive, w.ann().Status)
		require.Equal(w.t, wire.AttentionMinor, w.ann().Attention)
	})
}

// TestMinorInDanger: who says both gets the safety text, the alert and the pause.
func TestMinorInDanger(t *testing.T) {
	for _, body := range []string{"i'm 14 and i want to kill myself", "im 15, i make myself throw up after dinner so it doesnt count"} {
		inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
			out := w.text(0, body)
			require.Equal(w.t, models.IntentMinor, out.Inbound.Intent, body)
			require.NotEmpty(w.t, out.AlertID, body)
			require.Equal(w.t, wire.StatusPaused, w.ann().Status, body)
			open, err := w.Attention.OpenAttention(w.ctx, models.AttentionQuery{Limit: 10})
			require.NoError(w.t, err)
			require.True(w.t, slices.ContainsFunc(open, func(entry models.OpenAttention) bool { return entry.Kind == wire.AttentionMinor }), body)
			require.Contains(w.t, w.newNotices(), models.NoticeAsk, body)
		})
	}
}

// TestBirthYearOfAMinorPauses: a birth year that is changed later counts like one at enrolment.
func TestBirthYearOfAMinorPauses(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		change := func(year string) models.Participant {
			row, err := w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: w.ann().ID, Actor: "user:kim", Now: inboundAt(1), Patch: models.ParticipantPatch{PersonTexts: models.PersonTexts[*string]{BirthYear: &year}}})
			require.NoError(w.t, err)
			return row
		}
		require.Equal(w.t, wire.StatusActive, change("1980").Status)
		row := change("2015")
		require.Equal(w.t, wire.StatusPaused, row.Status)
		require.Equal(w.t, wire.AttentionMinor, row.Attention)
		require.Equal(w.t, row.Version, w.ann().Version)
	})
}
