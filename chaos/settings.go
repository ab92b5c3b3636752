package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"
)

// settings say how much of everything a run has.
type settings struct {
	Seed   uint64
	Faults int
	Keep   bool
	// Waits is how many kills of a worker are measured in place of a storm; 0: none.
	Waits int
	// Phones text at random, one text in Pace on average.
	Phones int
	Pace   time.Duration
	// Every fault comes Gap after the one before, on average.
	Gap time.Duration
	// Storm and Calm bound the two halves of a run.
	Storm, Calm       time.Duration
	Starters, Workers int
	// RunEvents is the product's cap on a run of the workflow, low enough that
	// it continues as new every few turns.
	RunEvents int
	// Root is the module's folder, where the programs are built.
	Root string
}

const (
	longFaults  = 200
	shortFaults = 25
)

func parse(args []string) (settings, error) {
	var s settings
	var short bool
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Uint64Var(&s.Seed, "seed", 0, "what the faults, phones and texts are drawn from; 0 = a random one, which is printed")
	flags.IntVar(&s.Faults, "faults", 0, fmt.Sprintf("faults to inject (default %d, short %d)", longFaults, shortFaults))
	flags.BoolVar(&short, "short", false, "the form that runs with the tests: fewer phones, fewer faults")
	flags.BoolVar(&s.Keep, "keep", false, "keep the folder of logs, databases and the trace in any case")
	flags.IntVar(&s.Waits, "waits", 0, "no storm: measure what people wait for after so many kills of the only worker")
	flags.StringVar(&s.Root, "root", ".", "folder of the module")
	err := flags.Parse(args)
	switch {
	case err == flag.ErrHelp: //nolint:errorlint // the flag package returns it bare
		flags.SetOutput(os.Stdout)
		flags.Usage()
		return s, err
	case err != nil:
		return s, fmt.Errorf("reading flags: %w", err)
	case flags.NArg() > 0:
		return s, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case s.Faults < 0:
		return s, fmt.Errorf("-faults %d: want 1 or more", s.Faults)
	}
	for s.Seed == 0 {
		s.Seed = rand.Uint64N(1_000_000)
	}
	s = s.withSize(short)
	if s.Waits > 0 {
		s.Phones, s.Starters, s.Workers, s.RunEvents = 30, 1, 1, 2000
	}
	return s, nil
}

// withSize fills in the amounts of the short or the long form.
func (s settings) withSize(short bool) settings {
	faults := longFaults
	s.Phones, s.Pace, s.Gap = 24, 6*time.Second, 1300*time.Millisecond
	s.Storm, s.Calm = 8*time.Minute, 4*time.Minute
	s.Starters, s.Workers, s.RunEvents = 2, 2, 60
	if short {
		faults = shortFaults
		s.Phones, s.Pace, s.Gap = 10, 3*time.Second, 900*time.Millisecond
		s.Storm, s.Calm = time.Minute, 90*time.Second
		s.Starters, s.RunEvents = 1, 25
	}
	if s.Faults == 0 {
		s.Faults = faults
	}
	return s
}

// randomSource is a random source of its own for one use of the seed.
func (s settings) randomSource(use uint64) *rand.Rand { return rand.New(rand.NewPCG(s.Seed, use)) }
