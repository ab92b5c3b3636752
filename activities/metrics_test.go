package activities_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/metrics"
	"coachline/models"
	"coachline/models/wire"
)

// scrape returns what a process would show to Prometheus.
func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, rec.Code)
	return rec.Body.String()
}

// A send is counted where it is recorded, by kind and by what became of it, and
// also one that a turn did not make.
func TestSendsAreCounted(t *testing.T) {
	m, err := metrics.New(metrics.Config{})
	require.NoError(t, err)
	once := func(change func(*rows, *network)) {
		r, n := ready(), &network{}
		change(r, n)
		posts := sendsOf(r, n)
		posts.Metrics = m
		_, _ = runSend(t, posts)
	}
	once(func(*rows, *network) {})
	once(func(r *rows, n *network) {
		r.claim.Outbox.Kind, n.err = models.KindHelp, &models.CarrierError{Class: models.CarrierConsent, Code: "21610", Message: "no"}
	})
	once(func(_ *rows, n *network) {
		n.err = &models.CarrierError{Class: models.CarrierRetry, Code: "20429", Message: "no"}
	})
	once(func(r *rows, _ *network) {
		r.claim.Post, r.claim.Outbox.Status, r.claim.Outbox.ErrorCode = false, wire.OutboxCanceled, "opted_out"
	})
	once(func(r *rows, _ *network) { r.claim.Outbox.Kind, r.check = models.KindNotice, wire.OutboxCanceled })
	once(func(r *rows, _ *network) { r.claim.Outbox.Kind, r.checkErr = models.KindPrompt, errDown })
	once(func(r *rows, _ *network) {
		r.claim.Outbox.Kind, r.checkErr, r.giveErr = models.KindGreeting, errDown, errDown
	})
	page := scrape(t, m)
	require.NotContains(t, page, `kind="greeting"`, "it is still being sent")
	for _, line := range []string{
		`coachline_sends_total{class="",kind="reply",status="accepted"} 1`,
		`coachline_sends_total{class="other",kind="help",status="failed"} 1`,
		`coachline_sends_total{class="",kind="reply",status="ready"} 1`,
		`coachline_sends_total{class="opted_out",kind="reply",status="canceled"} 1`,
		`coachline_sends_total{class="",kind="notice",status="canceled"} 1`,
		`coachline_sends_total{class="",kind="prompt",status="ready"} 1`,
		`coachline_consent_changes_total{action="opt_out",method="carrier_error"} 1`,
	} {
		require.Contains(t, page, line)
	}
}
