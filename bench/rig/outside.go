package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"coachline/dev/temporal"
)

// Outside is the whole system, the program dev with its SQLite files, in a
// process of its own. It is reached over HTTP alone, so that any build of dev
// can be measured alike.
type Outside struct {
	httpAPI
	binary   string
	dir      string
	settings []string
	cmd      *exec.Cmd
	ended    chan error
	// Ready is from the start of the process until it was ready.
	Ready time.Duration
}

// StartStandIns is a rig of model and carrier alone.
func StartStandIns(ctx context.Context, cfg Config) (*Rig, error) {
	r, err := newRig()
	if err != nil {
		return nil, err
	}
	r.binary, r.settings = cfg.Binary, cfg.Settings
	r.phones = newPhones()
	if r.Carrier, err = newCarrier(cfg.Reports); err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	if r.outside, err = r.standIns(ctx); err == nil && r.binary == "" {
		r.binary = filepath.Join(r.dir, "dev")
		err = buildDev(ctx, r.binary)
	}
	if err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	return r, nil
}

// buildDev builds the program of the sources in the current folder.
func buildDev(ctx context.Context, file string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", file, "./dev")
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building ./dev (run the benchmark in the repository, or name a program with -binary): %w: %s", err, said)
	}
	return nil
}

// StartOutside runs dev on a new folder with some settings over those of the
// benchmark.
func (r *Rig) StartOutside(ctx context.Context, settings ...string) (*Outside, error) {
	dir, err := os.MkdirTemp(r.dir, "outside-")
	if err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	o := &Outside{
		httpAPI: newFront("http://"+loopback+":"+port, r.phones),
		binary:  r.binary, dir: dir, settings: slices.Concat(coachingSettings(r.outside), settings, r.settings),
	}
	return o, o.Start(ctx)
}

// Start starts the process on its folder; it has been stopped or never ran.
func (o *Outside) Start(ctx context.Context) error {
	log, err := os.OpenFile(filepath.Join(o.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("opening the log of %s: %w", o.binary, err)
	}
	defer log.Close()
	o.cmd = exec.CommandContext(ctx, o.binary, "--data", filepath.Join(o.dir, "data"), "--http", strings.TrimPrefix(o.base, "http://"),
		"--temporal-port", "0", "--ui-port", "0", "--sim-port", "0")
	o.cmd.Dir, o.cmd.Stdout, o.cmd.Stderr = o.dir, log, log
	o.cmd.Env = append(withoutSettings(o.cmd.Environ()), o.settings...)
	began := time.Now()
	if err := o.cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", o.binary, err)
	}
	ended := make(chan error, 1)
	o.ended = ended
	cmd := o.cmd
	go func() { ended <- cmd.Wait() }()
	if err := pollUntil(ctx, o.isReady); err != nil {
		return errors.Join(fmt.Errorf("waiting for %s: %w: its log ends with %q", o.binary, err, o.lastWords()), o.Stop())
	}
	o.Ready = time.Since(began)
	return nil
}

// withoutSettings leaves out what would change the product or its Temporal client.
func withoutSettings(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		return slices.ContainsFunc([]string{"COACH_", "TWILIO_", "OPENAI_", "TEMPORAL_", "DATABASE_"}, func(prefix string) bool {
			return strings.HasPrefix(pair, prefix)
		})
	})
}

const lastWords = 500

func (o *Outside) lastWords() string {
	text, err := os.ReadFile(filepath.Join(o.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-lastWords):])
}

// Name is how errors call this side.
func (o *Outside) Name() string { return "dev" }

// Processor is what the process has used so far.
func (o *Outside) Processor() (time.Duration, error) { return processorOf(o.cmd.Process.Pid) }

// Stop asks the process to end, as Ctrl-C does, and waits for it; calling it
// again does nothing.
func (o *Outside) Stop() error {
	if o.cmd == nil {
		return nil
	}
	err := o.cmd.Process.Signal(syscall.SIGTERM)
	ended := <-o.ended
	o.cmd = nil
	if errors.Is(err, os.ErrProcessDone) {
		err = nil // It has ended by itself, and says how.
	}
	if err = errors.Join(err, ended); err != nil {
		return fmt.Errorf("stopping %s: %w: its log ends with %q", o.binary, err, o.lastWords())
	}
	return nil
}

func freePort() (string, error) {
	port, err := temporal.FreePort()
	if err != nil {
		return "", fmt.Errorf("looking for a free port: %w", err)
	}
	return fmt.Sprint(port), nil
}
