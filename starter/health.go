package starter

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"go.temporal.io/sdk/client"

	"coachline/internal/api"
	"coachline/internal/metrics"
	"coachline/internal/store"
)

// readyLimit is how long the dependencies have to answer.
const readyLimit = 2 * time.Second

// healthRoutes answers whether the process and what it needs are well.
type healthRoutes struct {
	base
	store    *store.Store
	temporal client.Client
	workers  func(context.Context) error
	metrics  *metrics.Metrics
	version  string
}

func (h *healthRoutes) register(router huma.API) {
	open := func(path, id, summary string, errors ...int) huma.Operation {
		return huma.Operation{OperationID: id, Method: http.MethodGet, Path: path, Summary: summary, Errors: errors}
	}
	huma.Register(router, open("/livez", "livez", "The process runs"),
		func(context.Context, *noInput) (*answer[api.Empty], error) {
			return newAnswer("alive", api.Empty{}), nil
		})
	huma.Register(router, open("/readyz", "readyz", "Database and Temporal answer", http.StatusServiceUnavailable), h.getReadiness)
	huma.Register(router, open("/version", "version", "Version of this build"),
		func(context.Context, *noInput) (*answer[api.Version], error) {
			return newAnswer("", api.Version{Version: h.version}), nil
		})
}

func (h *healthRoutes) getReadiness(ctx context.Context, _ *noInput) (*answer[api.Readiness], error) {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	ready := api.Readiness{Database: "ok", Temporal: "ok"}
	temporalErr := make(chan error, 1)
	go func() {
		_, err := h.temporal.CheckHealth(ctx, nil)
		temporalErr <- err
	}()
	if err := h.store.Ping(ctx); err != nil {
		ready.Database = "unreachable"
		h.log.Warn("database is not reachable", "error", err)
	}
	if err := <-temporalErr; err != nil {
		ready.Temporal = "unreachable"
		h.log.Warn("temporal is not reachable", "error", err)
	}
	ready.Workers = "ok"
	if ready.Temporal == "ok" {
		if err := h.workers(ctx); err != nil {
			ready.Workers = err.Error()
		}
	}
	if ready.Database != "ok" || ready.Temporal != "ok" {
		return nil, newFailure(http.StatusServiceUnavailable, "not ready: database %s, temporal %s", ready.Database, ready.Temporal)
	}
	return newAnswer("ready", ready), nil
}

func (h *healthRoutes) registerMetrics(mux *http.ServeMux, doc *huma.OpenAPI) {
	mux.Handle("GET /metrics", h.metrics.HandlerWith(metrics.Backlog{
		Notices: h.store.Notices.PendingNotices, SenderHolds: h.store.Outbox.SenderHolds, Attention: h.store.Attention.CountAttention,
		Workers: h.workers,
	}))
	doc.AddOperation(plainRoute{http.MethodGet, "/metrics", "Prometheus metrics", "text/plain"}.newOperation(http.StatusBadRequest))
}
