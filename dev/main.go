// Command dev is the whole system on one machine: the Temporal server and its
// Web UI on SQLite, a simulated phone network, a scripted model, and around
// them the very same worker and starter that run in production. Stopping it
// loses nothing; starting it again on the same folder goes on where it was.
package main

import (
	"context"
	"os"

	"coachline/internal/program"
)

func main() {
	program.Main("dev", func(ctx context.Context) error {
		return run(ctx, os.Args[1:], os.Environ(), streams{out: os.Stdout, err: os.Stderr})
	})
}
