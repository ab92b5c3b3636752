package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
)

// TestOnePersonPagesOnceInTenMinutes: 30 cries of a minute are one page with a count,
// until an operator acknowledges it or ten minutes are over.
func TestOnePersonPagesOnceInTenMinutes(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		first := w.crisis(0).AlertID
		for second := range 29 {
			require.Equal(w.t, first, w.alert(w.crisis(2*second+1).AlertID).FoldedInto)
		}
		read, err := w.Alerts.AlertText(w.ctx, first)
		require.NoError(w.t, err)
		require.Equal(w.t, int64(29), read.More)
		late, err := w.Alerts.UnacknowledgedAlerts(w.ctx, inboundAt(hours), 50)
		require.NoError(w.t, err)
		require.LessOrEqual(w.t, len(late), 1, "one second page")
		next := w.crisis(600).AlertID
		require.Empty(w.t, w.alert(next).FoldedInto, "ten minutes later")
		row, err := w.Alerts.AcknowledgeAlert(w.ctx, models.AlertAcknowledgement{AlertID: next, Actor: "mia", Now: inboundAt(620)})
		require.NoError(w.t, err)
		require.NotNil(w.t, row.AcknowledgedAt)
		require.Empty(w.t, w.alert(w.crisis(630).AlertID).FoldedInto, "seen to: what is new pages")
	})
}

// TestStrangersPageFiveTimesAnHour: more than five numbers within an hour are one page
// with a count.
func TestStrangersPageFiveTimesAnHour(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		var pages []string
		for i := range 100 {
			out := w.take(models.Inbound{From: fmt.Sprintf("+1202555%04d", 200+i), Body: "I want to kill myself", ReceivedAt: inboundAt(i)})
			if w.alert(out.AlertID).FoldedInto == "" {
				pages = append(pages, out.AlertID)
			}
		}
		require.Len(w.t, pages, 6)
		read, err := w.Alerts.AlertText(w.ctx, pages[5])
		require.NoError(w.t, err)
		require.Equal(w.t, int64(94), read.More)
	})
}
