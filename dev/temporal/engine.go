// Package temporal runs a whole Temporal server and its Web UI inside this
// process, on SQLite, for development and tests. It listens on loopback only:
// the server has neither logins nor TLS here. Production uses a cluster or
// Temporal Cloud instead.
package temporal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"

	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/temporal"
	"google.golang.org/grpc"
)

// loopback is the only address anything here listens on.
const loopback = "127.0.0.1"

// NoUI as Config.UIPort leaves the Web UI out.
const NoUI = -1

// SyncMode says when SQLite flushes to the disk.
type SyncMode string

const (
	// SyncNormal survives a crash of this process; a power cut may lose the
	// last commits. Two to three times the throughput of SyncFull.
	SyncNormal SyncMode = "normal"
	// SyncFull survives a power cut too.
	SyncFull SyncMode = "full"
)

// Config says where the engine keeps its state and listens.
type Config struct {
	// Dir holds the database; it must exist. Empty keeps everything in memory.
	Dir string
	// Sync is SyncNormal or SyncFull; empty means normal. Memory ignores it.
	Sync string
	// Port is the gRPC port, UIPort that of the Web UI; 0 takes any free port.
	Port   int
	UIPort int
	// Namespace is created when it is missing; empty means "default".
	Namespace string
	// CodecEndpoint is where the Web UI has payloads opened; empty shows them
	// as they are stored.
	CodecEndpoint string
	// Logger gets the server's own log; nil drops it.
	Logger *slog.Logger
	// SkipTime allows Forward: upstream has it off and unfinished, so harnesses alone do.
	SkipTime bool
	// Faults are errors of the server's own persistence, for tests; nil has none.
	Faults *config.FaultInjection
}

// Engine is a running server. It is complete when Start returns it.
type Engine struct {
	address   string
	uiAddress string
	server    temporal.Server
	settings  *dynamicconfig.MemoryClient
	ui        *webUI
	stop      sync.Once
	namespace string
	dialing   sync.Mutex
	conn      *grpc.ClientConn // of Forward; nil until it is called
}

// Start brings up the server, the namespace with the search attributes of
// package models' workflows, and the UI, and returns when all of them answer.
// It takes about half a second. On an error nothing is left running. A data
// folder that another server version made is refused with *VersionError and
// left as it was.
func Start(ctx context.Context, cfg Config) (*Engine, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	ports, err := choosePorts(cfg.Port, cfg.UIPort)
	if err != nil {
		return nil, err
	}
	store, err := openStore(cfg)
	if err != nil {
		return nil, err
	}
	settings := newSettings()
	server, err := newServer(cfg, store, ports, settings)
	if err != nil {
		return nil, err
	}
	if err := server.Start(); err != nil {
		return nil, fmt.Errorf("starting the Temporal server: %w", errors.Join(err, server.Stop()))
	}
	e := &Engine{address: hostPort(ports.frontend), server: server, settings: settings, namespace: cfg.Namespace}
	if err := e.finish(ctx, cfg, ports); err != nil {
		e.Stop()
		return nil, err
	}
	// Some 7 % of the processor of a reply went into reading attributes that no
	// longer change; one that is added later is seen within a minute.
	e.settings.OverrideSetting(dynamicconfig.ForceSearchAttributesCacheRefreshOnRead, false)
	if cfg.SkipTime {
		e.skipTime()
	}
	return e, nil
}

// finish does what needs a running server.
func (e *Engine) finish(ctx context.Context, cfg Config, ports portSet) error {
	if err := ensureAttributes(ctx, e.address, cfg.Namespace); err != nil {
		return err
	}
	if cfg.UIPort == NoUI {
		return nil
	}
	e.uiAddress = hostPort(ports.ui)
	ui, err := startUI(ctx, uiConfig(e.address, ports.ui, cfg))
	if err != nil {
		return err
	}
	e.ui = ui
	return nil
}

// Address is the host:port of the gRPC frontend.
func (e *Engine) Address() string { return e.address }

// UIAddress is the host:port of the Web UI; empty with NoUI.
func (e *Engine) UIAddress() string { return e.uiAddress }

// Stop ends the UI and then the server, and returns when both have; calling it
// again does nothing. State in a folder is kept, state in memory is gone.
func (e *Engine) Stop() {
	e.stop.Do(func() {
		if e.ui != nil {
			e.ui.stop()
		}
		if e.conn != nil {
			_ = e.conn.Close() // It was closed before, or is now.
		}
		// The server has no error to tell: its Stop always returns nil.
		_ = e.server.Stop()
	})
}

// complete fills defaults and refuses values that mean nothing.
func (cfg Config) complete() (Config, error) {
	if cfg.Namespace == "" {
		cfg.Namespace = "default"
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	switch SyncMode(cfg.Sync) {
	case "":
		cfg.Sync = string(SyncNormal)
	case SyncNormal, SyncFull:
	default:
		return cfg, fmt.Errorf("sync mode %q: want normal or full", cfg.Sync)
	}
	return cfg, nil
}

func hostPort(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }
