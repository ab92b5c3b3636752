package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"go.temporal.io/sdk/client"

	"coachline/dev/temporal"
	"coachline/internal/config"
	"coachline/internal/connect"
	"coachline/internal/metrics"
	"coachline/internal/redact"
	"coachline/internal/rollout"
	"coachline/internal/sim/twilio"
	"coachline/starter"
	"coachline/worker"
)

// streams are where a run writes: the table and "ready" to out, logs to err.
type streams struct{ out, err io.Writer }

// run starts everything, says that it is ready, and stops everything when ctx
// ends or a part fails. It returns nil after an orderly stop. With seed as the first
// argument it stores sample people instead.
func run(ctx context.Context, args, environ []string, to streams) error {
	if len(args) > 0 && args[0] == seedCommand {
		return runSeed(ctx, args[1:], environ, to)
	}
	began := time.Now()
	o, err := parseOptions(args, to.err)
	if err != nil {
		return err
	}
	f, err := openFolder(o)
	if err != nil {
		return err
	}
	p, err := newPlan(o, f, environ)
	if err == nil {
		err = p.carryOut(ctx, to, began)
	}
	return errors.Join(err, f.close())
}

func (p plan) carryOut(ctx context.Context, to streams, began time.Time) error {
	slog.SetDefault(slog.New(slog.NewTextHandler(to.err, &slog.HandlerOptions{Level: p.settings.Log.Level(), ReplaceAttr: redact.Attr})))
	if err := p.writeEnviron(); err != nil {
		return err
	}
	s := newSystem()
	if err := s.startAll(ctx, p); err != nil {
		err = errors.Join(err, s.stop())
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return nil // It was told to stop before it was ready.
		}
		return err
	}
	if err := printTable(to.out, p, time.Since(began)); err != nil {
		return errors.Join(err, s.stop())
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-s.failed:
	}
	fmt.Fprintln(to.err, "stopping")
	return errors.Join(err, s.stop())
}

// startAll starts the servers first and then the roles that use them.
func (s *system) startAll(ctx context.Context, p plan) error {
	if err := s.startEngine(ctx, p); err != nil {
		return err
	}
	if err := s.startSim(ctx, p); err != nil {
		return err
	}
	// One registry, so that the starter shows what both roles count.
	m, err := metrics.New(metrics.Config{})
	if err != nil {
		return err
	}
	if !p.options.noWorker {
		if err := s.startWorker(ctx, p.settings, m); err != nil {
			return err
		}
	}
	if p.options.noStarter {
		return nil
	}
	run := func(ctx context.Context, cfg config.Config) error { return starter.RunRoleWith(ctx, cfg, m) }
	return s.start(ctx, role{name: "starter", run: run, ready: answers(p.at.api + "/readyz")}, p.settings)
}

func (s *system) startEngine(ctx context.Context, p plan) error {
	log, err := os.Create(p.folder.file(serverLog))
	if err != nil {
		return fmt.Errorf("opening the Temporal server's log: %w", err)
	}
	dir := p.folder.path
	if p.options.ephemeral {
		dir = ""
	}
	e, err := temporal.Start(ctx, temporal.Config{
		Dir: dir, Sync: p.options.sync, Port: p.at.temporal, UIPort: p.at.ui,
		Namespace: p.settings.Temporal.Namespace, CodecEndpoint: p.at.api + "/codec", Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		return errors.Join(err, log.Close())
	}
	s.add("Temporal server", func() error {
		e.Stop()
		return log.Close()
	})
	return nil
}

// startSim serves the phones and the scripted model on one address.
func (s *system) startSim(ctx context.Context, p plan) error {
	cfg := twilio.Config{
		AccountSID: simulatedAccount, AuthToken: p.token, From: p.from,
		InboundURL: p.at.api + "/twilio/inbound", StatusURL: p.at.api + "/twilio/status",
		Dir: p.simFolder(), Logger: slog.Default(),
	}
	if p.simulated {
		// With a real carrier the page would have real people texted.
		cfg.ParticipantsURL = p.at.api + "/conversation/participants"
		cfg.APIToken = p.settings.HTTP.APIToken.Reveal()
	}
	network, err := twilio.New(cfg)
	if err != nil {
		return fmt.Errorf("building the simulated phone network: %w", err)
	}
	s.add("simulated phone network", network.Close)
	server := &http.Server{Addr: local(p.at.sim), Handler: network.Handler(), ReadHeaderTimeout: 10 * time.Second}
	return s.serve(ctx, "simulator's address", server)
}

func (p plan) simFolder() string {
	if p.options.ephemeral {
		return ""
	}
	return p.folder.path
}

func (s *system) startWorker(ctx context.Context, settings config.Config, m *metrics.Metrics) error {
	c, err := client.DialContext(ctx, client.Options{
		HostPort: settings.Temporal.Address, Namespace: settings.Temporal.Namespace, Logger: slog.Default(),
	})
	if err != nil {
		return fmt.Errorf("reaching the Temporal server: %w", err)
	}
	defer c.Close()
	run := func(ctx context.Context, cfg config.Config) error { return worker.RunWith(ctx, cfg, m) }
	if err := s.start(ctx, role{name: "worker", run: run, ready: polls(c)}, settings); err != nil {
		return err
	}
	return promoteOwn(ctx, c, settings)
}

// promoteOwn gives the tasks to this build where an earlier one has them: on one machine
// no operator says so.
func promoteOwn(ctx context.Context, c client.Client, settings config.Config) error {
	own, err := connect.OwnRoute(settings)
	if err != nil {
		return err
	}
	d := connect.NewDeployment(settings, c)
	route, err := d.Read(ctx)
	if err != nil || !route.IsSet || route.Current == own {
		return err
	}
	return d.Promote(ctx, rollout.Promotion{Build: own})
}
