package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

// The report groups texts by day, status and code, counts those that came, and
// says how late prompts were.
func TestDeliveryReport(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.inbound("SM1", 1, "hello")
		require.NoError(t, w.Costs.RecordCosts(w.ctx, nil))
		prompt := w.turn(1, promptPlan("2026-03-02"), 2)
		w.sent(prompt, 30)
		failed := w.turn(2, replyPlan, 40)
		w.post(failed, 41)
		require.NoError(t, w.Outbox.RecordFailed(w.ctx, models.SendFailure{OutboxID: failed, Token: w.ref(failed).Token, Status: wire.OutboxFailed, Code: "30007", Now: at(42)}))
		w.turn(3, replyPlan, 50)

		report, err := w.Reports.DeliveryReport(w.ctx, at(0).Add(-time.Hour), at(600), "")
		require.NoError(t, err)
		var groups []string
		for _, g := range report.Groups {
			groups = append(groups, fmt.Sprintf("%s %s %q %d texts, %d segments, %d uncounted", g.Day, g.Status, g.Code, g.Texts, g.Segments, g.Uncounted))
			if g.Status == wire.OutboxFailed {
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

		report, err = w.Reports.DeliveryReport(w.ctx, at(600).AddDate(0, 0, 1), at(600).AddDate(0, 0, 2), "")
		require.NoError(t, err)
		require.Equal(t, models.DeliveryReport{Groups: report.Groups, Inbound: report.Inbound}, report)
		require.Empty(t, report.Groups)
		require.Empty(t, report.Inbound)
	})
}

// A text keeps the sender that posted it, the installation's or that of the person's
// study, and the report is by sender.
func TestDeliveryBySender(t *testing.T) {
	const own, studys = "+12025550100", "MG0123"
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		opened, err := store.Open(w.ctx, store.Config{URL: w.url, Sealer: newBox(t, "one"), Sender: own})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, opened.Close()) })
		w = &world{Store: opened, t: t, ctx: w.ctx, url: w.url}
		posted := func(id string, minutes int, sender models.Sender) {
			claim, err := w.Outbox.ClaimSend(w.ctx, id, at(minutes))
			require.NoError(t, err)
			claim.Sender = sender
			row, err := w.Outbox.StartPost(w.ctx, claim, at(minutes))
			require.NoError(t, err)
			require.Equal(t, wire.OutboxSending, row.Status)
			stored, err := w.Outbox.Row(w.ctx, id)
			require.NoError(t, err)
			require.Equal(t, stored.SentFrom, row.SentFrom)
			w.accepted(id, minutes)
		}
		posted(w.turn(1, promptPlan("2026-03-02"), 2), 30, models.Sender{MessagingService: studys})
		posted(w.turn(2, promptPlan("2026-03-03"), 40), 41, models.Sender{})
		posted(w.turn(3, replyPlan, 50), 51, models.Sender{From: "+12025550199"})
		posted(w.turn(4, replyPlan, 55), 56, models.Sender{})
		w.turn(5, replyPlan, 60)

		lateness := map[string]int{}
		for _, sender := range []string{"", own, studys, "+12025550199"} {
			report, err := w.Reports.DeliveryReport(w.ctx, at(0).Add(-time.Hour), at(6000), sender)
			require.NoError(t, err)
			lateness[sender] = len(report.Lateness)
			var texts []string
			for _, g := range report.Groups {
				texts = append(texts, fmt.Sprintf("%q %s %d", g.Sender, g.Status, g.Texts))
			}
			require.Equal(t, []string{`"" ready 1`, `"+12025550100" queued 2`, `"+12025550199" queued 1`, `"MG0123" queued 1`}, texts)
		}
		require.Equal(t, map[string]int{"": 2, own: 1, studys: 1, "+12025550199": 0}, lateness)
	})
}
