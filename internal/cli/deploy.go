package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/internal/build"
	"coachline/internal/config"
	"coachline/internal/connect"
	"coachline/internal/rollout"
)

func deployCommand(p *program) *cobra.Command {
	var to rollout.Promotion
	promote := &cobra.Command{
		Use: "promote [BUILD]", Short: "Give the tasks of all participants to a build of the worker (default: this program's)", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return promoteBuild(c.Context(), p, args, to) },
	}
	promote.Flags().Float32Var(&to.Percent, "ramp", 0, "share of the tasks in percent, beside the current build (default all)")
	promote.Flags().BoolVar(&to.IsForced, "force", false, "also where no worker of the build runs")
	show := &cobra.Command{
		Use: "show", Short: "Print which build gets the tasks, and the workers of each build", Args: exactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			return withDeployment(p, func(_ config.Config, d rollout.Deployment) error { return printRoute(c.Context(), p, d) })
		},
	}
	return groupCommand("deploy", "Say which build of the worker gets the tasks", promote, show)
}

// withDeployment calls fn with the worker deployment of the installation.
func withDeployment(p *program, fn func(config.Config, rollout.Deployment) error) error {
	cfg, err := p.besideDev()
	if err != nil {
		return err
	}
	engine, err := connect.NewTemporal(cfg)
	if err != nil {
		return err
	}
	defer engine.Close()
	return fn(cfg, connect.NewDeployment(cfg, engine))
}

func promoteBuild(ctx context.Context, p *program, args []string, to rollout.Promotion) error {
	if to.Percent < 0 || to.Percent >= 100 {
		return usageError{fmt.Errorf("--ramp %v: give a share from 1 to 99, or none for all tasks", to.Percent)}
	}
	return withDeployment(p, func(cfg config.Config, d rollout.Deployment) error {
		var err error
		if len(args) == 1 {
			to.Build = args[0]
		} else if to.Build, err = connect.OwnRoute(cfg); err != nil {
			return err
		}
		if err = d.Promote(ctx, to); err != nil {
			return err
		}
		return printRoute(ctx, p, d)
	})
}

// deployedBuild is a line of the report.
type deployedBuild struct {
	Build   string  `json:"build"`
	Percent float32 `json:"percent"`
	Workers int     `json:"workers"`
}

func printRoute(ctx context.Context, p *program, d rollout.Deployment) error {
	route, err := d.Read(ctx)
	if err != nil {
		return err
	}
	workers, err := d.Workers(ctx)
	if err != nil {
		return err
	}
	workers[route.Current] += 0 // listed without a worker too
	if route.Ramping != "" {
		workers[route.Ramping] += 0
	}
	list := []deployedBuild{}
	rows := [][]string{{"BUILD", "TASKS", "WORKERS"}}
	for _, name := range slices.Sorted(maps.Keys(workers)) {
		one := deployedBuild{Build: name, Workers: workers[name]}
		switch name {
		case route.Current:
			one.Percent = 100 - route.Percent
		case route.Ramping:
			one.Percent = route.Percent
		}
		list = append(list, one)
		rows = append(rows, []string{cmp.Or(name, "without versions"), fmt.Sprintf("%g %%", one.Percent), strconv.Itoa(one.Workers)})
	}
	if !p.json {
		return writeTable(p.out, rows)
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("encoding the builds: %w", err)
	}
	return printJSON(p.out, raw)
}

func configCommand(p *program) *cobra.Command {
	var markdown bool
	c := &cobra.Command{
		Use: "config", Short: "Print the settings in force and where each comes from", Args: exactArgs(0),
		Long: "Prints every setting that a role started here would run with, its value and its source\n" +
			"(default, environment, file, profile). Secrets are masked.",
	}
	c.Flags().BoolVar(&markdown, "markdown", false, "print the documentation's table of all variables instead")
	c.RunE = func(*cobra.Command, []string) error {
		if markdown {
			_, err := fmt.Fprint(p.out, config.Markdown())
			return err
		}
		cfg, err := p.besideDev()
		if err != nil {
			return err
		}
		return printSettings(p, cfg.Table())
	}
	return c
}

func printSettings(p *program, settings []config.Setting) error {
	if p.json {
		return json.NewEncoder(p.out).Encode(settings)
	}
	out := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "SETTING\tVALUE\tSOURCE")
	for _, one := range settings {
		fmt.Fprintf(out, "%s\t%s\t%s\n", one.Name, api.Setting{Value: one.Value, InForce: one.InForce}.Describe(), one.Source)
	}
	return out.Flush()
}

func workerCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "worker", Short: "Run workflows and activities until interrupted", Args: exactArgs(0),
		RunE: runRole(p, config.RoleWorker, p.worker),
	}
}

func starterCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "starter", Short: "Serve the API and the carrier's webhooks until interrupted", Args: exactArgs(0),
		RunE: runRole(p, config.RoleStarter, p.starter),
	}
}

func runRole(p *program, role config.Role, run func(context.Context, config.Config) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, _ []string) error {
		cfg, err := p.loadConfig()
		if err != nil {
			return err
		}
		if err := cfg.Validate(role); err != nil {
			return err
		}
		p.logTo(cfg)
		return run(c.Context(), cfg)
	}
}

func versionCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of this build", Args: exactArgs(0),
		RunE: func(*cobra.Command, []string) error {
			if p.json {
				return json.NewEncoder(p.out).Encode(api.Version{Version: build.Version()})
			}
			_, err := fmt.Fprintln(p.out, versionLine())
			return err
		},
	}
}

// versionLine names the program, the version and the commit of this build.
func versionLine() string {
	line := "coachline " + build.Version()
	if commit := build.Commit(); commit != "" && commit != build.Version() {
		line += " (commit " + commit + ")"
	}
	return line
}
