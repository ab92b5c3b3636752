package metrics

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	otel "go.opentelemetry.io/otel/sdk/metric"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"
)

// Endpoint serves GET /metrics, GET /livez and GET /readyz for a role that has no HTTP
// address of its own.
type Endpoint struct {
	listener net.Listener
	server   *http.Server
	logger   *slog.Logger
	ready    atomic.Bool
}

const (
	endpointTimeout = 10 * time.Second
	stopLimit       = time.Second
)

// Open listens on address (host:port; port 0 picks a free one), so that a taken
// port is found at once. Nothing on it asks for a token: it holds figures only,
// and belongs into a private network. With profiles it also serves those of
// net/http/pprof below /debug/pprof/.
func (m *Metrics) Open(ctx context.Context, address string, profiles bool) (*Endpoint, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("opening the address of the metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.Handler())
	if profiles {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	e := &Endpoint{listener: listener, logger: m.logger}
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !e.ready.Load() {
			http.Error(w, "not ready: it waits for Temporal or the database", http.StatusServiceUnavailable)
		}
	})
	e.server = &http.Server{
		Handler: mux, ReadHeaderTimeout: endpointTimeout, ReadTimeout: endpointTimeout, WriteTimeout: endpointTimeout,
		ErrorLog: slog.NewLogLogger(m.logger.Handler(), slog.LevelWarn),
	}
	return e, nil
}

// SetReady says from now on that the role does its work.
func (e *Endpoint) SetReady() { e.ready.Store(true) }

// Addr is the address that the endpoint listens on.
func (e *Endpoint) Addr() string { return e.listener.Addr().String() }

// Serve answers until Close. A role goes on without its metrics, so an endpoint
// that breaks is logged and not returned.
func (e *Endpoint) Serve() {
	if err := e.server.Serve(e.listener); !errors.Is(err, http.ErrServerClosed) {
		e.logger.Error("serving metrics failed", "error", err)
	}
}

// Close finishes the scrapes that run, for a second at most, and frees the
// address, whether Serve was called or not.
func (e *Endpoint) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer cancel()
	err := e.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("finishing scrapes: %w", err), e.server.Close())
	}
	if closing := e.listener.Close(); !errors.Is(closing, net.ErrClosed) {
		err = errors.Join(err, closing)
	}
	return err
}

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
