package store_test

import (
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
		require.Equal(w.t, []models.CostSum{{Calls: 2, SegmentsOut: 2, SegmentsIn: 1, Micros: 40_000}}, sums)
	})
}
