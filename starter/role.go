package starter

import (
	"context"
	"errors"
	"fmt"
	"net"

	"coachline/internal/build"
	"coachline/internal/config"
	"coachline/internal/connect"
	"coachline/internal/console"
	"coachline/internal/metrics"
	"coachline/internal/sms"
	"coachline/internal/store"
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
			Provider: console.Provider{Issuer: cfg.HTTP.OIDC.Issuer, ClientID: cfg.HTTP.OIDC.ClientID, ClientSecret: cfg.HTTP.OIDC.ClientSecret.Reveal()},
		},
		Store: conns.Store, Changes: store.NewChanges(conns.Store, conns.Clock.Now), Now: conns.Clock.Now, Temporal: conns.Temporal, Workers: connect.NewDeployment(cfg, conns.Temporal).Check, Namespace: cfg.Temporal.Namespace, Retention: cfg.Coaching.Retention, Logger: conns.Logger,
		Carrier:  newCarrier(cfg, public),
		Defaults: Defaults{Zone: cfg.Coaching.DefaultTimezone, Region: cfg.Coaching.DefaultRegion, Rules: rules, GreetingsPerMinute: greetingsPerMinute(cfg.Carrier.SendRate)},
		Codec:    CodecConfig{Codec: conns.Ring.Codec(), Origins: cfg.HTTP.UIOrigins},
		Settings: newSettings(cfg, conns),
		Prices:   cfg.Costs.Prices,
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
