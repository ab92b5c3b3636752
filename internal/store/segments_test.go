package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

// A text's segments are counted when it is claimed, by a statement that is sent
// anyway; a text that was never claimed has none.
func TestSegmentsAreCounted(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		id := w.turn(1, promptPlan("2026-03-01"), 0)
		require.Equal(t, 1, w.count("SELECT count(*) FROM outbox WHERE segments IS NULL"))
		claim, err := w.Outbox.ClaimSend(w.ctx, id, at(1))
		require.NoError(t, err)
		require.True(t, claim.Post)
		require.Equal(t, 1, w.count("SELECT segments FROM outbox WHERE id = '"+id+"'"))
	})
}

// What is paid and reported are segments, not texts.
func TestLongTextsAreManySegments(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		two, three := strings.Repeat("a", 161), strings.Repeat("a", 2*153+1)
		w.inbound("SM1", 1, three)
		row, _, err := w.Outbox.QueueOperatorMessage(w.ctx, models.OperatorMessage{ParticipantID: "p1", Body: two, Key: "k", Actor: "user:eve", Now: at(2)})
		require.NoError(t, err)
		w.sent(row.ID, 3)
		require.Equal(t, 2, w.count("SELECT segments FROM outbox WHERE id = '"+row.ID+"'"))

		require.NoError(t, w.Costs.RecordCosts(w.ctx, priceList(t)))
		day := start.Format(time.DateOnly)
		sums, err := w.Costs.Sum(w.ctx, models.CostQuery{From: day, Until: day, By: models.CostByPerson})
		require.NoError(t, err)
		require.Len(t, sums, 1)
		require.Equal(t, []int64{2, 3, 2*10_000 + 3*20_000}, []int64{sums[0].SegmentsOut, sums[0].SegmentsIn, sums[0].Micros})
		report, err := w.Reports.DeliveryReport(w.ctx, at(-24*60), at(24*60), "")
		require.NoError(t, err)
		require.Len(t, report.Groups, 1)
		require.Equal(t, []int{1, 2}, []int{report.Groups[0].Texts, report.Groups[0].Segments})
	})
}
