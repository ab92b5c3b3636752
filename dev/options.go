package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"strings"

	"coachline/dev/temporal"
	"coachline/internal/program"
)

// options are the command line.
type options struct {
	data         string
	http         string
	temporalPort int
	uiPort       int
	simPort      int
	sync         string
	noWorker     bool
	noStarter    bool
	ephemeral    bool
	// httpGiven: the flag was used, so it beats COACH_HTTP_ADDR.
	httpGiven bool
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("dev", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.data, "data", ".coachline", "folder of the databases")
	flags.StringVar(&o.http, "http", "127.0.0.1:8080", "address of the API")
	flags.IntVar(&o.temporalPort, "temporal-port", 7233, "port of the Temporal server; 0 = any free port")
	flags.IntVar(&o.uiPort, "ui-port", 8233, "port of the Temporal UI; 0 = any free port")
	flags.IntVar(&o.simPort, "sim-port", 8090, "port of the simulated phones and the scripted model; 0 = any free port")
	flags.StringVar(&o.sync, "sync", string(temporal.SyncNormal), "normal, or full to survive a power cut too (slower)")
	flags.BoolVar(&o.noWorker, "no-worker", false, "leave the worker to a process of its own")
	flags.BoolVar(&o.noStarter, "no-starter", false, "leave the starter to a process of its own")
	flags.BoolVar(&o.ephemeral, "ephemeral", false, "keep nothing")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(stderr)
		flags.Usage()
		return o, err
	} else if err != nil {
		return o, &program.UsageError{Err: err}
	}
	flags.Visit(func(f *flag.Flag) { o.httpGiven = o.httpGiven || f.Name == "http" })
	if err := o.check(flags.Args()); err != nil {
		return o, &program.UsageError{Err: err}
	}
	return o, nil
}

func (o options) check(rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("unexpected argument %q", rest[0])
	}
	if _, _, err := net.SplitHostPort(o.http); err != nil {
		return fmt.Errorf("--http: %w", err)
	}
	if o.sync != string(temporal.SyncNormal) && o.sync != string(temporal.SyncFull) {
		return fmt.Errorf("--sync %q: want normal or full", o.sync)
	}
	if o.data == "" || strings.ContainsAny(o.data, "?\n") {
		return fmt.Errorf("--data %q: want a folder's name without a question mark", o.data)
	}
	for name, port := range map[string]int{"temporal": o.temporalPort, "ui": o.uiPort, "sim": o.simPort} {
		if port < 0 || port > 65535 {
			return fmt.Errorf("--%s-port %d: want 0 to 65535", name, port)
		}
	}
	return nil
}
