// Command people lives with the product for two months: simulated people of five languages
// text with it over a simulated carrier, on the Temporal server that production runs on,
// which skips the time between. It judges what happened to each of them.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"coachline/internal/program"
)

// errWrong ends the program when a limit was broken; the table says which.
var errWrong = errors.New("not all limits were kept")

func main() {
	program.Main("people", func(ctx context.Context) error {
		if len(os.Args) == 2 && os.Args[1] == workerArg {
			return runWorker(ctx, os.Environ())
		}
		slog.SetDefault(slog.New(slog.DiscardHandler))
		o, err := parse(os.Args[1:], os.Stdout)
		if err != nil {
			return &program.UsageError{Err: err}
		}
		right, err := playAll(ctx, o, os.Stdout)
		if err == nil && !right {
			return errWrong
		}
		return err
	})
}

// options are what the command line says.
type options struct {
	names    []string
	days     int
	seed     uint64
	dir      string
	settings []string
	calm     bool
	corpora  string
	// hasActor: the model at playURL plays the people; that at scanURL reads transcripts.
	hasActor           bool
	playURL, playModel string
	scanURL, scanModel string
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("people", flag.ContinueOnError)
	flags.SetOutput(out)
	names := flags.String("people", "", "these personas alone, divided by commas")
	flags.IntVar(&o.days, "days", 60, "days that are played")
	flags.Uint64Var(&o.seed, "seed", 1, "what the people's behaviour is drawn from")
	flags.StringVar(&o.dir, "dir", "build/people", "folder of transcripts and of the installation, made anew")
	flags.BoolVar(&o.calm, "calm", false, "nothing goes wrong: no roll-out, kill or restart")
	flags.StringVar(&o.corpora, "corpora", "", "instead of the personas, thirty people who answer with ordinary messages of this folder's *.en.txt and *.de.txt")
	play := flags.String("play", "", "`model`: a second model writes what people say beside intake and events, and their own words where it cannot; OPENAI_API_KEY is its key")
	flags.StringVar(&o.playURL, "play-url", "", "server of the second model, as http://127.0.0.1:11434/v1")
	flags.StringVar(&o.playModel, "play-model", "", "name of the second model")
	flags.StringVar(&o.scanURL, "scan-url", "", "server of the model that reads each transcript and lists what looks wrong (default: that of -play-url)")
	flags.StringVar(&o.scanModel, "scan-model", "", "name of that model (default that of -play-model)")
	flags.Func("set", "a setting of the product, `NAME=VALUE`; may be repeated", func(line string) error {
		if !strings.Contains(line, "=") {
			return errors.New("want NAME=VALUE")
		}
		o.settings = append(o.settings, line)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return o, err //nolint:wrapcheck // the flags package has said what is wrong
	}
	if *names != "" {
		o.names = strings.Split(*names, ",")
	}
	o.hasActor = *play == "model"
	o.scanURL, o.scanModel = cmp.Or(o.scanURL, o.playURL), cmp.Or(o.scanModel, o.playModel)
	if *play != "" && (!o.hasActor || o.playURL == "" || o.playModel == "") || (o.scanURL == "") != (o.scanModel == "") {
		return o, errors.New("a second model wants its server and its name: -play model -play-url URL -play-model NAME, or -scan-url URL -scan-model NAME")
	}
	if flags.NArg() > 0 || o.days < 1 {
		return o, errors.New("want flags only, and at least one day")
	}
	return o, nil
}

// playAll plays the personas and reports whether all limits were kept.
func playAll(ctx context.Context, o options, out io.Writer) (isRight bool, err error) {
	w, err := newWorld(ctx, o, out)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.play(); err != nil {
		return false, errors.Join(err, w.writeTranscripts())
	}
	fmt.Fprintf(out, "%d people, %d days: %s, %d steps\n", len(w.people), o.days, time.Since(w.began).Round(100*time.Millisecond), w.steps)
	w.showWaits(out)
	if w.actor != nil {
		fmt.Fprintf(out, "texts that %s played: %d; in people's own words, since it could not: %d %s\n", w.actor.name, w.actor.played, w.actor.own, w.actor.problem)
	}
	if err := w.writeTranscripts(); err != nil {
		return false, err
	}
	if o.corpora != "" {
		w.countAnswers(out)
		return true, nil
	}
	return w.judge(out)
}

// newWorld starts an installation for the personas.
func newWorld(ctx context.Context, o options, out io.Writer) (*world, error) {
	personas, err := loadPersonas(o.names)
	if o.corpora != "" {
		o.days, o.calm = corpusDays+1, true
		personas, err = corpusPersonas(o.corpora, o.seed)
	}
	if err != nil {
		return nil, err
	}
	if err := makeFolder(o.dir); err != nil {
		return nil, err
	}
	begin, err := time.Parse(time.RFC3339, begins)
	if err != nil {
		return nil, err //nolint:wrapcheck // a constant
	}
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		return nil, fmt.Errorf("finding the folder: %w", err)
	}
	scanner, err := openSecond(o.scanURL, o.scanModel)
	if err != nil {
		return nil, err
	}
	var actor *second
	if o.hasActor {
		if actor, err = openSecond(o.playURL, o.playModel); err != nil {
			return nil, err
		}
	}
	c := newCoach(personas)
	in, err := install(ctx, dir, begin, c.answer, o.settings...)
	if err != nil {
		return nil, err
	}
	w := &world{installation: in, ctx: ctx, coach: c, begin: begin, end: begin.AddDate(0, 0, o.days), days: o.days, out: out, builds: 1, marked: begin, began: time.Now(), alerted: map[string]bool{}, spent: map[string]time.Duration{}, actor: actor, scanner: scanner}
	if !o.calm {
		w.breaks = planBreaks(o.days)
	}
	for _, p := range personas {
		x, err := newPlayer(p, o.seed, begin)
		if err != nil {
			return nil, errors.Join(err, in.close())
		}
		w.people = append(w.people, x)
	}
	return w, nil
}

// makeFolder makes a folder anew that is empty or of an earlier run.
func makeFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 && !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == clockFile }) {
		return fmt.Errorf("folder %s is not of an earlier run: name another one with -dir", dir)
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return fmt.Errorf("making the folder: %w", err)
	}
	return nil
}

// planBreaks spreads two roll-outs, three kills and a restart of the engine over the days.
func planBreaks(days int) []breakage {
	at := func(sixtieth int) int { return sixtieth * days / 60 }
	return []breakage{
		{at(10), "a kill", killNow}, {at(18), "a roll-out", rollOut}, {at(26), "a restart of the engine", restartNow},
		{at(33), "a kill", killNow}, {at(41), "a roll-out", rollOut}, {at(50), "a kill", killNow},
	}
}
