// Coachline is the program: its two roles, worker and starter, and the verbs
// of operators, who go through the HTTP API.
package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/term"

	"coachline/internal/cli"
	"coachline/starter"
	"coachline/worker"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code := cli.Run(ctx, cli.Process{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Bars: term.IsTerminal(int(os.Stderr.Fd())), Environ: os.Environ(),
		DevEnviron: filepath.Join(".coachline", "dev.env"), Worker: worker.Run, Starter: starter.RunRole,
	}, os.Args[1:])
	stop()
	os.Exit(code)
}
