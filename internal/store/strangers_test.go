package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
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

// Numbers that are not enrolled and text more than a person may raise one attention, which
// names the newest. It ends when nothing came for a day, or with the texts of its number.
func TestStrangersFloodsRaiseOneAttention(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		s := w.limited(store.InboundLimits{PerMinute: 2, PerDay: 4})
		sent := 0
		text := func(from string, minutes int) {
			sent++
			_, err := s.Inbound.AcceptInbound(w.ctx, models.Inbound{ProviderSID: fmt.Sprintf("SM%d", sent), From: from, To: "+15017122661", Body: fmt.Sprintf("text %d", sent), ReceivedAt: at(minutes)})
			require.NoError(t, err)
		}
		open := func(want ...string) {
			t.Helper()
			rows, err := w.Attention.OpenAttention(w.ctx, models.AttentionQuery{Strangers: true})
			require.NoError(t, err)
			got := []string{}
			for _, row := range rows {
				require.Equal(t, []string{"", string(wire.AttentionFlood), "unknown_sender"}, []string{row.ParticipantID, string(row.Kind), row.Code})
				got = append(got, fmt.Sprintf("%s at %s", row.Phone, row.RaisedAt.UTC().Format(time.TimeOnly)))
			}
			require.ElementsMatch(t, want, got)
		}
		const one, two = "+15558670001", "+15558670002"
		text(one, 1)
		text(one, 1)
		open()
		text(one, 1)
		open(one + " at 09:01:00")
		for _, minute := range []int{2, 4, 6, 8} {
			text(two, minute)
		}
		open(one + " at 09:01:00")
		text(two, 10)
		open(two + " at 09:10:00")
		require.Zero(t, w.flagNotices(), "no workflow has it")
		counts, err := w.Attention.CountAttention(w.ctx)
		require.NoError(t, err)
		require.Contains(t, counts, models.AttentionCount{Kind: wire.AttentionFlood, Raised: 1, Open: 1})
		own, err := w.Attention.OpenAttention(w.ctx, models.AttentionQuery{ParticipantID: "p1"})
		require.NoError(t, err)
		require.Empty(t, own)

		forget := func(phone string, minutes int) {
			ask := models.StrangersForgotten{Phone: phone, Limit: 10, Now: at(minutes)}
			if phone != "" {
				ask.Before = at(minutes)
			}
			_, err := w.Erasures.ForgetStrangers(w.ctx, ask)
			require.NoError(t, err)
		}
		forget(one, 20)
		open(two + " at 09:10:00")
		forget(two, 20)
		open()
		for range 3 {
			text(one, 30)
		}
		open(one + " at 09:30:00")
		forget("", 30+24*60)
		open(one + " at 09:30:00")
		forget("", 31+24*60)
		open()
	})
}
