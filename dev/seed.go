package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"coachline/internal/program"
	"coachline/internal/sample"
	"coachline/internal/seal"
	"coachline/internal/store"
)

// seedCommand is the first argument that has dev store sample people instead of
// starting.
const seedCommand = "seed"

// seedOptions are the command line of seed.
type seedOptions struct {
	data   string
	sample sample.Config
}

func parseSeedOptions(args []string, stderr io.Writer) (seedOptions, error) {
	var o seedOptions
	flags := flag.NewFlagSet("dev seed", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.data, "data", ".coachline", "folder of the databases")
	flags.IntVar(&o.sample.People, "people", 10_000, "how many people, 1 to 1,000,000")
	flags.Uint64Var(&o.sample.Seed, "seed", 1, "what they are drawn by")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(stderr)
		flags.Usage()
		return o, err
	} else if err != nil {
		return o, &program.UsageError{Err: err}
	}
	if flags.NArg() > 0 {
		return o, &program.UsageError{Err: fmt.Errorf("unexpected argument %q", flags.Arg(0))}
	}
	if err := (options{data: o.data, http: "127.0.0.1:0", sync: "normal"}).check(nil); err != nil {
		return o, &program.UsageError{Err: err}
	}
	return o, nil
}

// runSeed stores sample people in the database of a data folder. It touches no
// other: the folder must be one of dev's own, which this process locks (so that no
// dev runs on it) and whose key opens its database, and a DATABASE_URL or keys from
// the environment are refused, because they may be those of a programme.
func runSeed(ctx context.Context, args, environ []string, to streams) (err error) {
	began := time.Now()
	o, err := parseSeedOptions(args, to.err)
	if err != nil {
		return err
	}
	for _, name := range []string{"DATABASE_URL", "DATABASE_URL_FILE", "COACH_PAYLOAD_KEYS", "COACH_PAYLOAD_KEYS_FILE"} {
		if lookup(environ).any(name) {
			return fmt.Errorf("%s is set: sample people are for the database of a dev folder alone; unset it", name)
		}
	}
	f, err := openFolder(options{data: o.data})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	key, err := f.payloadKey()
	if err != nil {
		return err
	}
	ring, err := seal.Parse(key)
	if err != nil {
		return fmt.Errorf("reading %s: %w", keyFile, err)
	}
	rows, err := store.Open(ctx, store.Config{URL: "sqlite:" + f.file(databaseFile), Sealer: ring})
	if err != nil {
		return fmt.Errorf("opening the database of %s: %w", f.path, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	o.sample.Now = began
	err = sample.Store(ctx, rows.Database(), o.sample, func(stored int) { fmt.Fprintf(to.err, "%d of %d people\n", stored, o.sample.People) })
	if err != nil {
		return err
	}
	fmt.Fprintf(to.out, "%d sample people are in %s after %s; they have no workflows, so nothing is sent to them\n", o.sample.People, f.path, time.Since(began).Round(time.Second))
	return nil
}
