package metrics

import (
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	otel "go.opentelemetry.io/otel/sdk/metric"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"
)

// sdkBuckets suit both a poll of milliseconds and a task that waited minutes, in
// seconds; OpenTelemetry's own begin at five.
var sdkBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}

// newTemporal gives the Temporal SDK's metrics to OpenTelemetry, which lets the
// labels of one metric differ from call to call, as the SDK's do. A metric that
// OpenTelemetry refuses is logged and lost; the worker goes on.
func newTemporal(registry *prometheus.Registry, logger *slog.Logger) (client.MetricsHandler, error) {
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo(), exporter.WithoutTargetInfo())
	if err != nil {
		return nil, err
	}
	view := otel.NewView(otel.Instrument{Name: "*", Kind: otel.InstrumentKindHistogram},
		otel.Stream{Aggregation: otel.AggregationExplicitBucketHistogram{Boundaries: sdkBuckets}})
	provider := otel.NewMeterProvider(otel.WithReader(reader), otel.WithView(view))
	return newTagged(opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{
		Meter: provider.Meter("temporal"), UseMonotonicCounters: true,
		OnError: func(err error) { logger.Error("metric of the Temporal SDK refused", "error", err) },
	})), nil
}
