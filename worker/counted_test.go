package worker

import (
	"net/http"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/activities"
	"coachline/internal/config"
	"coachline/internal/metrics"
)

// TestCountedActivitiesKeepTheirNames: a workflow finds an activity by the name
// of its method, so a wrapper offers neither more nor fewer.
func TestCountedActivitiesKeepTheirNames(t *testing.T) {
	for _, pair := range [][2]any{
		{&activities.TurnLoader{}, &countedTurnLoader{}},
		{&activities.TurnEnd{}, &countedTurnEnd{}},
		{&activities.SendActivities{}, &countedSends{}},
		{&activities.ReconcileActivities{}, &countedReconcile{}},
	} {
		require.Equal(t, methods(pair[0]), methods(pair[1]), "%T", pair[1])
	}
}

func methods(of any) map[string]string {
	names := map[string]string{}
	kind := reflect.TypeOf(of)
	for i := range kind.NumMethod() {
		names[kind.Method(i).Name] = reflect.ValueOf(of).Method(i).Type().String()
	}
	return names
}

func TestTheWorkersOwnAddress(t *testing.T) {
	m, err := metrics.New(metrics.Config{})
	require.NoError(t, err)
	address := func(value string) config.Config { return config.Config{Worker: config.Worker{MetricsAddr: value}} }

	stop, err := serveMetrics(t.Context(), address(""), m)
	require.NoError(t, err)
	require.NoError(t, stop(), "none is open")

	taken, err := m.Open(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	_, err = serveMetrics(t.Context(), address(taken.Addr()), m)
	require.ErrorContains(t, err, "COACH_METRICS_ADDR")
	require.NoError(t, taken.Close(t.Context()))

	stop, err = serveMetrics(t.Context(), address(taken.Addr()), m)
	require.NoError(t, err)
	resp, err := http.Get("http://" + taken.Addr() + "/livez")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.NoError(t, stop())
}
