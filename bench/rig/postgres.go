package rig

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver named "pgx"

	"coachline/deploy"
	"coachline/dev/temporal"
	"coachline/internal/pgtest"
)

// The databases of the one PostgreSQL.
const (
	databaseCoach      = "coach"
	databaseTemporal   = "temporal"
	databaseVisibility = "visibility"
)

// postgres starts PostgreSQL and a Temporal server on it.
func (r *Rig) postgres(ctx context.Context) (environment, error) {
	port, err := temporal.FreePort()
	if err != nil {
		return environment{}, fmt.Errorf("looking for PostgreSQL's port: %w", err)
	}
	// The cluster's own user has to get through to its folder.
	if err := os.Chmod(r.dir, 0o711); err != nil { //nolint:gosec // search permission is all that others get
		return environment{}, fmt.Errorf("opening the folder: %w", err)
	}
	program, err := pgtest.Prepare(ctx, filepath.Join(r.dir, "postgres"), port)
	if err != nil {
		return environment{}, fmt.Errorf("making PostgreSQL's cluster: %w", err)
	}
	log, err := os.Create(filepath.Join(r.dir, "postgres.log"))
	if err != nil {
		return environment{}, fmt.Errorf("opening PostgreSQL's log: %w", err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program.Path, program.Args...)
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	ended, err := pgtest.Run(cmd, program.As, log)
	if err != nil {
		return environment{}, fmt.Errorf("running PostgreSQL: %w", err)
	}
	r.onStop(func() error {
		err := cmd.Process.Kill()
		<-ended
		return err
	})
	r.postgresPort = port
	at := environment{database: postgresURL(port, databaseCoach)}
	if err := makeDatabases(ctx, port); err != nil {
		return at, err
	}
	runLabelled(ctx, "server", func(ctx context.Context) {
		var stop func() error
		if at.temporal, stop, err = startServer(ctx, port); err == nil {
			r.onStop(stop)
		}
	})
	return at, err
}

func postgresURL(port int, database string) string {
	return fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?sslmode=disable", pgtest.Superuser, port, database)
}

// makeDatabases waits for the server first.
func makeDatabases(ctx context.Context, port int) (err error) {
	db, err := sql.Open("pgx", postgresURL(port, "postgres"))
	if err != nil {
		return fmt.Errorf("opening PostgreSQL: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := pollUntil(ctx, func(ctx context.Context) bool { return db.PingContext(ctx) == nil }); err != nil {
		return fmt.Errorf("waiting for PostgreSQL: %w", err)
	}
	for _, statement := range []string{
		"CREATE DATABASE " + databaseCoach, "CREATE DATABASE " + databaseTemporal, "CREATE DATABASE " + databaseVisibility,
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("making a database: %w", err)
		}
	}
	return nil
}

// narrowVisibility runs the script for the indexes of the visibility database.
func narrowVisibility(ctx context.Context, port int) (err error) {
	db, err := sql.Open("pgx", postgresURL(port, databaseVisibility))
	if err != nil {
		return fmt.Errorf("opening PostgreSQL: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, deploy.VisibilityIndexes); err != nil {
		return fmt.Errorf("narrowing the indexes of the visibility database: %w", err)
	}
	return nil
}
