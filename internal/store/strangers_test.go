package store_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
)

// What strangers text is emptied when it is old, or at once for a number that asks; an
// opt-out is honoured after that, and what a participant texted stays.
func TestStrangersAreForgotten(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		s := w.limited(store.InboundLimits{Hints: true})
		text := func(sid, from, body string, minutes int) {
			_, err := s.Inbound.AcceptInbound(w.ctx, models.Inbound{ProviderSID: sid, From: from, To: "+15017122661", Body: body, ReceivedAt: at(minutes)})
			require.NoError(t, err)
		}
		ask := models.StrangersForgotten{Before: at(60), Limit: 10, Now: at(100)}
		forget := func(want int) {
			count, err := w.Erasures.ForgetStrangers(w.ctx, ask)
			require.NoError(t, err)
			require.Equal(t, want, count)
		}
		const one, two = "+15558670001", "+15558670002"
		text("SM1", one, "who is this", 1)
		text("SM2", two, "STOP", 2)
		text("SM3", one, "hello again", 70)
		text("SM4", phone, "a participant", 3)
		left := func(body string) int {
			var rows []models.Inbound
			require.NoError(t, w.Database().Reader(w.ctx).Find(&rows).Error)
			count := 0
			for _, row := range rows {
				if row.Body == body {
					count++
				}
			}
			return count
		}
		forget(2)
		forget(0)
		require.Equal(t, []int{0, 1, 1, 2}, []int{left("who is this"), left("hello again"), left("a participant"), left("")})
		require.Zero(t, w.count("SELECT count(*) FROM audit WHERE action = 'forget_stranger'"))

		known, err := w.Cohorts.KnownNumbers(w.ctx, []string{one, two})
		require.NoError(t, err)
		require.Equal(t, map[string]models.KnownNumber{two: {OptedOut: true}}, known)

		ask.Before, ask.Phone, ask.Actor = at(101), one, "user:eve"
		forget(1)
		forget(0)
		require.Equal(t, 1, left("a participant"))
		require.Zero(t, left("hello again"))
		require.Equal(t, 1, w.count("SELECT count(*) FROM audit WHERE action = 'forget_stranger'"))
		require.Empty(t, w.findings("hint-"+one[1:]))
		_, err = w.Hints.PendingHints(context.Background(), at(200), 10)
		require.NoError(t, err)
	})
}
