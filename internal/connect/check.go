package connect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"coachline/internal/config"
	"coachline/internal/database"
	"coachline/internal/rollout"
	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/internal/wrap"
	"coachline/models/wire"
)

// CheckDatabase reports whether the database answers and has the schema of this build.
func CheckDatabase(ctx context.Context, cfg config.Config) error {
	rows, err := OpenDatabase(ctx, cfg)
	if err != nil {
		return err
	}
	return errors.Join(rows.Ping(ctx), rows.Close())
}

// CheckKeys reports whether the payload keys can read what the database holds,
// and describes the keys in use. It records nothing.
func CheckKeys(ctx context.Context, cfg config.Config) (string, error) {
	rows, err := OpenDatabase(ctx, cfg)
	if err != nil {
		return "", err
	}
	keys, err := rows.CheckKeys(ctx)
	return keys, errors.Join(err, rows.Close())
}

// CheckAudit reports whether the audit is as it was written.
func CheckAudit(ctx context.Context, cfg config.Config) (string, error) {
	rows, err := OpenDatabase(ctx, cfg)
	if err != nil {
		return "", err
	}
	chain, err := rows.CheckAudit(ctx)
	if err == nil && chain.BrokenAt != 0 {
		err = fmt.Errorf("row %d: %s; compare with a backup", chain.BrokenAt, chain.Problem)
	}
	return fmt.Sprintf("%d rows, head %s", chain.Rows, chain.Head), errors.Join(err, rows.Close())
}

// CheckAllocations reports whether the arms of all studies are those that were drawn.
func CheckAllocations(ctx context.Context, cfg config.Config) (string, error) {
	base, err := OpenDatabase(ctx, cfg)
	if err != nil {
		return "", err
	}
	rows, err := store.CheckEveryAllocation(ctx, base)
	return fmt.Sprintf("%d rows", rows), errors.Join(err, base.Close())
}

// OpenDatabase opens the database for a command, with one connection and the schema that
// a role made. Its keys are neither checked nor recorded yet.
func OpenDatabase(ctx context.Context, cfg config.Config) (*database.Database, error) {
	ring, err := seal.Parse(cfg.Payload.Keys.Reveal())
	if err != nil {
		return nil, fmt.Errorf("COACH_PAYLOAD_KEYS: %w", err)
	}
	rows, err := database.Open(ctx, database.Config{URL: cfg.Database.URL.Reveal(), Ring: ring, MaxConns: 1, AsFound: true})
	return rows, wrap.Error(err, "DATABASE_URL")
}

// NewTemporal returns a client for a command, which connects with its first call. It may
// move the route of tasks.
func NewTemporal(cfg config.Config) (client.Client, error) {
	options := cfg.Temporal.Options()
	// The SDK must not write between the lines of a report.
	options.Logger, options.Identity = slog.New(slog.DiscardHandler), rollout.Identity
	engine, err := client.NewLazyClient(options)
	return engine, wrap.Error(err, "TEMPORAL_ADDRESS")
}

// CheckTemporal asks the cluster for our namespace, which needs the address,
// the credentials and the namespace to be right, and for its search attributes.
func CheckTemporal(ctx context.Context, cfg config.Config) error {
	engine, err := NewTemporal(cfg)
	if err != nil {
		return err
	}
	defer engine.Close()
	_, err = engine.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: cfg.Temporal.Namespace})
	if err != nil {
		return explainNamespace(cfg, err)
	}
	return checkSearchAttributes(ctx, engine, cfg)
}

// CheckWorkers reports that no worker runs, or none of the build that gets the tasks.
func CheckWorkers(ctx context.Context, cfg config.Config) error {
	engine, err := NewTemporal(cfg)
	if err != nil {
		return err
	}
	defer engine.Close()
	return NewDeployment(cfg, engine).Check(ctx)
}

// checkSearchAttributes asks the cluster for the search attributes that the
// workflows set; the error names those that are missing, each with the command
// that adds it.
func checkSearchAttributes(ctx context.Context, engine client.Client, cfg config.Config) error {
	have, err := engine.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: cfg.Temporal.Namespace})
	if err != nil {
		return fmt.Errorf("listing the search attributes of namespace %s: %w", cfg.Temporal.Namespace, err)
	}
	return missingAttributes(cfg.Temporal.Namespace, have.GetCustomAttributes())
}

// missingAttributes compares types as well: a workflow that sets a value of
// another type does not get any further.
// explainNamespace says how a namespace that does not exist is made.
func explainNamespace(cfg config.Config, err error) error {
	var missing *serviceerror.NamespaceNotFound
	if errors.As(err, &missing) {
		return fmt.Errorf("namespace %[1]s at %[2]s does not exist; create it with: temporal operator namespace create --address %[2]s --retention 72h %[1]s", cfg.Temporal.Namespace, cfg.Temporal.Address)
	}
	return fmt.Errorf("namespace %s at %s: %w", cfg.Temporal.Namespace, cfg.Temporal.Address, err)
}

func missingAttributes(namespace string, have map[string]enums.IndexedValueType) error {
	wanted := wire.SearchAttributes()
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		kind, found := have[name]
		switch {
		case !found:
			wrong = append(wrong, fmt.Errorf("%s is missing; a worker adds it when it starts, or run: "+
				"temporal operator search-attribute create --namespace %s --name %s --type %s", name, namespace, name, wanted[name]))
		case kind.String() != wanted[name]:
			wrong = append(wrong, fmt.Errorf("%s has the type %s and must be %s: remove it with temporal operator search-attribute remove and start a worker",
				name, kind, wanted[name]))
		}
	}
	return errors.Join(wrong...)
}
