package store_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func TestEnrollOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		ask := func(id, number, key, body string, later time.Duration) (models.Participant, error) {
			p := person(id, number)
			p.EnrolledAt = start.Add(later)
			return w.People.EnrollOnce(w.ctx, p, models.Enrolment{Actor: "operator", Key: key, Body: body})
		}
		first, err := ask("p1", phone, "k1", "body", 0)
		require.NoError(t, err)
		again, err := ask("p2", phone, "k1", "body", time.Hour)
		require.NoError(t, err)
		require.Equal(t, first.ID, again.ID)
		require.Equal(t, 1, w.count("SELECT count(*) FROM participants"))
		require.Equal(t, 1, w.count("SELECT count(*) FROM notices"))

		_, err = ask("p3", "+15550000001", "k1", "another body", time.Hour)
		require.ErrorIs(t, err, models.ErrKeyUsed)
		_, err = ask("p4", phone, "k2", "body", time.Hour)
		require.ErrorIs(t, err, models.ErrConflict, "another key is another request, and the number is taken")
		_, err = ask("p5", phone, "", "body", time.Hour)
		require.ErrorIs(t, err, models.ErrConflict)
		require.Equal(t, 1, w.count("SELECT count(*) FROM enrolment_keys"))
		require.Zero(t, w.count("SELECT count(*) FROM enrolment_keys WHERE key_index LIKE '%k1%' OR body_index LIKE '%body%'"))

		later, err := ask("p6", "+15550000001", "k1", "another body", 25*time.Hour)
		require.NoError(t, err, "a key stands for its request for a day")
		require.Equal(t, "p6", later.ID)
		require.Equal(t, 1, w.count("SELECT count(*) FROM enrolment_keys"))

		require.NoError(t, w.People.RemoveParticipant(w.ctx, "p6", "operator", start.Add(26*time.Hour)))
		_, err = ask("p7", "+15550000001", "k1", "another body", 27*time.Hour)
		require.ErrorIs(t, err, models.ErrKeyUsed, "the participant was removed since")
	})
}

func TestEnrollOnceAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		var all sync.WaitGroup
		ids := make([]string, 8)
		errs := make([]error, len(ids))
		for i := range ids {
			all.Go(func() {
				p, err := w.People.EnrollOnce(w.ctx, person("p"+string(rune('a'+i)), phone), models.Enrolment{Actor: "operator", Key: "k1", Body: "body"})
				ids[i], errs[i] = p.ID, err
			})
		}
		all.Wait()
		for i := range ids {
			require.NoError(t, errs[i])
			require.Equal(t, ids[0], ids[i])
		}
		require.Equal(t, 1, w.count("SELECT count(*) FROM participants"))
	})
}
