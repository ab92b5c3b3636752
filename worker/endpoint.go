package worker

import (
	"context"
	"fmt"
	"log/slog"

	"coachline/internal/config"
	"coachline/internal/metrics"
)

// serveMetrics opens the worker's own address for scrapes where there is one.
// It answers /readyz with 200 once ready is called.
func serveMetrics(ctx context.Context, cfg config.Config, m *metrics.Metrics) (ready func(), stop func() error, err error) {
	if cfg.Worker.MetricsAddr == "" {
		return func() {}, func() error { return nil }, nil
	}
	endpoint, err := m.Open(ctx, cfg.Worker.MetricsAddr)
	if err != nil {
		return nil, nil, fmt.Errorf("COACH_METRICS_ADDR: %w", err)
	}
	slog.Info("serving metrics", "address", endpoint.Addr())
	go endpoint.Serve()
	return endpoint.SetReady, func() error { return endpoint.Close(ctx) }, nil
}
