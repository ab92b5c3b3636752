// Command bench measures the product against a bare workflow that does the
// least the Temporal server can do for the same job, on the same server, in
// the same run, with the same stand-ins for the model and the carrier. See
// docs/performance.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"coachline/bench/rig"
	"coachline/internal/program"
)

func main() {
	program.Main("bench", start)
}

// start is the benchmark, or the worker that it runs as a child.
func start(ctx context.Context) error {
	// The product logs as it does in production, to no file.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	if slices.Equal(os.Args[1:], []string{rig.ChildArg}) {
		return rig.RunChild(ctx, os.Stdin, os.Stdout)
	}
	return run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// options are what the command line says.
type options struct {
	config  rig.Config
	loads   []string
	people  int
	delay   *time.Duration
	rest    time.Duration
	json    string
	profile string
	compare bool
	runs    []string // to compare
}

func parse(args []string, errs io.Writer) (options, error) {
	o := options{config: rig.Config{Backend: rig.Memory}}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.Func("backend", "where the Temporal server keeps its state: memory, sqlite or postgres (default memory)", func(text string) error {
		o.config.Backend = rig.Backend(text)
		return o.config.Backend.Check()
	})
	flags.Func("load", "a load to run, may be repeated: "+strings.Join(loadNames(), ", ")+" (default: those that take some minutes)", func(text string) error {
		if !slices.Contains(loadNames(), text) {
			return fmt.Errorf("want one of %s", strings.Join(loadNames(), ", "))
		}
		o.loads = append(o.loads, text)
		return nil
	})
	flags.Func("model-delay", "how long the model takes, instead of each load's own", func(text string) error {
		d, err := time.ParseDuration(text)
		if err == nil && d < 0 {
			err = errors.New("want 0 or more")
		}
		o.delay = &d
		return err
	})
	flags.IntVar(&o.people, "people", 0, "participants, instead of each load's own")
	flags.DurationVar(&o.rest, "rest", diskRest, "how long the load disk waits for the work that follows replies")
	flags.BoolVar(&o.config.Reports, "reports", false, "the carrier posts a delivery report for every text of the product")
	flags.Func("set", "a setting of the product, NAME=VALUE, may be repeated: -set COACH_ACTIVITY_POLLERS=5", func(text string) error {
		if name, _, ok := strings.Cut(text, "="); !ok || name == "" {
			return errors.New("want NAME=VALUE")
		}
		o.config.Settings = append(o.config.Settings, text)
		return nil
	})
	flags.StringVar(&o.config.Binary, "binary", "", "the program dev that the load disk runs, instead of one built from the current folder: a `file`")
	flags.StringVar(&o.json, "json", "", "keep the run as JSON in this `file`")
	flags.StringVar(&o.profile, "profile", "", "write pprof files into this `folder`; goroutines have the label side=product, bare or server")
	flags.BoolVar(&o.compare, "compare", false, "compare two kept runs, BEFORE.json AFTER.json, and measure nothing")
	if err := flags.Parse(args); err != nil {
		return o, err //nolint:wrapcheck // the flags package has said what is wrong
	}
	o.runs = flags.Args()
	want := 0
	if o.compare {
		want = 2
	}
	if len(o.runs) != want {
		return o, fmt.Errorf("want %d arguments after the flags, got %d", want, len(o.runs))
	}
	if o.rest <= 0 {
		return o, fmt.Errorf("-rest %v: want more than 0", o.rest)
	}
	return o, o.checkOutside()
}

// checkOutside: a system that is measured from outside has the machine for
// itself.
func (o options) checkOutside() error {
	chosen := o.chosenLoads()
	outside := 0
	for _, l := range chosen {
		if l.Outside {
			outside++
		}
	}
	switch {
	case outside > 0 && outside < len(chosen):
		return errors.New("the load disk runs the whole system in a process of its own: name no other with it")
	case o.config.Binary != "" && outside == 0:
		return errors.New("-binary is for the load disk: name it")
	}
	return nil
}

// chosenLoads are the named loads, or those that run by themselves.
func (o options) chosenLoads() []Load {
	return slices.DeleteFunc(All(), func(l Load) bool {
		if len(o.loads) == 0 {
			return !l.Default
		}
		return !slices.Contains(o.loads, l.Name)
	})
}

func loadNames() []string {
	var all []string
	for _, l := range All() {
		all = append(all, l.Name)
	}
	return all
}

func run(ctx context.Context, args []string, out, errs io.Writer) error {
	o, err := parse(args, errs)
	if err != nil {
		return err
	}
	if o.compare {
		return compare(o.runs[0], o.runs[1], out)
	}
	done, err := profile(o.profile)
	if err != nil {
		return err
	}
	measured, err := measure(ctx, o, errs)
	err = errors.Join(err, done())
	if len(measured.Figures) > 0 {
		err = errors.Join(err, measured.WriteText(out))
	}
	if o.json != "" && err == nil {
		err = measured.Write(o.json)
	}
	return err
}

func compare(before, after string, out io.Writer) error {
	a, err := Read(before)
	if err != nil {
		return err
	}
	b, err := Read(after)
	if err != nil {
		return err
	}
	return WriteComparison(out, Compare(a, b))
}

// measure runs the loads; what was measured before an error is returned too.
func measure(ctx context.Context, o options, progress io.Writer) (Run, error) {
	r := Run{StartedAt: time.Now().UTC(), Backend: string(o.config.Backend), Go: runtime.Version(), CPUs: runtime.NumCPU()}
	start := rig.Start
	if o.chosenLoads()[0].Outside {
		r.Backend, start = "dev's SQLite files", rig.StartStandIns
	}
	if slices.Contains(o.loads, "ceilings") {
		if len(o.loads) > 1 {
			return r, errors.New("the load ceilings has settings of its own: name no other with it")
		}
		settings, remove, err := ceilingSettings()
		if err != nil {
			return r, err
		}
		defer func() { _ = remove() }()
		o.config.Settings = append(settings, o.config.Settings...)
	}
	things, err := start(ctx, o.config)
	if err != nil {
		return r, err
	}
	b := New(things, Options{People: o.people, Delay: o.delay, Rest: o.rest, Progress: progress})
	for _, l := range o.chosenLoads() {
		began, taken, other := time.Now(), b.Carrier.Taken(), b.Carrier.Other()
		figures, err := runLimited(ctx, b, l)
		if err != nil {
			return r, errors.Join(fmt.Errorf("load %s: %w", l.Name, err), things.Stop())
		}
		fmt.Fprintf(progress, "%s: %v, %d texts at the carrier, %d of them not by the model\n",
			l.Name, time.Since(began).Round(100*time.Millisecond), b.Carrier.Taken()-taken, b.Carrier.Other()-other)
		r.Figures = append(r.Figures, figures...)
	}
	return r, things.Stop()
}

var errLimit = errors.New("the load took longer than its limit")

func runLimited(ctx context.Context, b *Bench, l Load) ([]Figure, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.Limit, errLimit)
	defer cancel()
	figures, err := l.Run(ctx, b)
	for i := range figures {
		figures[i].Load = l.Name
	}
	return figures, err
}
