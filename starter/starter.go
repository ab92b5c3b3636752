// Package starter is the HTTP server: the participants API, the carrier's
// webhooks, and the relay that delivers to Temporal what could not be delivered
// at once. Any number of replicas may run against one database.
//
// starter.go configures and runs the server, role.go connects it to the
// database and to Temporal. routes.go makes one struct for each noun, such as
// holdRoutes, with what that needs; its register method adds its routes, and its
// other methods answer them. It is in the file of the noun:
//
//	/conversation/participants             participants.go
//	/conversation/participants/{id}        participants.go, PUT in participantchange.go
//	.../history, /waiting                  history.go, waiting.go
//	.../messages, /chat                    messages.go, chat.go
//	.../state, /mode                       state.go, mode.go
//	.../turns, /turns/{number}             turns.go; their JSON is built in turnviews.go
//	.../consents                           consents.go
//	.../memories, /memories/{fact}         memory.go
//	.../memory/export                      export.go
//	.../attention and /attention           attention.go
//	/alerts, /alerts/{id}/mark, /sheet     alerts.go
//	.../erase, /erasures                   erasures.go
//	/holds                                 holds.go
//	/agenda                                agenda.go
//	/delivery                              deliveryreport.go
//	/cohorts                               cohorts.go, carried out in cohortrun.go
//	/costs, /budgets                       costs.go
//	/studies/{id}/export                   studyexport.go
//	/twilio/inbound, /twilio/status        webhooks.go
//	/codec/decode, /codec/encode           codec.go
//	/self, /users, /sessions, /tokens      users.go
//	/audit, /audit/chain                   audit.go
//	/audit/export                          auditexport.go
//	/settings, /settings/checks            settings.go
//	/livez, /readyz, /version, /metrics    health.go
//	/openapi.json                          document.go
//
// What every request passes is in middleware.go (headers, unknown paths),
// queryparams.go (unknown parameters) and auth.go (the token, its throttle); reads.go
// records in the audit who has read what was written;
// errors.go maps errors to answers. The JSON types are in internal/api.
package starter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"coachline/internal/coach"
	"coachline/internal/config"
	"coachline/internal/console"
	"coachline/internal/metrics"
	"coachline/internal/prices"
	"coachline/internal/safety"
	"coachline/internal/store"
	"coachline/internal/study"
	"coachline/internal/tools"
	"coachline/internal/webhooks"
	"coachline/internal/wrap"
	"coachline/starter/relay"
)

// HTTPConfig says where to listen and whom to admit.
type HTTPConfig struct {
	Addr string // host:port; port 0 picks a free one
	// Listener, when not nil, is used instead of Addr and closed by Serve.
	Listener net.Listener
	// PublicURL is named in the API document; empty leaves it out.
	PublicURL string
	// APIToken is the bearer token, of at least 32 characters; it may be empty on
	// a loopback address only, and then callers from this machine are administrators
	// until there is a user.
	APIToken string
	// TemporalURL and PhonesURL are where the console's links to the Temporal UI
	// (with its namespace) and to the simulated phones lead; empty: no links.
	TemporalURL, PhonesURL string
	// TrustedProxies are those whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	// Provider is where operators may sign in besides with passwords.
	Provider console.Provider
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
	// GreetingsPerMinute is the most greetings of a cohort that are planned for one
	// minute, unless its import says another number; 0: what a long code can send.
	GreetingsPerMinute int
}

// RelayConfig paces the relay; zero values take its defaults.
type RelayConfig struct {
	Interval time.Duration
	MinAge   time.Duration
	// Escalation is after how long an alert that no operator has acknowledged pages
	// once more; 0: never.
	Escalation time.Duration
}

// Config is what a Server is made of.
type Config struct {
	HTTP  HTTPConfig
	Store *store.Store
	// Changes tells the console's pages what has changed; nil: they do not follow.
	Changes  console.Changes
	Temporal client.Client
	// Workers returns why no worker takes tasks; nil where one does.
	Workers  func(ctx context.Context) error
	Carrier  CarrierConfig
	Defaults Defaults
	Relay    RelayConfig
	// Safety is what the page about safety says of the installation.
	Safety safety.Facts
	Codec  CodecConfig
	// Prices are what costs are counted at; nil: no money is counted.
	Prices *prices.List
	// WebAllow lists addresses that webhooks may reach although they are not public.
	WebAllow []netip.AddrPort
	// Namespace is the client's.
	Namespace string
	// Retention is how long after their removal people are erased; 0 is never.
	Retention time.Duration
	// StrangerRetention is how long texts of people who were never enrolled are kept; 0
	// is for ever.
	StrangerRetention time.Duration
	Settings          SettingsConfig
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
	// runCohorts carries out imports until its context ends.
	runCohorts func(context.Context)
	// followStudies keeps what is in force for each study until its context ends,
	// runCloseOuts ends the coaching of people whose study is over.
	followStudies, runCloseOuts func(context.Context)
	// runWebhooks delivers events to receivers outside.
	runWebhooks func(context.Context)
	upkeep      dailyChecks
}

// stopLimit bounds the time in which a server that is stopped finishes its
// requests and deliveries.
const stopLimit = 20 * time.Second

// New opens the listening address, so that Addr is known and a taken port is
// found at once. It refuses an address that others can reach without a token.
func New(ctx context.Context, cfg Config) (*Server, error) {
	h, err := newHandlers(cfg)
	if err != nil {
		return nil, err
	}
	return h.newServer(ctx)
}

// newHandlers puts together what answers requests. It opens nothing.
func newHandlers(cfg Config) (*handlers, error) {
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
	r := relay.New(relay.Config{
		Store: relay.StoreOf(cfg.Store), Engine: cfg.Temporal, Metrics: cfg.Metrics, Logger: cfg.Logger, Now: cfg.Now,
		Costs: cfg.Store.Costs, Budgets: cfg.Store.Budgets, Prices: cfg.Prices,
		Histories: relay.NewHistories(cfg.Temporal, cfg.Namespace), Retention: cfg.Retention, StrangerRetention: cfg.StrangerRetention,
		Interval: cfg.Relay.Interval, MinAge: cfg.Relay.MinAge, Escalation: cfg.Relay.Escalation,
	})
	h := &handlers{
		base: base{log: cfg.Logger, clock: cfg.Now, relay: r}, cfg: cfg, closing: make(chan struct{}),
		resolver: study.New(study.Config{Studies: cfg.Store.Studies, KnownTools: tools.Names(), Logger: cfg.Logger}),
	}
	h.numbers = &numbers{cfg.Defaults.Region, cfg.Carrier, h.resolver}
	h.cohorts = newCohortRoutes(h.base, cfg, h.resolver, h.numbers)
	return h, nil
}

// newServer opens the listening address for the handlers.
func (h *handlers) newServer(ctx context.Context) (*Server, error) {
	cfg := h.cfg
	listener, err := cfg.HTTP.openListener(ctx)
	if err != nil {
		return nil, err
	}
	handler, err := h.newHandler()
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	server := newHTTPServer(withClientAddress(cfg.HTTP.TrustedProxies, cfg.Metrics.Webhooks(handler)), cfg.HTTP.Limits, cfg.Logger)
	server.RegisterOnShutdown(func() { close(h.closing) })
	return &Server{
		listener: listener, http: server, relay: h.relay, runCohorts: h.cohorts.run, followStudies: h.resolver.Follow,
		runCloseOuts: (&closeOuts{h.base, cfg.Store.People, cfg.Defaults.Rules, h.resolver}).run,
		runWebhooks:  webhooks.New(webhooks.Config{Store: cfg.Store.Webhooks, Study: cfg.Store.Studies.Study, Allow: cfg.WebAllow, Counter: cfg.Metrics, Logger: cfg.Logger, Now: cfg.Now}).Run,
		upkeep:       dailyChecks{checkNew: cfg.Store.Audit.CheckNewAudit, expireSessions: cfg.Store.Sessions.DeleteExpiredSessions, metrics: cfg.Metrics, log: cfg.Logger, now: cfg.Now},
	}, nil
}

func (c Config) withDefaults() Config {
	if c.Workers == nil {
		c.Workers = func(context.Context) error { return nil }
	}
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
	if c.Defaults.GreetingsPerMinute == 0 {
		c.Defaults.GreetingsPerMinute = greetingsPerMinute(0)
	}
	return c
}

func (c HTTPConfig) openListener(ctx context.Context) (net.Listener, error) {
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
		s.upkeep.run(ctx)
		return nil
	})
	group.Go(func() error {
		s.runCohorts(ctx)
		return nil
	})
	group.Go(func() error {
		s.followStudies(ctx)
		return nil
	})
	group.Go(func() error {
		s.runCloseOuts(ctx)
		return nil
	})
	group.Go(func() error {
		s.runWebhooks(ctx)
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
	return wrap.Error(err, "finishing requests")
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

func newHTTPServer(handler http.Handler, limits HTTPLimits, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: cmp.Or(limits.Header, 5*time.Second),
		ReadTimeout:       cmp.Or(limits.Read, 15*time.Second),
		WriteTimeout:      cmp.Or(limits.Write, 30*time.Second),
		IdleTimeout:       cmp.Or(limits.Idle, 2*time.Minute),
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}
