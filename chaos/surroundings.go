package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/protobuf/types/known/durationpb"

	"coachline/dev/temporal"
	"coachline/internal/pgtest"
	"coachline/internal/sim/twilio"
)

const retention = 24 * time.Hour

// environment are what all installations share: a Temporal server in this process with its state
// in memory, and the address of carrier and model.
type environment struct {
	engine   *temporal.Engine
	dir      string
	cache    int    // workflows that a worker keeps
	temporal string // address of the Temporal server
	base     string // of carrier and model
	client   *http.Client
	quiet    sdklog.Logger
	serving  *http.Server
	page     http.HandlerFunc // receives alerts

	installations atomic.Int64
	mu            sync.Mutex
	instances     map[string]*instance
}

func newSurroundings(ctx context.Context, cfg temporal.Config, cache int) (*environment, error) {
	dir, err := os.MkdirTemp(pgtest.MemoryFolder(), "coachline-enumerate-")
	if err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	s := &environment{
		dir: dir, page: http.NotFound, cache: cache, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}},
		quiet: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)), instances: map[string]*instance{},
	}
	cfg.UIPort = temporal.NoUI
	if s.engine, err = temporal.Start(ctx, cfg); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the Temporal server: %w", err), os.RemoveAll(dir))
	}
	s.temporal = s.engine.Address()
	if err := s.serveStandIns(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// serveStandIns answers for carrier and model; the first part of a path names the
// instance that asks.
func (s *environment) serveStandIns(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("opening an address: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/{instance}/2010-04-01/", s.serveStandIn("carrier"))
	mux.HandleFunc("POST /{instance}/v1/chat/completions", s.serveStandIn("model"))
	mux.HandleFunc("POST /page", func(w http.ResponseWriter, r *http.Request) { s.page(w, r) })
	s.base = "http://" + listener.Addr().String()
	s.serving = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.serving.Serve(listener) }() // ends with close
	return nil
}

// serveStandIn serves a stand-in of the installation that asks; a killed instance
// asks for nothing.
func (s *environment) serveStandIn(which string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("instance")
		s.mu.Lock()
		i := s.instances[name]
		s.mu.Unlock()
		if i == nil || i.isDead() {
			panic(http.ErrAbortHandler)
		}
		r = r.WithContext(context.WithValue(r.Context(), callerKey{}, i))
		http.StripPrefix("/"+name, i.installation.handlers[which]).ServeHTTP(w, r)
	}
}

func (s *environment) add(i *instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i.name = fmt.Sprintf("%s%d", i.role, len(s.instances)+1)
	s.instances[i.name] = i
}

// makeNamespace makes a namespace and waits until the server knows it.
func (s *environment) makeNamespace(ctx context.Context, name string) (client.Client, error) {
	c, err := client.NewNamespaceClient(client.Options{HostPort: s.temporal, Logger: s.quiet})
	if err != nil {
		return nil, fmt.Errorf("preparing a namespace client: %w", err)
	}
	defer c.Close()
	err = c.Register(ctx, &workflowservice.RegisterNamespaceRequest{Namespace: name, WorkflowExecutionRetentionPeriod: durationpb.New(retention)})
	var exists *serviceerror.NamespaceAlreadyExists
	if err != nil && !errors.As(err, &exists) {
		return nil, fmt.Errorf("making namespace %s: %w", name, err)
	}
	for try := 0; ; try++ {
		direct, err := client.DialContext(ctx, client.Options{HostPort: s.temporal, Namespace: name, Logger: s.quiet})
		if err == nil {
			_, err = direct.DescribeTaskQueue(ctx, "none", 1)
			if err == nil {
				return direct, nil
			}
			direct.Close()
		}
		if try > 200 || !twilio.Pause(ctx, lookEvery) {
			return nil, fmt.Errorf("reaching namespace %s: %w", name, err)
		}
	}
}

func (s *environment) file(name string) string {
	return filepath.Join(s.dir, strings.ReplaceAll(name, "/", "_"))
}

func (s *environment) close() error {
	if s.serving != nil {
		_ = s.serving.Close()
	}
	if s.engine != nil {
		s.engine.Stop()
	}
	return os.RemoveAll(s.dir)
}
