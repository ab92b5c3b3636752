// Package starter is the HTTP server: the participants API, the carrier's
// webhooks, and the relay that repairs what could not be told to Temporal at
// once. Any number of replicas may run against one database.
package starter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"coachline/internal/coach"
	"coachline/internal/config"
	"coachline/internal/keylock"
	"coachline/internal/metrics"
	"coachline/starter/attention"
	"coachline/starter/records"
	"coachline/starter/relay"
)

// FrontStore is all that the starter needs of the database; package store
// provides it.
type FrontStore interface {
	people
	evidence
	wires
}

type people interface {
	roster
	updater
	holdStore
	waitingStore
	attention.Desk
}

type evidence interface {
	transcript
	ledger
	relay.Alarms
}

type wires interface {
	mailbox
	relay.Notices
	relay.Hints
	relay.Memories
	metrics.Notices
	pinger
}

// HTTPConfig says where to listen and whom to admit.
type HTTPConfig struct {
	Addr string // host:port; port 0 picks a free one
	// Listener, when not nil, is used instead of Addr and closed by Serve.
	Listener net.Listener
	// PublicURL is named in the API document; empty leaves it out.
	PublicURL string
	// APIToken is the bearer token, of at least 32 characters; it may be empty on
	// a loopback address only.
	APIToken string
	// Limits bound how long a request may take to come in and be answered;
	// zero values take the defaults.
	Limits HTTPLimits
}

// HTTPLimits keep slow peers from holding connections. Header is from the
// first byte to the end of the headers, Read to the end of the body, Write to
// the end of the answer, Idle between two requests of a connection.
type HTTPLimits struct {
	Header, Read, Write, Idle time.Duration // 5 s, 15 s, 30 s, 2 min when zero
}

// CarrierConfig says which webhooks are meant for this programme.
type CarrierConfig struct {
	Verifier   SignatureChecker
	AccountSID string
	// OurNumbers (E.164) and MessagingServiceSID: an inbound text must be for
	// one of them.
	OurNumbers          []string
	MessagingServiceSID string
	// Listens: voice notes are kept for the worker to write down.
	Listens bool
}

// Defaults stand in for what an enrolment leaves out.
type Defaults struct {
	Zone   string // IANA name; UTC when empty
	Region string // of national phone numbers; US when empty
	// Rules say when a new participant is greeted.
	Rules coach.Rules
}

// RelayConfig paces the relay; zero values take its defaults.
type RelayConfig struct {
	Interval time.Duration
	MinAge   time.Duration
}

// Config is what a Server is made of.
type Config struct {
	HTTP     HTTPConfig
	Store    FrontStore
	Records  records.Config
	Temporal client.Client
	Carrier  CarrierConfig
	Defaults Defaults
	Relay    RelayConfig
	Codec    CodecConfig
	// Metrics are served at /metrics; a registry of their own when nil.
	Metrics *metrics.Metrics
	Version string
	Logger  *slog.Logger     // slog.Default() when nil
	Now     func() time.Time // time.Now when nil
}

// Server is a starter that listens already; Serve answers.
type Server struct {
	listener net.Listener
	http     *http.Server
	relay    *relay.Relay
}

const (
	// foregroundTell is how long an API answer waits for Temporal; after that
	// the relay goes on.
	foregroundTell = 2 * time.Second
	stopLimit      = 20 * time.Second
)

// New opens the listening address, so that Addr is known and a taken port is
// found at once. It refuses an address that others can reach without a token.
func New(ctx context.Context, cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	if cfg.Store == nil || cfg.Temporal == nil || cfg.Carrier.Verifier == nil {
		return nil, errors.New("starter needs a store, a Temporal client and a signature verifier")
	}
	if cfg.Metrics == nil {
		var err error
		if cfg.Metrics, err = metrics.New(metrics.Config{Logger: cfg.Logger}); err != nil {
			return nil, err
		}
	}
	listener, err := cfg.HTTP.listen(ctx)
	if err != nil {
		return nil, err
	}
	r := relay.New(relay.Config{
		Store: cfg.Store, Hints: cfg.Store, Alarms: cfg.Store, Memories: cfg.Store, Engine: cfg.Temporal, Metrics: cfg.Metrics, Logger: cfg.Logger, Now: cfg.Now,
		Interval: cfg.Relay.Interval, MinAge: cfg.Relay.MinAge,
	})
	past, err := records.New(cfg.Records, func() time.Time { return cfg.Now().UTC() })
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	f := &front{records: past, cfg: cfg, store: cfg.Store, relay: r, locks: keylock.New(), log: cfg.Logger, throttle: newThrottle()}
	return &Server{listener: listener, http: newHTTPServer(cfg.Metrics.Webhooks(f.handler()), cfg.HTTP.Limits, cfg.Logger), relay: r}, nil
}

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Defaults.Zone == "" {
		c.Defaults.Zone = "UTC"
	}
	if c.Defaults.Region == "" {
		c.Defaults.Region = "US"
	}
	return c
}

func (c HTTPConfig) listen(ctx context.Context) (net.Listener, error) {
	listener := c.Listener
	if listener == nil {
		var err error
		if listener, err = new(net.ListenConfig).Listen(ctx, "tcp", c.Addr); err != nil {
			return nil, fmt.Errorf("opening the HTTP address: %w", err)
		}
	}
	if c.APIToken != "" && len(c.APIToken) < config.MinTokenLength {
		return nil, errors.Join(
			fmt.Errorf("COACH_API_TOKEN must have at least %d characters: make one with: openssl rand -hex 32", config.MinTokenLength), listener.Close())
	}
	tcp, ok := listener.Addr().(*net.TCPAddr)
	if c.APIToken == "" && (!ok || !tcp.IP.IsLoopback()) {
		return nil, errors.Join(
			errors.New("COACH_API_TOKEN is required unless COACH_HTTP_ADDR is a loopback address"), listener.Close())
	}
	return listener, nil
}

// Addr is the address that the server listens on, host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Serve answers until ctx ends. It then stops taking requests, finishes those
// it has, and waits for deliveries that were begun; what is left over after
// 20 s belongs to the relay of the next process. It may be called once.
func (s *Server) Serve(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serving HTTP: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		s.relay.Run(ctx)
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		return s.stop(context.WithoutCancel(ctx))
	})
	return group.Wait()
}

func (s *Server) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	err := s.http.Shutdown(ctx)
	s.relay.Stop(ctx)
	if err != nil {
		return fmt.Errorf("finishing requests: %w", err)
	}
	return nil
}

// Run is New and Serve in one.
func Run(ctx context.Context, cfg Config) error {
	server, err := New(ctx, cfg)
	if err != nil {
		return err
	}
	cfg.withDefaults().Logger.Info("listening", "address", server.Addr())
	return server.Serve(ctx)
}

// tell delivers what a request committed before the request is answered, as
// far as that goes quickly. The outcome does not change the answer: the notice
// is committed, and the relay tells it later.
func (f *front) tell(ctx context.Context, participantID string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), foregroundTell)
	defer cancel()
	if err := f.relay.Deliver(ctx, participantID); err != nil {
		f.log.Warn("delivery failed, the relay will try again", "participant", participantID, "error", err)
	}
}
