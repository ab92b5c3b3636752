// Command chaos runs one turn of each kind again and again, each time with
// one fault at another point, and judges what became of it.
//
// A first run without faults numbers the points: every SQL statement and commit
// of worker and starter, every call of their Temporal clients, every request to
// model and carrier, every webhook. Then the turn is run once for each point
// and each fault that makes a difference there. The whole system runs in this
// process, many installations of it side by side, because a run mostly waits:
// all time limits are those of production.
//
// The storm (-storm) is the same system in real processes, with PostgreSQL, killed at
// random while people text. With -hostile nothing breaks, and a texter and a model try
// what they may.
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"log/slog"
	"os"

	"coachline/internal/program"
)

// errWrong ends the program when a run failed; its output says which.
var errWrong = errors.New("not everything is right, see above")

func main() {
	if len(os.Args) == 4 && os.Args[1] == roleArg {
		os.Exit(runRole(os.Environ(), os.Args[2], os.Args[3]))
	}
	slog.SetDefault(slog.New(slog.DiscardHandler))
	program.Main("chaos", func(ctx context.Context) error { return run(ctx, os.Args[1:], os.Stdout) })
}

// options are what the command line says.
type options struct {
	scenario      string
	point         string
	fault         string
	installations int
	short         bool
	verbose       bool
	list          bool
	cache         int
	server        bool
	storm         bool
	hostile       bool
	seed          uint64
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&o.scenario, "scenario", "", "run this `scenario` alone")
	flags.StringVar(&o.point, "point", "", "run this `point` alone, as a failure prints it")
	flags.StringVar(&o.fault, "fault", "", "run this `fault` alone: before, after, hang, kill, 5xx-before, 5xx-after")
	flags.IntVar(&o.installations, "installations", 32, "installations that run side by side")
	flags.BoolVar(&o.short, "short", false, "a part of the points, the same in every run")
	flags.BoolVar(&o.verbose, "v", false, "print the product's log and every run")
	flags.IntVar(&o.cache, "cache", 1000, "workflows that workers keep in memory; with 0 or 1 every task replays from the start")
	flags.BoolVar(&o.server, "server", false, "instead of the points, a small rate of errors of the Temporal server's own database")
	flags.BoolVar(&o.storm, "storm", false, "instead of the points, real processes that are killed at random")
	flags.BoolVar(&o.hostile, "hostile", false, "instead of the points, a hostile texter and model beside ten ordinary people")
	flags.Uint64Var(&o.seed, "seed", 0, "what a storm is drawn from; 0: a random one, which is printed")
	flags.BoolVar(&o.list, "list", false, "print the points and run nothing else")
	if err := flags.Parse(args); err != nil {
		return o, err //nolint:wrapcheck // the flags package has said what is wrong
	}
	if flags.NArg() > 0 || o.installations < 1 {
		return o, errors.New("want flags only, and at least one installation")
	}
	return o, nil
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args, out)
	if err != nil {
		return &program.UsageError{Err: err}
	}
	if o.verbose {
		slog.SetDefault(slog.New(slog.NewTextHandler(out, nil)))
	}
	work := enumerate
	switch {
	case o.server:
		work = serverFaults
	case o.storm:
		work = runStorm
	case o.hostile:
		work = runHostile
	}
	right, err := work(ctx, o, out)
	if err == nil && !right {
		return errWrong
	}
	return err
}
