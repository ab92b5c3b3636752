package starter

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/metrics"
	"coachline/models"
)

// dailyAccess answers the daily check.
type dailyAccess struct {
	chain   models.AuditChain
	failure error
	checks  int
	expired []time.Time
}

func (d *dailyAccess) CheckNewAudit(context.Context, time.Time) (models.AuditChain, error) {
	d.checks++
	return d.chain, d.failure
}

func (d *dailyAccess) DeleteExpiredSessions(_ context.Context, at time.Time) error {
	d.expired = append(d.expired, at)
	return nil
}

func TestAuditIsCheckedDaily(t *testing.T) {
	for _, tc := range []struct {
		name   string
		access *dailyAccess
		log    string
		result string
	}{
		{"whole", &dailyAccess{chain: models.AuditChain{Rows: 12, Erased: 1, Head: "abc"}}, `level=INFO msg="audit chain verified" rows=12 whole=false erased=1 head=abc`, "whole"},
		{"broken", &dailyAccess{chain: models.AuditChain{BrokenAt: 3, Problem: "row 3 is missing"}}, `level=ERROR msg="the audit is broken`, "broken"},
		{"unknown", &dailyAccess{failure: errors.New("away")}, `level=ERROR msg="checking the audit failed`, "unknown"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, err := metrics.New(metrics.Config{Logger: slog.New(slog.DiscardHandler)})
				require.NoError(t, err)
				var log bytes.Buffer
				ctx, cancel := context.WithCancel(t.Context())
				u := dailyChecks{checkNew: tc.access.CheckNewAudit, expireSessions: tc.access.DeleteExpiredSessions, metrics: m, log: slog.New(slog.NewTextHandler(&log, nil)), now: time.Now}
				go u.run(ctx)
				<-time.After(upkeepEvery + time.Second)
				synctest.Wait()
				cancel()
				synctest.Wait()
				require.Equal(t, 2, tc.access.checks, "at the start and after a day")
				require.Len(t, tc.access.expired, 2)
				require.Contains(t, log.String(), tc.log)
				require.Contains(t, scrape(t, m), `coachline_audit_checks_total{result="`+tc.result+`"} 2`)
			})
		})
	}
}

func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	return answer.Body.String()
}
