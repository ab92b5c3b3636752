// Command dev is the whole system on one machine: the Temporal server and its
// Web UI on SQLite, a simulated phone network, a scripted model, and around
// them the very same worker and starter that run in production. Stopping it
// loses nothing; starting it again on the same folder goes on where it was.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C does not wait for the orderly end.
	context.AfterFunc(ctx, stop)
	err := run(ctx, os.Args[1:], os.Environ(), streams{out: os.Stdout, err: os.Stderr})
	var usage *usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.As(err, &usage):
		fmt.Fprintln(os.Stderr, "dev:", err)
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "dev:", err)
		os.Exit(1)
	}
}
