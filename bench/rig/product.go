package rig

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/sdk/client"

	"coachline/internal/config"
	"coachline/internal/metrics"
	"coachline/models/wire"
	"coachline/starter"
	"coachline/worker"
)

// Product is the production code: both roles, in this process, reached over
// HTTP like any other installation.
type Product struct {
	httpAPI
	settings config.Config
	environ  []string // what settings were read from
	temporal client.Client
	worker   running
	starter  running
}

func newProduct(at environment, p *phones, c client.Client) (*Product, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	environ, err := makeEnvironment(at, port)
	if err != nil {
		return nil, err
	}
	settings, err := loadConfig(environ)
	if err != nil {
		return nil, err
	}
	return &Product{httpAPI: newFront("http://"+settings.HTTP.Addr, p), settings: settings, environ: environ, temporal: c}, nil
}

// Slope is when the prompts of one clock time go out: the first Ahead of it, the
// others spread over Spread after that, each by a hash of who it is.
type Slope struct{ Ahead, Spread time.Duration }

// Slope is that of the product's settings; the bare workflow has the same.
func (p *Product) Slope() Slope {
	c := p.settings.Coaching
	return Slope{Ahead: c.PrepTime, Spread: min(c.PromptSpread, c.PrepTime)}
}

// makeEnvironment is what the product reads its settings from.
func makeEnvironment(at environment, port string) ([]string, error) {
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	address := net.JoinHostPort(loopback, port)
	var filled []string
	for _, setting := range at.settings {
		filled = append(filled, strings.NewReplacer("{outside}", at.outside, "{host}", strings.TrimPrefix(at.outside, "http://")).Replace(setting))
	}
	return slices.Concat([]string{
		"DATABASE_URL=" + at.database, "TEMPORAL_ADDRESS=" + at.temporal, "TEMPORAL_NAMESPACE=" + namespace,
		"COACH_HTTP_ADDR=" + address, "COACH_PUBLIC_URL=http://" + address,
		"COACH_PAYLOAD_KEYS=k1:" + base64.StdEncoding.EncodeToString(key),
	}, coachingSettings(at.outside), filled), nil
}

// coachingSettings is the programme's defaults but for what would hold a measured
// text back: the waiting for more texts, the limits for each sender, quiet
// hours, and what precedes and follows a prompt. Model and carrier are at the
// address outside.
func coachingSettings(outside string) []string {
	return []string{
		"TWILIO_ACCOUNT_SID=" + accountSID, "TWILIO_AUTH_TOKEN=" + authToken, "TWILIO_FROM=" + ourNumber, "TWILIO_BASE_URL=" + outside,
		"OPENAI_API_KEY=bench", "OPENAI_BASE_URL=" + outside + "/v1", "COACH_MODEL=bench",
		"COACH_DEBOUNCE=0", "COACH_TEXTS_PER_MINUTE=0", "COACH_TEXTS_PER_DAY=0", "COACH_LOOP_MUTE=0", "COACH_QUIET_HOURS=",
		"COACH_PREP_TIME=1m", "COACH_PROMPT_SPREAD=1m", "COACH_AUTO_FEEDBACK_DELAY=0",
		// The bare workflow remembers nothing; what remembering costs is measured
		// by setting it to after.
		"COACH_MEMORY_STEP=off",
	}
}

func loadConfig(environ []string) (config.Config, error) {
	cfg, err := config.Load(environ, nil)
	if err != nil {
		return cfg, fmt.Errorf("building the product's settings: %w", err)
	}
	return cfg, errors.Join(cfg.Validate(config.RoleWorker), cfg.Validate(config.RoleStarter))
}

// Start runs both roles and returns when the starter is ready and the
// worker asks for tasks.
func (p *Product) Start(ctx context.Context) error {
	m, err := metrics.New(metrics.Config{})
	if err != nil {
		return fmt.Errorf("building metrics: %w", err)
	}
	began := time.Now()
	p.worker = run(ctx, func(ctx context.Context) error { return worker.RunWith(ctx, p.settings, m) })
	p.starter = run(ctx, func(ctx context.Context) error { return starter.RunRoleWith(ctx, p.settings, m) })
	if err := pollUntil(ctx, func(ctx context.Context) bool {
		return p.isReady(ctx) && isPolled(ctx, p.temporal, wire.QueueCoach, began)
	}); err != nil {
		return errors.Join(fmt.Errorf("waiting for the product: %w", err), p.Stop())
	}
	return nil
}

// isPolled says whether a worker has asked for workflow tasks of a queue since
// an instant; the server remembers workers that are gone.
func isPolled(ctx context.Context, c client.Client, queue string, since time.Time) bool {
	got, err := c.DescribeTaskQueue(ctx, queue, enums.TASK_QUEUE_TYPE_WORKFLOW)
	return err == nil && slices.ContainsFunc(got.GetPollers(), func(p *taskqueue.PollerInfo) bool {
		return p.GetLastAccessTime().AsTime().After(since)
	})
}

// StopWorker ends the worker alone, draining; Stop ends what still runs, and
// Start starts both again.
func (p *Product) StopWorker() error { return p.worker.stop() }

// Stop ends both roles; calling it again does nothing.
func (p *Product) Stop() error { return errors.Join(p.starter.stop(), p.worker.stop()) }

// Name is how figures call this side.
func (p *Product) Name() string { return "product" }

// running is one role; the zero value runs nothing.
type running struct {
	cancel context.CancelFunc
	done   chan struct{}
	err    *error
}

// run starts a role whose context outlives ctx.
func run(ctx context.Context, role func(context.Context) error) running {
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := running{cancel: cancel, done: make(chan struct{}), err: new(error)}
	runLabelled(inner, "product", func(ctx context.Context) {
		go func() {
			defer close(r.done)
			*r.err = role(ctx)
		}()
	})
	return r
}

func (r *running) stop() error {
	if r.cancel == nil {
		return nil
	}
	r.cancel()
	<-r.done
	r.cancel = nil
	return *r.err
}
