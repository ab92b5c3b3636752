// Package connect opens what a process needs: the key ring, the database and
// the Temporal client.
package connect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"coachline/internal/build"
	"coachline/internal/config"
	"coachline/internal/database"
	"coachline/internal/rollout"
	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/internal/wait"
	"coachline/internal/wrap"
	"coachline/models/wire"
)

// Connections are the open dependencies of a process; Close releases them in the
// reverse order.
type Connections struct {
	Ring     *seal.Ring
	Store    *store.Store
	Temporal client.Client
	Logger   *slog.Logger
	// Clock is the database's time, which the machines of a system share.
	Clock *database.Clock
}

// Open opens the connections of a role. The database is migrated; Temporal is dialled
// lazily, so that a role can start while the cluster is away.
func Open(ctx context.Context, cfg config.Config, metrics client.MetricsHandler) (*Connections, error) {
	ring, err := seal.Parse(cfg.Payload.Keys.Reveal())
	if err != nil {
		return nil, fmt.Errorf("COACH_PAYLOAD_KEYS: %w", err)
	}
	rules, err := doorRules(cfg)
	if err != nil {
		return nil, err
	}
	rows, err := store.Open(ctx, store.Config{
		URL: cfg.Database.URL.Reveal(), Sealer: ring, Limits: rules, Sender: cfg.Carrier.From + cfg.Carrier.MessagingServiceSID,
		MaxConns:       cfg.Tuning.DatabaseConns,
		LateTry:        cfg.Coaching.LateTry,
		CrisisTakeOver: cfg.Worker.CrisisTakeOver,
		SecondLook:     cfg.Worker.SecondLook == config.SwitchOn,

		PersonDayMicros: cfg.Costs.LimitMicros(cfg.Costs.PersonDayLimit),
	})
	if err != nil {
		if errors.Is(err, database.ErrKeys) {
			return nil, err // it names its variable
		}
		return nil, fmt.Errorf("DATABASE_URL: opening database: %w", err)
	}
	logger := slog.Default()
	clientOptions := options(cfg, ring, logger, metrics)
	clientOptions.ConnectionOptions.DialOptions = append(clientOptions.ConnectionOptions.DialOptions, dialOptions(ctx)...)
	engine, err := client.NewLazyClient(clientOptions)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("TEMPORAL_ADDRESS: preparing client: %w", err), rows.Close())
	}
	clock := rows.Database().NewClock(wait.ClockOf(ctx).Now)
	if _, err := clock.Compare(ctx); err != nil {
		logger.Warn("the database's clock cannot be read; the machine's counts until it can", "error", err)
	}
	go clock.Follow(ctx, logger)
	return &Connections{Ring: ring, Store: rows, Temporal: engine, Logger: logger, Clock: clock}, nil
}

// doorRules are the limits of inbound texts. A stranger's day is the
// programme's, because the stranger's zone is unknown.
func doorRules(cfg config.Config) (store.InboundLimits, error) {
	zone, err := time.LoadLocation(cfg.Coaching.DefaultTimezone)
	return store.InboundLimits{
		PerMinute: cfg.Inbound.TextsPerMinute, PerDay: cfg.Inbound.TextsPerDay, Mute: cfg.Inbound.LoopMute,
		Hints: cfg.Inbound.UnknownSenders == config.UnknownHint, CarrierAnswers: cfg.Inbound.StopAnswer == config.StopByCarrier, Region: cfg.Coaching.DefaultRegion, Zone: zone,
		Prices: cfg.Costs.Prices, StrangerMicros: cfg.Costs.LimitMicros(cfg.Costs.StrangerHourLimit),
	}, wrap.Error(err, "COACH_DEFAULT_TIMEZONE")
}

// Close ends the connections to Temporal and the database.
func (t *Connections) Close() error {
	t.Temporal.Close()
	return t.Store.Close()
}

// reconnect is how a lost connection is made anew. The SDK waits up to ten
// seconds between two tries, and so long after an outage nothing would be
// delivered or polled.
var reconnect = grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 200 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 500 * time.Millisecond},
	MinConnectTimeout: 5 * time.Second,
}

// options adds what every client of ours needs: payloads sealed with the ring
// and error texts too, because they may quote what failed.
func options(cfg config.Config, ring *seal.Ring, logger *slog.Logger, metrics client.MetricsHandler) client.Options {
	o := cfg.Temporal.Options()
	o.Logger = sdklog.NewStructuredLogger(logger)
	o.MetricsHandler = metrics
	o.WorkerHeartbeatInterval = rollout.Report
	// Payloads are sealed, which leaves nothing to compress: gzip took 7 % of a
	// worker's time.
	o.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	o.ConnectionOptions.DialOptions = append(o.ConnectionOptions.DialOptions, grpc.WithConnectParams(reconnect))
	o.DataConverter = converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), ring.Codec())
	o.FailureConverter = temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{
		DataConverter: o.DataConverter, EncodeCommonAttributes: true,
	})
	return o
}

type dialOptionsKey struct{}

// WithDialOptions returns a context under which Open adds gRPC options to its
// Temporal client, behind those of the SDK: an interceptor sees every attempt
// of a call. Fault injection uses it.
func WithDialOptions(ctx context.Context, options ...grpc.DialOption) context.Context {
	return context.WithValue(ctx, dialOptionsKey{}, options)
}

func dialOptions(ctx context.Context) []grpc.DialOption {
	options, _ := ctx.Value(dialOptionsKey{}).([]grpc.DialOption)
	return options
}

// NewDeployment returns the worker deployment of an installation.
func NewDeployment(cfg config.Config, engine client.Client) rollout.Deployment {
	return rollout.Deployment{Client: engine, Namespace: cfg.Temporal.Namespace, Name: cfg.Worker.Deployment, Queue: wire.QueueCoach}
}

// OwnRoute returns the build to which tasks go when they go to workers of this program;
// empty where these have no versions. The error is that of build.ID.
func OwnRoute(cfg config.Config) (string, error) {
	if cfg.Worker.Versioning == config.VersioningOff {
		return "", nil
	}
	return build.ID(cfg.Worker.BuildID)
}
