// Package rig is what the benchmark measures and measures with: one Temporal
// server, a stand-in for the model and one for the carrier, and on them the
// product and a bare workflow that does the least the engine can do for the
// same job. Everything runs in this process, so that one profile shows all of
// it; goroutines carry the profiler label "side".
package rig

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"coachline/dev/temporal"
	"coachline/internal/wait"
)

// Backend is where the Temporal server keeps its state.
type Backend string

const (
	// Memory is SQLite without a file, SQLite a file in WAL mode, both one shard
	// and one connection. The product's own tables are a SQLite file with either.
	Memory Backend = "memory"
	SQLite Backend = "sqlite"
	// Postgres keeps the server's state and the product's tables in databases of
	// one PostgreSQL that the rig starts.
	Postgres Backend = "postgres"
)

// Check refuses what is no backend.
func (b Backend) Check() error {
	switch b {
	case Memory, SQLite, Postgres:
		return nil
	}
	return fmt.Errorf("backend %q: want memory, sqlite or postgres", string(b))
}

const (
	namespace   = "default"
	headerLimit = 10 * time.Second
	readyLimit  = time.Minute
	lookEvery   = 5 * time.Millisecond
)

// Config says what to build.
type Config struct {
	Backend Backend
	// Reports: the carrier posts a delivery report for every text of the
	// product.
	Reports bool
	// Settings are the product's own, NAME=VALUE, over those of the benchmark.
	Settings []string
	// Binary is the program dev that runs outside; empty builds that of the
	// current folder.
	Binary string
}

// Rig is everything that runs. It is complete when Start returns it.
type Rig struct {
	Model    *Model
	Carrier  *Carrier
	Product  *Product
	Bare     *Bare
	Webhook  *BareWebhook
	temporal client.Client
	phones   *phones
	outside  string // base address of model and carrier
	binary   string
	settings []string
	dir      string
	stops    []func() error
	// postgresPort is zero on other backends.
	postgresPort int
}

// environment is what the sides stand on.
type environment struct {
	temporal string // host:port
	database string // the product's DATABASE_URL
	outside  string // base address of model and carrier
	settings []string
}

// Start builds everything in a folder of its own and returns when both sides
// answer. On an error nothing is left.
func Start(ctx context.Context, cfg Config) (*Rig, error) {
	r, err := newRig()
	if err != nil {
		return nil, err
	}
	if err := r.build(ctx, cfg); err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	return r, nil
}

func newRig() (*Rig, error) {
	dir, err := os.MkdirTemp("", "coachline-bench-")
	if err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	r := &Rig{dir: dir, Model: &Model{}}
	r.onStop(func() error { return os.RemoveAll(dir) })
	return r, nil
}

func (r *Rig) build(ctx context.Context, cfg Config) error {
	at, err := r.server(ctx, cfg.Backend)
	if err != nil {
		return err
	}
	p := newPhones()
	if r.Carrier, err = newCarrier(cfg.Reports); err != nil {
		return err
	}
	at.settings = cfg.Settings
	if at.outside, err = r.standIns(ctx); err != nil {
		return err
	}
	r.temporal, err = client.DialContext(ctx, client.Options{
		HostPort: at.temporal, Namespace: namespace, Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	if err != nil {
		return fmt.Errorf("reaching the Temporal server: %w", err)
	}
	r.onStop(func() error { r.temporal.Close(); return nil })
	if r.Product, err = newProduct(at, p, r.temporal); err != nil {
		return err
	}
	r.Bare = newBare(at, r.Product.Slope(), r.temporal)
	if r.Webhook, err = newBareWebhook(ctx, r.Bare, p); err != nil {
		return err
	}
	r.onStop(r.Webhook.close, r.Bare.Stop, r.Product.Stop)
	if err := r.Bare.Start(ctx); err != nil {
		return err
	}
	return r.Product.Start(ctx)
}

// server starts the Temporal server and says where the product's tables go.
func (r *Rig) server(ctx context.Context, backend Backend) (environment, error) {
	at := environment{database: "sqlite:" + filepath.Join(r.dir, "coachline.db")}
	dir := r.dir
	switch backend {
	case Memory:
		dir = ""
	case SQLite:
	case Postgres:
		return r.postgres(ctx)
	}
	if err := backend.Check(); err != nil {
		return at, err
	}
	var e *temporal.Engine
	var err error
	runLabelled(ctx, "server", func(ctx context.Context) {
		e, err = temporal.Start(ctx, temporal.Config{Dir: dir, UIPort: temporal.NoUI, Namespace: namespace})
	})
	if err != nil {
		return at, fmt.Errorf("starting the Temporal server: %w", err)
	}
	r.onStop(func() error { e.Stop(); return nil })
	at.temporal = e.Address()
	return at, nil
}

// standIns serves model and carrier on one address.
func (r *Rig) standIns(ctx context.Context) (string, error) {
	mux := http.NewServeMux()
	mux.Handle("POST /v1/chat/completions", r.Model.Handler())
	mux.Handle("/2010-04-01/", r.Carrier.network.Handler())
	mux.HandleFunc("GET "+SearchPath, search)
	mux.HandleFunc("GET "+pagePath, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, strings.Repeat("A walk a day is a fine thing to do. ", pageLength))
	})
	base, stop, err := serve(ctx, "stand-ins", mux)
	if err != nil {
		return "", err
	}
	r.onStop(func() error {
		r.Model.Hang()() // Lets go of what still hangs.
		return errors.Join(stop(), r.Carrier.network.Close())
	})
	return base, nil
}

// SearchPath is where the stand-in of a search engine answers.
const SearchPath = "/search"

const (
	pagePath   = "/page/"
	pageLength = 400 // sentences
	hits       = 5
)

// search finds pages of this stand-in, others for each query.
func search(w http.ResponseWriter, r *http.Request) {
	var found []string
	for i := range hits {
		found = append(found, fmt.Sprintf(`{"title":"Walk %d","url":"http://%s%s%d","content":"A walk."}`, i, r.Host, pagePath, i))
	}
	fmt.Fprintf(w, `{"results":[%s]}`, strings.Join(found, ","))
}

// onStop registers what Stop does, the last first.
func (r *Rig) onStop(stops ...func() error) { r.stops = append(r.stops, stops...) }

// Stop ends everything, also where one part fails, and removes the
// folder.
func (r *Rig) Stop() error {
	var problems []error
	for len(r.stops) > 0 {
		last := len(r.stops) - 1
		problems = append(problems, r.stops[last]())
		r.stops = r.stops[:last]
	}
	return errors.Join(problems...)
}

// runLabelled runs work and what it starts under a profiler label.
func runLabelled(ctx context.Context, side string, work func(context.Context)) {
	pprof.Do(ctx, pprof.Labels("side", side), work)
}

// serve answers on a free port of this machine.
func serve(ctx context.Context, side string, handler http.Handler) (base string, stop func() error, err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("opening an address: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: headerLimit}
	done := make(chan error, 1)
	runLabelled(ctx, side, func(context.Context) { go func() { done <- server.Serve(listener) }() })
	return "http://" + listener.Addr().String(), func() error {
		err := server.Close()
		if ended := <-done; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
		return err
	}, nil
}

// pollUntil repeats a check until it says yes.
func pollUntil(ctx context.Context, ready func(context.Context) bool) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	for !ready(ctx) {
		if err := wait.For(ctx, lookEvery); err != nil {
			return err
		}
	}
	return nil
}
