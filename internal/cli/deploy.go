package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

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
