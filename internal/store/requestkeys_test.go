package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"coachline/models"
)

// keyedHold asks for a hold under an Idempotency-Key.
func (w *world) keyedHold(id, request string, at time.Time) (models.KeyClaim, models.Hold, error) {
	w.t.Helper()
	row, isNew, err := w.RequestKeys.OpenRequestKey(w.ctx, models.KeyedRequest{Actor: "operator", Key: "k", Request: request, RequestID: id, At: at})
	if err != nil || !isNew {
		return models.KeyClaim{Row: row}, models.Hold{}, err
	}
	claim := models.KeyClaim{Row: row}
	ctx := models.WithOrigin(w.ctx, models.Origin{Actor: "operator", RequestID: id, Claim: &claim})
	hold, err := w.Holds.CreateHold(ctx, models.Hold{Scope: models.HoldAll, Until: at.Add(time.Hour), CreatedAt: at})
	return claim, hold, err
}

func TestKeyIsCommittedWithTheWork(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		row, isNew, err := w.RequestKeys.OpenRequestKey(w.ctx, models.KeyedRequest{Actor: "operator", Key: "k", Request: "a", RequestID: "late", At: start})
		require.NoError(t, err)
		require.True(t, isNew)
		_, _, err = w.keyedHold("first", "a", start)
		require.NoError(t, err)

		claim := models.KeyClaim{Row: row}
		ctx := models.WithOrigin(w.ctx, models.Origin{Actor: "operator", RequestID: "late", Claim: &claim})
		_, err = w.Holds.CreateHold(ctx, models.Hold{Scope: models.HoldAll, Until: start.Add(time.Hour), CreatedAt: start})
		require.ErrorIs(t, err, models.ErrKeyUsed)
		require.True(t, claim.IsTaken)
		require.Equal(t, 1, w.count("SELECT count(*) FROM holds"), "the later transaction is rolled back")
		require.Equal(t, 1, w.count("SELECT count(*) FROM audit WHERE action = 'hold'"))

		again, _, err := w.keyedHold("again", "a", start.Add(time.Hour))
		require.NoError(t, err)
		require.Equal(t, "first", again.Row.RequestID)
		_, _, err = w.keyedHold("other", "b", start.Add(time.Hour))
		require.ErrorIs(t, err, models.ErrKeyUsed)
		_, _, err = w.keyedHold("next day", "b", start.Add(models.RequestKeyLife))
		require.NoError(t, err)
		require.Equal(t, 2, w.count("SELECT count(*) FROM holds"))
		require.Equal(t, 1, w.count("SELECT count(*) FROM request_keys"), "old keys go")
	})
}

func TestFailedWorkLeavesTheKey(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		row, _, err := w.RequestKeys.OpenRequestKey(w.ctx, models.KeyedRequest{Actor: "operator", Key: "k", Request: "a", RequestID: "first", At: start})
		require.NoError(t, err)
		broken := errors.New("broken")
		ctx := models.WithOrigin(w.ctx, models.Origin{Claim: &models.KeyClaim{Row: row}})
		require.ErrorIs(t, w.Database().Write(ctx, func(*gorm.DB) error { return broken }), broken)
		require.NoError(t, w.Audit.RecordAudit(ctx, models.AuditRow{Action: "set_mode", At: start}))
		require.Zero(t, w.count("SELECT count(*) FROM request_keys"))

		row.Answer = "what it was answered"
		require.NoError(t, w.RequestKeys.KeepAnswer(w.ctx, row))
		other := row
		other.RequestID, other.Answer = "second", "something else"
		require.NoError(t, w.RequestKeys.KeepAnswer(w.ctx, other))
		kept, isNew, err := w.RequestKeys.OpenRequestKey(w.ctx, models.KeyedRequest{Actor: "operator", Key: "k", Request: "a", RequestID: "third", At: start})
		require.NoError(t, err)
		require.False(t, isNew)
		require.Equal(t, "what it was answered", kept.Answer)
		require.Zero(t, w.count("SELECT count(*) FROM request_keys WHERE answer LIKE '%answered%'"), "it is sealed")
	})
}

func TestErasureTakesKeptAnswers(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		for key, participant := range map[string]string{"hers": "p1", "of all": "", "of another": "p2"} {
			row, _, err := w.RequestKeys.OpenRequestKey(w.ctx, models.KeyedRequest{Actor: "operator", Key: key, RequestID: key, ParticipantID: participant, At: start})
			require.NoError(t, err)
			row.Answer = "Ann"
			require.NoError(t, w.RequestKeys.KeepAnswer(w.ctx, row))
		}
		_, err := w.Erasures.BeginErasure(w.ctx, models.ErasureRequest{ParticipantID: "p1", Actor: "user:eve", Now: at(1)})
		require.NoError(t, err)
		w.eraseAll("p1", 2)
		require.Equal(t, 2, w.count("SELECT count(*) FROM request_keys"))
		require.Equal(t, 1, w.count("SELECT count(*) FROM request_keys WHERE participant_id = 'p2' AND answer <> ''"))
		require.Equal(t, 1, w.count("SELECT count(*) FROM request_keys WHERE participant_id = '' AND answer = ''"))
	})
}
