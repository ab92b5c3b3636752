// Command eval plays scripted conversations through the product and grades the
// replies, for one or several models, protocols and prompt versions side by
// side. See docs/evaluation.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"slices"
	"strings"

	"coachline/eval/cases"
	"coachline/internal/program"
	"coachline/models"
)

func main() {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	program.Main("eval", func(ctx context.Context) error {
		return run(ctx, invocation{os.Environ(), os.Args[1:], os.Stdout, os.Stdin})
	})
}

// options are what the command line says.
type options struct {
	models    []string
	small     string
	prompts   []string
	protocols []models.Protocol
	cases     []string
	folder    string
	repeat    int
	set       string
	record    string
	costs     bool
	parallel  int
	json      string
	compare   string
}

func parse(args []string, errs io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("eval", flag.ContinueOnError)
	flags.SetOutput(errs)
	list := func(into *[]string, name, usage string) {
		flags.Func(name, usage, func(text string) error { *into = append(*into, text); return nil })
	}
	list(&o.models, "model", "a `model` to judge, may be repeated (default COACH_MODEL, or the scripted model)")
	flags.StringVar(&o.small, "small", "", "the `model` for the stages (default COACH_SMALL_MODEL, or the one that is judged)")
	list(&o.prompts, "prompts", "a `folder` of prompts, may be repeated; built-in names the embedded ones (default COACH_PROMPTS_DIR)")
	flags.Func("protocol", "how tools are offered, may be repeated: native, text or two_phase (default what is known of the model)", func(text string) error {
		p := models.Protocol(text)
		if !slices.Contains([]models.Protocol{models.ProtocolNative, models.ProtocolText, models.ProtocolTwoPhase}, p) {
			return errors.New("want native, text or two_phase")
		}
		o.protocols = append(o.protocols, p)
		return nil
	})
	flags.Func("case", "a case to play, may be repeated and may be a `pattern` such as memory*", func(text string) error {
		if _, err := path.Match(text, ""); err != nil {
			return err
		}
		o.cases = append(o.cases, text)
		return nil
	})
	flags.StringVar(&o.folder, "cases", "", "a `folder` of own cases (*.yaml) in the place of the programme's")
	flags.IntVar(&o.repeat, "repeat", 1, "how often each case is played; with 4 or more in both runs -compare says of every figure what is beyond noise")
	flags.StringVar(&o.set, "set", "", "judge single messages in the place of conversations: look, for the second look at weak signs of danger; weak, for those of the scored sheets; advice, for drafts that advise; or play people, and count what reaches their phones")
	flags.StringVar(&o.record, "record", "", "with -set: a `file` for the verdicts (eval/testdata/looks.tsv is held to limits by a test)")
	flags.BoolVar(&o.costs, "costs", false, "play the twenty conversations that costs are compared by, and print those alone")
	flags.IntVar(&o.parallel, "parallel", 1, "conversations at a time; with more than one the cached share depends on their order")
	flags.StringVar(&o.json, "json", "", "keep the run as JSON in this `file`")
	flags.StringVar(&o.compare, "compare", "", "compare with the run kept in this `file`")
	if err := flags.Parse(args); err != nil {
		return o, err //nolint:wrapcheck // the flags package has said what is wrong
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	if o.set != "" && !slices.Contains([]string{setLook, setWeak, setAdvice, setPeople}, o.set) {
		return o, fmt.Errorf("-set: want %s, %s, %s or %s", setLook, setWeak, setAdvice, setPeople)
	}
	if o.parallel < 1 || o.repeat < 1 {
		return o, errors.New("-parallel and -repeat: want 1 or more")
	}
	return o, nil
}

// errNotHeld ends the program when a must was not met; the report says which.
var errNotHeld = errors.New("not every case holds")

// invocation is what the program is given.
type invocation struct {
	environ, args []string
	out           io.Writer
	in            io.Reader
}

func run(ctx context.Context, in invocation) error {
	if len(in.args) > 0 && (in.args[0] == commandJudge || in.args[0] == commandLabel) {
		command := in.args[0]
		in.args = in.args[1:]
		return runLabels(ctx, command, in)
	}
	o, err := parse(in.args, in.out)
	if err != nil {
		return err
	}
	before, err := readBefore(o)
	if err != nil {
		return err
	}
	book, err := chooseCases(o)
	if err != nil && o.set == "" {
		return err
	}
	ground, err := prepare(ctx, in.environ)
	if err != nil {
		return err
	}
	defer ground.stop()
	if o.set != "" {
		return ground.runSet(ctx, o, in.out)
	}
	done, err := evaluate(ctx, evaluation{columns: ground.columns(o), settings: ground.settings, cases: book, parallel: o.parallel, repeat: o.repeat})
	if err != nil {
		return err
	}
	if err := printRun(done, before, o, in.out); err != nil || done.Held() {
		return err
	}
	return errNotHeld
}

// readBefore reads the run that is compared with, if any.
func readBefore(o options) (Run, error) {
	if o.compare == "" {
		return Run{}, nil
	}
	return Read(o.compare)
}

// runSet judges single messages, or plays people, in the place of conversations.
func (g environment) runSet(ctx context.Context, o options, out io.Writer) error {
	switch o.set {
	case setPeople:
		return g.playPeople(ctx, o, out)
	case setAdvice:
		return g.judgeAdvice(ctx, o, out)
	default:
		return g.judgeSets(ctx, o, out)
	}
}

// judgeAdvice judges the advice of each column.
func (g environment) judgeAdvice(ctx context.Context, o options, out io.Writer) error {
	for _, column := range g.columns(o) {
		d, err := New(Config{Column: column, Settings: g.settings})
		if err != nil {
			return err
		}
		if err := d.judgeAdvice(ctx, adviceFolder, out); err != nil {
			return err
		}
	}
	return nil
}

// printRun writes the report, and what the options ask for beside it.
func printRun(done, before Run, o options, out io.Writer) error {
	write := done.WriteText
	if o.costs {
		write = done.WriteCosts
	}
	if err := write(out); err != nil {
		return err
	}
	if o.compare != "" {
		fmt.Fprintf(out, "\nsince %s:\n", before.StartedAt.Format("2006-01-02 15:04"))
		if err := WriteComparison(out, before, done); err != nil {
			return err
		}
	}
	if o.json == "" {
		return nil
	}
	return done.Write(o.json)
}

// chooseCases are the cases whose names match one of the patterns; all without
// any.
func chooseCases(o options) ([]cases.Case, error) {
	var files fs.FS = cases.Files
	if o.folder != "" {
		files = os.DirFS(o.folder)
	}
	all, err := cases.Load(files)
	if err != nil {
		return nil, err
	}
	left := slices.DeleteFunc(o.matching(all), func(one cases.Case) bool { return o.costs && !one.Costed })
	if len(left) == 0 {
		return nil, fmt.Errorf("no case is called %s", strings.Join(o.cases, " or "))
	}
	return left, nil
}

// matching returns the cases whose names match one of the patterns; all without any.
func (o options) matching(all []cases.Case) []cases.Case {
	return slices.DeleteFunc(slices.Clone(all), func(one cases.Case) bool {
		return len(o.cases) > 0 && !slices.ContainsFunc(o.cases, func(pattern string) bool {
			ok, err := path.Match(pattern, one.Name)
			return err == nil && ok
		})
	})
}
