package starter

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// pinger tells whether the database answers.
type pinger interface {
	Ping(ctx context.Context) error
}

const readyLimit = 2 * time.Second

// Readiness says of each dependency of the starter whether it answers.
type Readiness struct {
	Database string `json:"database" enum:"ok,unreachable"`
	Temporal string `json:"temporal" enum:"ok,unreachable"`
}

// VersionView is the result of GET /version.
type VersionView struct {
	Version string `json:"version"`
}

type empty struct{}

func (f *front) opsRoutes(api huma.API) {
	open := func(path, id, summary string, errors ...int) huma.Operation {
		return huma.Operation{OperationID: id, Method: http.MethodGet, Path: path, Summary: summary, Errors: errors}
	}
	huma.Register(api, open("/livez", "livez", "The process runs"),
		func(context.Context, *empty) (*answer[empty], error) { return newAnswer("alive", empty{}), nil })
	huma.Register(api, open("/readyz", "readyz", "Database and Temporal answer", http.StatusServiceUnavailable), f.readyz)
	huma.Register(api, open("/version", "version", "Version of this build"),
		func(context.Context, *empty) (*answer[VersionView], error) {
			return newAnswer("", VersionView{Version: f.cfg.Version}), nil
		})
}

func (f *front) readyz(ctx context.Context, _ *empty) (*answer[Readiness], error) {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	ready := Readiness{Database: "ok", Temporal: "ok"}
	temporalErr := make(chan error, 1)
	go func() {
		_, err := f.cfg.Temporal.CheckHealth(ctx, nil)
		temporalErr <- err
	}()
	if err := f.store.Ping(ctx); err != nil {
		ready.Database = "unreachable"
		f.log.Warn("database is not reachable", "error", err)
	}
	if err := <-temporalErr; err != nil {
		ready.Temporal = "unreachable"
		f.log.Warn("temporal is not reachable", "error", err)
	}
	if ready.Database != "ok" || ready.Temporal != "ok" {
		return nil, failure(http.StatusServiceUnavailable, "not ready: database %s, temporal %s", ready.Database, ready.Temporal)
	}
	return newAnswer("ready", ready), nil
}

// plainRoutes mounts what is not JSON of ours: metrics and the API document.
func (f *front) plainRoutes(mux *http.ServeMux, doc *huma.OpenAPI) {
	mux.Handle("GET /metrics", f.cfg.Metrics.HandlerWith(f.store))
	doc.AddOperation(plain{http.MethodGet, "/metrics", "Prometheus metrics", "text/plain"}.operation(http.StatusBadRequest))
	document := plain{http.MethodGet, "/openapi.json", "This document", "application/openapi+json"}.operation(http.StatusBadRequest)
	document.Responses["200"].Content["application/openapi+json"].Schema = &huma.Schema{
		Type: huma.TypeObject, Required: []string{"openapi", "info", "paths"}, AdditionalProperties: true,
		Properties: map[string]*huma.Schema{
			"openapi": {Type: huma.TypeString}, "info": {Type: huma.TypeObject, AdditionalProperties: true},
			"paths": {Type: huma.TypeObject, AdditionalProperties: true},
		},
	}
	doc.AddOperation(document)
	raw, err := json.Marshal(doc)
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		if err != nil {
			f.log.Error("writing the API document failed", "error", err)
			writeFailure(w, failure(http.StatusInternalServerError, "internal error"))
			return
		}
		writeBody(w, "application/openapi+json", raw)
	})
}

// plain is a route that is served outside the API library.
type plain struct{ method, path, summary, contentType string }

// operation describes the route and the errors it answers with.
func (p plain) operation(errors ...int) *huma.Operation {
	op := &huma.Operation{
		Method: p.method, Path: p.path, Summary: p.summary, OperationID: operationID(p.method, p.path),
		Responses: map[string]*huma.Response{
			"200": {Description: "OK", Content: map[string]*huma.MediaType{p.contentType: {Schema: &huma.Schema{Type: huma.TypeString}}}},
		},
	}
	for _, code := range errors {
		op.Responses[strconv.Itoa(code)] = &huma.Response{
			Description: http.StatusText(code),
			Content: map[string]*huma.MediaType{
				"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/Failure"}},
			},
		}
	}
	return op
}

func operationID(method, path string) string {
	id := []byte(method)
	for _, c := range []byte(path) {
		if c == '/' || c == '.' {
			c = '-'
		}
		id = append(id, c)
	}
	return string(id)
}

// writeFailure answers outside the API library. A failed write means that the
// caller has gone, and the error cannot be reported.
func writeFailure(w http.ResponseWriter, refused *Failure) {
	raw, err := json.Marshal(refused)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(refused.status)
	_, _ = w.Write(append(raw, '\n'))
}

func writeBody(w http.ResponseWriter, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}
