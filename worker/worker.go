// Package worker is the role that runs workflows and activities. It builds the
// adapters, registers everything and drains on shutdown; any number of
// replicas may run.
package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"go.temporal.io/sdk/interceptor"
	sdk "go.temporal.io/sdk/worker"

	"coachline/internal/agent"
	"coachline/internal/build"
	"coachline/internal/config"
	"coachline/internal/connect"
	"coachline/internal/llm"
	"coachline/internal/metrics"
	"coachline/internal/study"
	"coachline/models"
	"coachline/models/wire"
)

// segmentsPerSend bounds the segments of a send: a text is sent in parts of at
// most two segments, and the engine counts sends, so every send counts as two.
const segmentsPerSend = 2

// Run runs the worker role until ctx ends, then drains. It fails when the
// configuration or the database does, or when Temporal refuses it; while Temporal
// is away it waits.
func Run(ctx context.Context, cfg config.Config) error {
	m, err := metrics.New(metrics.Config{})
	if err != nil {
		return err
	}
	return RunWith(ctx, cfg, m)
}

// RunWith does what Run does in a process that has its metrics already, because
// it plays the other role too.
func RunWith(ctx context.Context, cfg config.Config, m *metrics.Metrics) error {
	ready, stop, err := serveMetrics(ctx, cfg, m)
	if err != nil {
		return err
	}
	return errors.Join(runWorker(ctx, cfg, m, ready), stop())
}

// checkModelName tells operators of a model that its server does not list.
func checkModelName(ctx context.Context, cfg config.Model, logger *slog.Logger) {
	client, err := llm.New(llm.Config{BaseURL: cfg.BaseURL, Keys: cfg.Keys()})
	if err == nil {
		err = client.CheckName(ctx, cfg.Name)
	}
	if err != nil {
		logger.Error("replies will be the fixed text: the chat model is not there", "error", err)
	}
}

func runWorker(ctx context.Context, cfg config.Config, m *metrics.Metrics, ready func()) error {
	conns, err := connect.Open(ctx, cfg, m.Temporal())
	if err != nil {
		return err
	}
	w, err := newRole(cfg, conns, m)
	if err != nil {
		return errors.Join(err, conns.Close())
	}
	conns.Logger.Info("model", "name", cfg.Model.Name, "known", agent.DescribeCapability(w.knownModel(ctx)))
	go checkModelName(ctx, cfg.Model, conns.Logger)
	go w.budgets.follow(ctx)
	go w.studies.Follow(ctx)
	go w.servers.follow(ctx)
	if err := w.startWorkers(ctx); err != nil {
		if ctx.Err() != nil {
			err = nil // It was told to stop while it waited for Temporal.
		}
		return errors.Join(err, conns.Close())
	}
	conns.Logger.Info("worker started", "build", w.deployment.build,
		"queues", []string{wire.QueueCoach, wire.QueueModel, wire.QueueSMS})
	ready()
	w.deployment.beginRoute(ctx)
	<-ctx.Done()
	w.stopWorkers()
	return conns.Close()
}

// role is the three workers of one process.
type role struct {
	conns      *connect.Connections
	namespace  string
	deployment deployment
	workers    []sdk.Worker
	budgets    *budgets
	studies    *study.Resolver
	servers    *toolServers
	// knownModel returns what is known of the chat model.
	knownModel func(context.Context) models.Capability
}

func newRole(cfg config.Config, conns *connect.Connections, m *metrics.Metrics) (*role, error) {
	stops := &budgets{rows: conns.Store.Budgets, now: conns.Clock.Now, logger: conns.Logger}
	acts, err := newActs(cfg, conns, m, stops)
	if err != nil {
		return nil, err
	}
	servers, err := newToolServers(cfg.Web, conns.Store, acts.tools.Tools, conns.Logger)
	if err != nil {
		return nil, err
	}
	id, err := build.ID(cfg.Worker.BuildID)
	if err != nil {
		return nil, err
	}
	d := deployment{
		Deployment: connect.NewDeployment(cfg, conns.Temporal),
		mode:       cfg.Worker.Versioning, build: id, logger: conns.Logger,
	}
	base, err := workerOptions(cfg.Tuning)
	if err != nil {
		return nil, err
	}
	base.DeploymentOptions = d.deploymentOptions()
	queues := activityQueues(cfg, acts)
	forWorkflows := base
	forWorkflows.Interceptors = []interceptor.WorkerInterceptor{&queueInterceptor{queues: separateQueues(queues)}}
	coach := sdk.New(conns.Temporal, wire.QueueCoach, forWorkflows)
	registerWorkflows(coach)
	acts.registerOwn(coach)
	workers := []sdk.Worker{coach}
	for _, queue := range queues {
		if !queue.separate {
			queue.registerActivities(coach)
		}
		w := sdk.New(conns.Temporal, queue.name, activitiesOnly(base, queue.perSecond))
		queue.registerActivities(w)
		workers = append(workers, w)
	}
	return &role{conns: conns, namespace: cfg.Temporal.Namespace, deployment: d, workers: workers, budgets: stops, studies: acts.turns.Studies, servers: servers, knownModel: acts.knownModel}, nil
}

// activitiesOnly returns the options of a worker without workflow tasks. The
// rate holds for the whole queue, regardless of the number of workers, because
// the server keeps it.
func activitiesOnly(base sdk.Options, perSecond float64) sdk.Options {
	base.DisableWorkflowWorker = true
	base.TaskQueueActivitiesPerSecond = perSecond
	return base
}

// prepareNamespace brings the namespace into the state that the worker needs.
// Safe to repeat.
func (r *role) prepareNamespace(ctx context.Context) error {
	if err := checkNamespace(ctx, r.conns.Temporal, r.namespace); err != nil {
		return err
	}
	if err := ensureSearchAttributes(ctx, r.conns.Temporal, r.namespace); err != nil {
		return err
	}
	if err := r.deployment.checkServer(ctx); err != nil {
		return err
	}
	return ensureReconciling(ctx, r.conns.Temporal)
}

func (r *role) startWorkers(ctx context.Context) error {
	if err := waitUntilReachable(ctx, r.prepareNamespace, r.conns.Logger); err != nil {
		return err
	}
	for i, w := range r.workers {
		if err := w.Start(); err != nil {
			for _, started := range r.workers[:i] {
				started.Stop()
			}
			return fmt.Errorf("starting worker: %w", err)
		}
	}
	return nil
}

// stopWorkers drains: no new tasks are taken, running activities get
// drainTimeout, all of them the same one.
func (r *role) stopWorkers() {
	var draining sync.WaitGroup
	for _, w := range r.workers {
		draining.Go(w.Stop)
	}
	draining.Wait()
}

// serveMetrics opens the worker's own address for scrapes where there is one.
// It answers /readyz with 200 once ready is called.
func serveMetrics(ctx context.Context, cfg config.Config, m *metrics.Metrics) (ready func(), stop func() error, err error) {
	if cfg.Worker.MetricsAddr == "" {
		return func() {}, func() error { return nil }, nil
	}
	endpoint, err := m.Open(ctx, cfg.Worker.MetricsAddr, cfg.Worker.Profiles == config.SwitchOn)
	if err != nil {
		return nil, nil, fmt.Errorf("COACH_METRICS_ADDR: %w", err)
	}
	slog.Info("serving metrics", "address", endpoint.Addr())
	go endpoint.Serve()
	return endpoint.SetReady, func() error { return endpoint.Close(ctx) }, nil
}

// idleConns is how many connections to the model and to the carrier stay open
// after use: as many as a worker has calls at once. The default transport keeps two
// for each host, and so dials for most calls of a busy worker, with a TLS
// handshake each.
const idleConns = 256

// newTransport returns a transport with the settings of the default one but for the
// connections that it keeps.
func newTransport() http.RoundTripper {
	transport, isPlain := http.DefaultTransport.(*http.Transport)
	if !isPlain {
		return http.DefaultTransport // another part of the process has replaced it
	}
	own := transport.Clone()
	own.MaxIdleConns, own.MaxIdleConnsPerHost = idleConns, idleConns
	return own
}
