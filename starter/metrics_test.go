package starter

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/metrics"
	"coachline/models"
	"coachline/models/wire"
)

// figures are what a scrape of the starter shows.
func (h *harness) figures() string {
	h.t.Helper()
	got := h.do(call{method: "GET", path: "/metrics"})
	require.Equal(h.t, http.StatusOK, got.status)
	return "\n" + got.raw
}

func TestFrontDoorIsCounted(t *testing.T) {
	m, err := metrics.New(metrics.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	h := start(t, func(c *Config) { c.Metrics = m })
	ann := h.ann()
	require.Equal(t, http.StatusOK, h.text(sid(1), "hello").status)
	require.Equal(t, http.StatusOK, h.text(sid(1), "hello").status)
	unsigned := h.do(call{method: "POST", path: inboundPath, body: "a=b", header: map[string]string{"Content-Type": formType}})
	require.Equal(t, http.StatusForbidden, unsigned.status)
	stop := h.text(sid(2), "STOP")
	require.Equal(t, http.StatusOK, stop.status, stop.raw)
	text := h.figures()
	for _, line := range []string{
		`coachline_inbound_texts_total{reason="",verdict="accepted"} 2`,
		`coachline_inbound_texts_total{reason="",verdict="duplicate"} 1`,
		`coachline_inbound_texts_total{reason="signature",verdict="refused"} 1`,
		`coachline_webhook_duration_seconds_count{code="200",hook="inbound"} 3`,
		`coachline_webhook_duration_seconds_count{code="403",hook="inbound"} 1`,
		`coachline_workflow_calls_total{call="start",outcome="told"} 1`,
	} {
		require.Contains(t, text, "\n"+line+"\n")
	}
	require.Contains(t, text, "\ncoachline_notices_waiting ")
	require.NotContains(t, text, ann.ID)
}

// A carrier's report that a participant opted out is counted once it is stored.
func TestOptOutAtTheCarrierIsCounted(t *testing.T) {
	h := start(t, nil)
	ann := h.ann()
	for _, id := range []string{"conv_1-t1-p1", "conv_1-t2-p1"} {
		h.addRows(&models.Outbox{ID: id, ParticipantID: ann.ID, Body: "Hi", Status: wire.OutboxSent, CreatedAt: testNow})
	}
	report := func(outbox, sid, code string) {
		form := url.Values{"MessageSid": {sid}, "AccountSid": {testAccount}, "MessageStatus": {"undelivered"}, "ErrorCode": {code}}
		require.Equal(t, http.StatusOK, h.webhook(statusPath+"?outbox="+outbox, form).status)
	}
	report("conv_1-t1-p1", sid(1), "30003")
	report("", sid(9), "21610") // not of a text of ours
	require.NotContains(t, h.figures(), "\ncoachline_consent_changes_total{")
	report("conv_1-t2-p1", sid(2), "21610")
	require.Contains(t, h.figures(), "\n"+`coachline_consent_changes_total{action="opt_out",method="carrier_error"} 1`+"\n")
}

func TestUnavailableTextIsCounted(t *testing.T) {
	m, err := metrics.New(metrics.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	broken := m.Webhooks(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeFailure(w, newFailure(http.StatusServiceUnavailable, "not stored, try again"))
	}))
	broken.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, inboundPath, nil))
	out := httptest.NewRecorder()
	m.Handler().ServeHTTP(out, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Contains(t, out.Body.String(), `coachline_inbound_texts_total{reason="",verdict="unavailable"} 1`)
	require.Contains(t, out.Body.String(), `coachline_webhook_duration_seconds_count{code="503",hook="inbound"} 1`)
}
