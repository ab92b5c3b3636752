package harness

import (
	"context"
	"fmt"

	"coachline/internal/pgtest"
)

// Postgres makes a cluster in a folder of its own and returns the program that
// serves it. What was committed survives a kill of the server.
func Postgres(ctx context.Context, folder string, port int) (Program, error) {
	p, err := pgtest.Prepare(ctx, folder, port)
	if err != nil {
		return Program{}, fmt.Errorf("making PostgreSQL's cluster: %w", err)
	}
	return Program{Name: "postgres", Path: p.Path, Args: p.Args, As: p.As, Env: []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}}, nil
}
