package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"

	"github.com/spf13/cobra"

	"coachline/internal/config"
	"coachline/internal/redact"
)

// Exit codes, part of the contract with scripts.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// Process is what the program has of the process that runs it.
type Process struct {
	In       io.Reader
	Out, Err io.Writer
	// Bars says that standard error is a terminal, which shows progress as a bar.
	Bars    bool
	Environ []string
	// DevEnviron is the file in which a development system on this folder leaves
	// its settings; empty for none.
	DevEnviron string
	// Worker and Starter run the two roles until the context ends.
	Worker, Starter func(context.Context, config.Config) error
}

// Run carries out the command that args are and returns the exit code.
func Run(ctx context.Context, of Process, args []string) int {
	p := &program{in: of.In, out: of.Out, err: of.Err, bars: of.Bars, environ: of.Environ, devEnviron: of.DevEnviron, worker: of.Worker, starter: of.Starter}
	return p.runCommand(ctx, args)
}

// program is what every command may touch of the process.
type program struct {
	in  io.Reader
	out io.Writer
	err io.Writer
	// bars says that standard error is a terminal, which shows progress as a bar.
	bars    bool
	environ []string
	client  *Client
	url     string
	token   string
	reason  string
	context string
	json    bool
	// devEnviron is the file in which a development system on this folder leaves
	// its settings; empty for none.
	devEnviron string
	// configFolder holds the user's contexts; empty for the user's own.
	configFolder string
	// worker and starter run the two roles.
	worker, starter func(context.Context, config.Config) error
}

// usageError is a call that cannot be understood, as opposed to one that was
// understood and failed.
type usageError struct{ error }

func (p *program) runCommand(ctx context.Context, args []string) int {
	root := p.rootCommand()
	root.SetArgs(args)
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.err)
	at, err := root.ExecuteContextC(ctx)
	var usage usageError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage):
		fmt.Fprintf(p.err, "%s: %v\nTry: %s --help\n", at.CommandPath(), err, at.CommandPath())
		return exitUsage
	case errors.Is(err, ErrCheckFailed):
		return exitFailed // the report has been printed
	}
	fmt.Fprintf(p.err, "coachline: %v\n", err)
	return exitFailed
}

func (p *program) rootCommand() *cobra.Command {
	p.client = newClient(p.findTarget)
	root := groupCommand("coachline", "Durable SMS coaching")
	root.SilenceErrors, root.SilenceUsage = true, true
	root.Version = versionLine()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	flags := root.PersistentFlags()
	flags.StringVar(&p.url, "url", "", "address of the API (default COACH_URL, the current context, or COACH_HTTP_ADDR)")
	flags.StringVar(&p.context, "context", "", "named installation to go to (see coachline context)")
	flags.StringVar(&p.token, "token", "", "token of the API (default COACH_API_TOKEN)")
	flags.StringVar(&p.reason, "reason", "", "why something is changed; kept sealed in the audit")
	flags.BoolVar(&p.json, "json", false, "print JSON")
	root.AddCommand(workerCommand(p), starterCommand(p), participantCommand(p), cohortCommand(p), studyCommand(p), webhookCommand(p), holdCommand(p), viewCommand(p), deliveryCommand(p), reportCommand(p), budgetCommand(p), takeOverCommand(p), scheduleCommand(p), erasureCommand(p), attentionCommand(p), alertCommand(p), userCommand(p), tokenCommand(p), sessionCommand(p), auditCommand(p), whoamiCommand(p), sendCommand(p), transcriptCommand(p), turnCommand(p), timersCommand(p), chatCommand(p), configCommand(p), doctorCommand(p), deployCommand(p), resealCommand(p), versionCommand(p), contextCommand(p))
	offerParticipants(p, root)
	return root
}

// groupCommand builds a command that only has others below it.
func groupCommand(use, short string, below ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs}
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usageError{unknownCommand(c, args[0])}
		}
		var names []string
		for _, below := range c.Commands() {
			if !below.Hidden {
				names = append(names, below.Name())
			}
		}
		return usageError{fmt.Errorf("%q needs a command: %s", c.CommandPath(), strings.Join(names, ", "))}
	}
	c.AddCommand(below...)
	return c
}

// unknownCommand names the commands that may have been meant.
func unknownCommand(c *cobra.Command, given string) error {
	c.SuggestionsMinimumDistance = 2
	text := fmt.Sprintf("unknown command %q for %q", given, c.CommandPath())
	if near := c.SuggestionsFor(given); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return errors.New(text)
}

// takesParticipant reports whether the first argument of a command names a
// participant.
func takesParticipant(c *cobra.Command) bool {
	words := strings.Fields(c.Use)
	return len(words) > 1 && words[1] == "ID"
}

// verb builds a command. Its arguments are the words of use after its name that are
// no flags.
func verb(use, short string, run func(*cobra.Command, []string) error) *cobra.Command {
	arguments, _, _ := strings.Cut(use, " --")
	return &cobra.Command{Use: use, Short: short, Args: exactArgs(len(strings.Fields(arguments)) - 1), RunE: run}
}

// exactArgs checks the number of arguments.
func exactArgs(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError{fmt.Errorf("want: %s", c.UseLine())}
		}
		return nil
	}
}

// loadConfig reads the configuration; what a role must have is checked by it.
func (p *program) loadConfig() (config.Config, error) { return config.Load(p.environ, nil) }

// besideDev reads the configuration of an operator's command: that of the
// development system on this folder where the environment names no other.
func (p *program) besideDev() (config.Config, error) {
	defaults, err := p.devDefaults()
	if err != nil {
		return config.Config{}, err
	}
	return config.Load(p.environ, defaults)
}

// logTo makes the logger of a role.
func (p *program) logTo(cfg config.Config) {
	slog.SetDefault(slog.New(slog.NewJSONHandler(p.err, &slog.HandlerOptions{Level: cfg.Log.Level(), ReplaceAttr: redact.Attr})))
}

// callAddress turns an address to listen on into one to call.
func callAddress(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
