package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

// The report groups texts by day, status and code, counts those that came, and
// says how late prompts were.
func TestDeliveryReport(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.inbound("SM1", 1, "hello")
		require.NoError(t, w.RecordCosts(w.ctx, nil))
		prompt := w.turn(1, promptPlan("2026-03-02"), 2)
		w.sent(prompt, 30)
		failed := w.turn(2, replyPlan, 40)
		w.post(failed, 41)
		require.NoError(t, w.RecordFailed(w.ctx, models.SendFailure{OutboxID: failed, Token: w.ref(failed).Token, Status: models.OutboxFailed, Code: "30007", Now: at(42)}))
		w.turn(3, replyPlan, 50)

		report, err := w.DeliveryReport(w.ctx, at(0).Add(-time.Hour), at(600))
		require.NoError(t, err)
		var groups []string
		for _, g := range report.Groups {
			groups = append(groups, fmt.Sprintf("%s %s %q %d texts, %d segments, %d uncounted", g.Day, g.Status, g.Code, g.Texts, g.Segments, g.Uncounted))
			if g.Status == models.OutboxFailed {
				require.Equal(t, []int64{at(42).Unix(), at(40).Unix()}, []int64{g.Newest, g.Oldest})
			}
		}
		day := at(0).UTC().Format(time.DateOnly)
		require.Equal(t, []string{
			day + ` failed "30007" 1 texts, 1 segments, 0 uncounted`, day + ` queued "" 1 texts, 1 segments, 0 uncounted`,
			day + ` ready "" 1 texts, 1 segments, 1 uncounted`,
		}, groups)
		require.Equal(t, []models.InboundDay{{Day: day, Texts: 1}}, report.Inbound)
		require.Equal(t, []time.Duration{20 * time.Minute}, report.Lateness)
		require.False(t, report.Cut)

		report, err = w.DeliveryReport(w.ctx, at(600).AddDate(0, 0, 1), at(600).AddDate(0, 0, 2))
		require.NoError(t, err)
		require.Equal(t, models.DeliveryReport{Groups: report.Groups, Inbound: report.Inbound}, report)
		require.Empty(t, report.Groups)
		require.Empty(t, report.Inbound)
	})
}
