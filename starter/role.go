package starter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"go.temporal.io/sdk/client"

	"coachline/internal/api"
	"coachline/internal/build"
	"coachline/internal/config"
	"coachline/internal/connect"
	"coachline/internal/console"
	"coachline/internal/metrics"
	"coachline/internal/safety"
	"coachline/internal/sms"
	"coachline/internal/store"
	"coachline/internal/wait"
	"coachline/models"
)

// RunRole runs the starter from the program's configuration until ctx ends. It
// fails when the configuration, the database or the listening address does;
// Temporal may come later, and /readyz says so meanwhile.
func RunRole(ctx context.Context, cfg config.Config) error {
	m, err := metrics.New(metrics.Config{})
	if err != nil {
		return err
	}
	return RunRoleWith(ctx, cfg, m)
}

// RunRoleWith is RunRole in a process that has its metrics already, because it
// plays the other role too.
func RunRoleWith(ctx context.Context, cfg config.Config, m *metrics.Metrics) error {
	if err := cfg.Validate(config.RoleStarter); err != nil {
		return err
	}
	conns, err := connect.Open(ctx, cfg, m.Temporal())
	if err != nil {
		return err
	}
	err = runServer(ctx, cfg, conns, m)
	return errors.Join(err, conns.Close())
}

// runServer opens the listener first: without a configured public address the carrier signs
// the address itself, which is known only then.
func runServer(ctx context.Context, cfg config.Config, conns *connect.Connections, m *metrics.Metrics) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", cfg.HTTP.Addr)
	if err != nil {
		return fmt.Errorf("COACH_HTTP_ADDR: opening the address: %w", err)
	}
	rules, err := cfg.Coaching.Rules()
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	public := cfg.HTTP.PublicURL
	if public == "" {
		public = "http://" + listener.Addr().String()
	}
	return Run(ctx, Config{
		HTTP: HTTPConfig{
			Listener: listener, PublicURL: public, APIToken: cfg.HTTP.APIToken.Reveal(), TemporalURL: temporalURL(cfg), PhonesURL: cfg.HTTP.PhonesURL,
			TrustedProxies: cfg.HTTP.TrustedProxies,
			Provider:       console.Provider{Issuer: cfg.HTTP.OIDC.Issuer, ClientID: cfg.HTTP.OIDC.ClientID, ClientSecret: cfg.HTTP.OIDC.ClientSecret.Reveal()},
		},
		Store: conns.Store, Changes: store.NewChanges(conns.Store, conns.Clock.Now), Now: conns.Clock.Now, Temporal: conns.Temporal, Workers: connect.NewDeployment(cfg, conns.Temporal).Check, Namespace: cfg.Temporal.Namespace, Retention: cfg.Coaching.Retention, StrangerRetention: cfg.Coaching.StrangerRetention, Logger: conns.Logger,
		Carrier:  newCarrier(cfg, public),
		Defaults: Defaults{Zone: cfg.Coaching.DefaultTimezone, Region: cfg.Coaching.DefaultRegion, Rules: rules, GreetingsPerMinute: greetingsPerMinute(cfg.Carrier.SendRate)},
		Codec:    CodecConfig{Codec: conns.Ring.Codec(), Origins: cfg.HTTP.UIOrigins},
		Settings: newSettings(cfg, conns),
		Prices:   cfg.Costs.Prices,
		Safety: safety.Facts{
			Programme: cfg.Coaching.Programme, Support: cfg.Coaching.Support, Terms: cfg.Coaching.TermsURL, TeamTold: cfg.Worker.AlertURL.Reveal() != "",
			SecondLook: cfg.Worker.SecondLook == config.SwitchOn, EscalationMinutes: int(cfg.Worker.AlertEscalation.Minutes()), Helplines: cfg.Worker.Helplines, Region: cfg.Coaching.DefaultRegion,
		},
		Relay:    RelayConfig{Escalation: cfg.Worker.AlertEscalation},
		WebAllow: cfg.Web.Allow,
		Metrics:  m, Version: build.Version(),
	})
}

// temporalURL is where the Temporal UI shows the namespace's workflows; empty
// where no UI is configured.
func temporalURL(cfg config.Config) string {
	if len(cfg.HTTP.UIOrigins) == 0 {
		return ""
	}
	return cfg.HTTP.UIOrigins[0] + "/namespaces/" + cfg.Temporal.Namespace + "/workflows/"
}

func newCarrier(cfg config.Config, public string) CarrierConfig {
	carrier := CarrierConfig{
		Verifier:   sms.NewVerifier(cfg.Carrier.AuthTokens.Reveal(), public),
		AccountSID: cfg.Carrier.AccountSID, MessagingServiceSID: cfg.Carrier.MessagingServiceSID,
		Listens: cfg.Model.Transcribe != "",
	}
	if cfg.Carrier.From != "" {
		carrier.OurNumbers = []string{cfg.Carrier.From}
	}
	return carrier
}

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

// upkeepEvery is how often the audit is checked and expired sessions are removed.
// The first time is when the server starts.
const upkeepEvery = 24 * time.Hour

// dailyChecks is what a server does once a day. Every replica does it, but the whole
// audit is checked by one of them.
type dailyChecks struct {
	// checkNew checks the audit, and expireSessions removes sessions that ended by an
	// instant.
	checkNew       func(ctx context.Context, now time.Time) (models.AuditChain, error)
	expireSessions func(ctx context.Context, at time.Time) error

	metrics *metrics.Metrics
	log     *slog.Logger
	now     func() time.Time
}

// run works until ctx ends.
func (u dailyChecks) run(ctx context.Context) {
	for {
		u.checkAudit(ctx)
		if err := u.expireSessions(ctx, u.now()); err != nil && ctx.Err() == nil {
			u.log.Warn("removing expired sessions failed, the next try is in a day", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-wait.After(ctx, upkeepEvery):
		}
	}
}

// checkAudit logs and counts whether the audit is as it was written. The head in
// the log proves later that no newer row was cut off.
func (u dailyChecks) checkAudit(ctx context.Context) {
	chain, err := u.checkNew(ctx, u.now())
	switch {
	case ctx.Err() != nil:
	case err != nil:
		u.metrics.AuditChecked(metrics.AuditUnknown)
		u.log.Error("checking the audit failed, the next try is in a day", "error", err)
	case chain.BrokenAt != 0:
		u.metrics.AuditChecked(metrics.AuditBroken)
		u.log.Error("the audit is broken: a row was changed or taken out; compare with a backup", "row", chain.BrokenAt, "problem", chain.Problem)
	default:
		u.metrics.AuditChecked(metrics.AuditWhole)
		u.log.Info("audit chain verified", "rows", chain.Rows, "whole", chain.Whole, "erased", chain.Erased, "head", chain.Head)
	}
}
