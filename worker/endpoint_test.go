package worker

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/config"
	"coachline/internal/metrics"
)

func TestTheWorkersOwnAddress(t *testing.T) {
	m, err := metrics.New(metrics.Config{})
	require.NoError(t, err)
	address := func(value string) config.Config { return config.Config{Worker: config.Worker{MetricsAddr: value}} }

	_, stop, err := serveMetrics(t.Context(), address(""), m)
	require.NoError(t, err)
	require.NoError(t, stop(), "none is open")

	taken, err := m.Open(t.Context(), "127.0.0.1:0", false)
	require.NoError(t, err)
	_, _, err = serveMetrics(t.Context(), address(taken.Addr()), m)
	require.ErrorContains(t, err, "COACH_METRICS_ADDR")
	require.NoError(t, taken.Close(t.Context()))

	ready, stop, err := serveMetrics(t.Context(), address(taken.Addr()), m)
	require.NoError(t, err)
	get := func(path string) int {
		resp, err := http.Get("http://" + taken.Addr() + path)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode
	}
	require.Equal(t, http.StatusOK, get("/livez"))
	require.Equal(t, http.StatusServiceUnavailable, get("/readyz"))
	ready()
	require.Equal(t, http.StatusOK, get("/readyz"))
	require.NoError(t, stop())
}
