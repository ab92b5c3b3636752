// Chaos runs the real processes (starter, worker, Temporal server, PostgreSQL)
// under a driver that texts as many phones, kills processes at random and at
// named points, injects carrier and model faults, and then checks the ledger:
// each text answered once, order kept, each due prompt once or recorded,
// nothing after a stop. It prints seed, counts and verdict; a failing seed can
// be run again.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes: the ledger is right, it is not or the run failed, wrong usage.
const (
	exitRight = 0
	exitWrong = 1
	exitUsage = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, out, problems io.Writer) int {
	s, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return exitRight
	}
	if err != nil {
		fmt.Fprintln(problems, "chaos:", err)
		return exitUsage
	}
	if s.Waits > 0 {
		err = measureWaits(ctx, s, out)
		if err != nil {
			fmt.Fprintln(problems, "chaos:", err)
			return exitWrong
		}
		return exitRight
	}
	report, err := carryOut(ctx, s, out)
	if err != nil {
		fmt.Fprintf(problems, "chaos: seed %d: %v\n", s.Seed, err)
		return exitWrong
	}
	report.print(out)
	if len(report.Violations) > 0 {
		return exitWrong
	}
	return exitRight
}

// carryOut is one run from empty folders to the verdict.
func carryOut(ctx context.Context, s settings, out io.Writer) (report *report, err error) {
	fmt.Fprintf(out, "seed %d, %d phones, %d faults\n", s.Seed, s.Phones, s.Faults)
	sys, err := start(ctx, s)
	if err != nil {
		return nil, err
	}
	keep := s.Keep
	defer func() {
		err = errors.Join(err, sys.close(keep || err != nil))
	}()
	people, err := sys.enrol(ctx)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "%d people enrolled, the storm begins\n", len(people))
	runStorm(ctx, sys, people)
	fmt.Fprintf(out, "the storm is over after %d faults, waiting for calm\n", sys.board.Total())
	unrest, err := sys.waitSettled(ctx)
	if err != nil {
		return nil, err
	}
	report, err = sys.judge(ctx, people)
	if err != nil {
		return nil, err
	}
	if unrest != "" {
		report.violate("not quiet in time: %s", unrest)
	}
	if report.Faults < s.Faults {
		report.violate("only %d of %d faults happened", report.Faults, s.Faults)
	}
	for _, point := range sys.missingPoints() {
		report.violate("nothing was killed %s", point)
	}
	keep = keep || len(report.Violations) > 0
	if keep {
		report.Folder = sys.dir
	}
	return report, nil
}
