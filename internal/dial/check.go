package dial

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"coachline/internal/config"
	"coachline/internal/database"
	"coachline/internal/seal"
)

// CheckDatabase opens the database as a role does, which brings its schema up
// to date, and closes it again.
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

// OpenDatabase opens the database for a command, with one connection. Its keys
// are neither checked nor recorded yet.
func OpenDatabase(ctx context.Context, cfg config.Config) (*database.Database, error) {
	ring, err := seal.Parse(cfg.Payload.Keys.Reveal())
	if err != nil {
		return nil, fmt.Errorf("COACH_PAYLOAD_KEYS: %w", err)
	}
	rows, err := database.Open(ctx, database.Config{URL: cfg.Database.URL.Reveal(), Ring: ring, MaxConns: 1})
	if err != nil {
		return nil, fmt.Errorf("DATABASE_URL: %w", err)
	}
	return rows, nil
}

// CheckTemporal asks the cluster for our namespace, which needs the address,
// the credentials and the namespace to be right.
func CheckTemporal(ctx context.Context, cfg config.Config) error {
	options := cfg.Temporal.Options()
	options.Logger = silent{}
	engine, err := client.NewLazyClient(options)
	if err != nil {
		return fmt.Errorf("TEMPORAL_ADDRESS: %w", err)
	}
	defer engine.Close()
	_, err = engine.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: cfg.Temporal.Namespace})
	if err != nil {
		return fmt.Errorf("namespace %s at %s: %w", cfg.Temporal.Namespace, cfg.Temporal.Address, err)
	}
	return nil
}

// silent keeps the SDK from writing between the lines of a report.
type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}
