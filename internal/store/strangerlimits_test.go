package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

// TestHintsGoToExpectedRegions: strangers of the programme's region are answered, and of
// regions in which people are enrolled.
func TestHintsGoToExpectedRegions(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{Hints: true, Region: "US"}, func(w *inboundWorld) {
		w.enrol("uma", "+447400123456")
		hint := func(seconds int, from string) string {
			return w.strange(seconds, models.Inbound{From: from, Body: "hello?"}).HintID
		}
		require.NotEmpty(w.t, hint(1, "+12125550142"), "the programme's")
		require.NotEmpty(w.t, hint(2, "+447400654321"), "that of an enrolled person")
		require.Empty(w.t, hint(3, "+5351234567"))
		require.Empty(w.t, hint(4, "+881612345678"), "a satellite")
		w.enrol("yuri", "+5351234000")
		require.Empty(w.t, hint(5, "+5351234568"), "numbers are opened once an hour")
		require.NotEmpty(w.t, hint(hours+5, "+5351234569"))
	})
}

// TestStrangersCostSomething: what strangers send and are sent stands in costs, and so in
// the programme's budget.
func TestStrangersCostSomething(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{Hints: true}, func(w *inboundWorld) {
		id := w.strange(1, models.Inbound{Body: "hello?"}).HintID
		claim, err := w.Hints.ClaimHint(w.ctx, id, inboundAt(2))
		require.NoError(w.t, err)
		require.True(w.t, claim.Post)
		for range 2 {
			require.NoError(w.t, w.Hints.SettleHint(w.ctx, models.HintResult{ID: id, Status: wire.OutboxSent, ProviderSID: "SM1", Segments: 2, Now: inboundAt(3)}))
		}
		require.NoError(w.t, w.Costs.RecordCosts(w.ctx, priceList(w.t)))
		day := inboundAt(3).Format(time.DateOnly)
		sums, err := w.Costs.Sum(w.ctx, models.CostQuery{From: day, Until: day, By: models.CostByPerson})
		require.NoError(w.t, err)
		require.Equal(w.t, []models.CostRow{{Calls: 2, SegmentsOut: 2, SegmentsIn: 1, Micros: 40_000}}, sums)
	})
}

// TestStrangersHaveAPrice: hints of an hour cost no more than they may, at the price of
// the number that would be answered.
func TestStrangersHaveAPrice(t *testing.T) {
	limits := store.InboundLimits{Hints: true, Prices: priceList(t), StrangerMicros: 60_000}
	inboundOnBoth(t, limits, func(w *inboundWorld) {
		told := 0
		for i := range 10 {
			if w.strange(i, models.Inbound{From: fmt.Sprintf("+1212555%04d", 100+i), Body: "hello?"}).HintID != "" {
				told++
			}
		}
		require.Equal(w.t, 3, told, "two segments each, at 0.01")
		require.NotEmpty(w.t, w.strange(hours+1, models.Inbound{From: "+12125550199", Body: "hello?"}).HintID, "an hour later")
	})
}

// TestSafetyTextsToStrangersHaveAPrice: the first to a number goes whatever it costs, a
// later one only under the limit of an hour, and none to a number that costs more.
func TestSafetyTextsToStrangersHaveAPrice(t *testing.T) {
	limits := store.InboundLimits{Hints: true, Prices: priceList(t), StrangerMicros: 60_000, Region: "US"}
	inboundOnBoth(t, limits, func(w *inboundWorld) {
		cry := func(seconds int, from string) string {
			return w.strange(seconds, models.Inbound{From: from, Body: "i want to kill myself"}).HintID
		}
		number := func(i int) string { return fmt.Sprintf("+1212555%04d", 100+i) }
		for i := range 10 {
			require.NotEmpty(w.t, cry(i, number(i)))
		}
		require.Empty(w.t, w.strange(11, models.Inbound{From: number(11), Body: "hello?"}).HintID, "safety texts count")
		for _, costly := range []string{"+19002345678", "+881612345678", "+882312345678"} {
			require.Empty(w.t, cry(12, costly))
		}
		const day = 24 * hours
		for i := range 10 {
			require.Equal(w.t, i < 3, cry(day+i, number(i)) != "", "on another day, two segments each")
		}
		require.NotEmpty(w.t, cry(day+20, "+447400654321"))
	})
}

// TestManyStrangersAreOneAttention: sixty hints an hour, then silence and one attention.
func TestManyStrangersAreOneAttention(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{Hints: true}, func(w *inboundWorld) {
		told := 0
		for i := range 70 {
			if w.strange(i, models.Inbound{From: fmt.Sprintf("+1212555%04d", 100+i), Body: "hello?"}).HintID != "" {
				told++
			}
		}
		require.Equal(w.t, 60, told)
		open, err := w.Attention.OpenAttention(w.ctx, models.AttentionQuery{Kind: wire.AttentionFlood, Strangers: true, Limit: 10})
		require.NoError(w.t, err)
		require.Len(w.t, open, 1)
	})
}

// TestPersonHasALimitOfADay: who has cost what a person may on a day is stopped until the
// next, unless a budget of their own says otherwise.
func TestPersonHasALimitOfADay(t *testing.T) {
	for micros, isStopped := range map[int64]bool{0: false, 20_000: true, 20_001: false} {
		inboundWith(t, store.Config{PersonDayMicros: micros}, func(w *inboundWorld) {
			w.text(1, "I walked today") // a segment of 20,000 millionths
			require.NoError(w.t, w.Costs.RecordCosts(w.ctx, priceList(w.t)))
			stops := func(day int) bool {
				spent, err := w.Budgets.SpentBudgets(w.ctx, inboundAt(2).AddDate(0, 0, day))
				require.NoError(w.t, err)
				return spent.Stops("ann", "")
			}
			require.Equal(w.t, isStopped, stops(0), micros)
			require.False(w.t, stops(1))
			_, err := w.Budgets.SetBudget(w.ctx, models.Budget{
				Scope: models.BudgetParticipant, ParticipantID: "ann", Period: models.BudgetDay, Micros: 1_000_000, WarnPercent: 80, Currency: "USD", CreatedBy: "operator", UpdatedAt: inboundAt(3),
			})
			require.NoError(w.t, err)
			require.False(w.t, stops(0))
		})
	}
}

// TestSpentPersonIsToldOnce: who has cost what a person may on a day is told so once, and
// gets no other text for theirs until the next; STOP, HELP and danger are answered.
func TestSpentPersonIsToldOnce(t *testing.T) {
	cfg := store.Config{PersonDayMicros: 20_000, SecondLook: true}
	inboundWith(t, cfg, func(w *inboundWorld) {
		require.Zero(w.t, w.text(1, "I walked today").Inbound.Limit)
		require.NoError(w.t, w.Costs.RecordCosts(w.ctx, priceList(w.t)))
		first := w.text(2, "and swam")
		require.Equal(w.t, models.LimitSpent, first.Inbound.Limit)
		notices, err := w.Notices.PendingNotices(w.ctx, inboundAt(3), 10)
		require.NoError(w.t, err)
		at := slices.IndexFunc(notices, func(n models.Notice) bool { return n.ID == first.NoticeID })
		notice := notices[at]
		require.Equal(w.t, models.NoticeLimit, notice.Kind)
		require.Equal(w.t, fmt.Sprintf("%d+15", first.Inbound.ID), notice.Ref, "hours until the day ends")
		for i := range 30 {
			out := w.text(3+i*3*1200, fmt.Sprint("text ", i)) // over hours
			if out.Inbound.ReceivedAt.Day() == inboundBegin.Day() {
				require.Equal(w.t, models.LimitSpent, out.Inbound.Limit)
				require.Zero(w.t, out.NoticeID)
			}
		}
		require.NotZero(w.t, w.text(40, "HELP").NoticeID)
		require.NotEmpty(w.t, w.text(41, weak).AlertID, "a weak sign, read by rules alone")
		require.NotEmpty(w.t, w.text(42, "i want to kill myself").AlertID)
		require.Zero(w.t, w.text(24*hours, "good morning").Inbound.Limit, "another day")
		require.NotZero(w.t, w.text(24*hours+1, "STOP").NoticeID)
	})
}
