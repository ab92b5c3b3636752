package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/internal/build"
	"coachline/internal/config"
)

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
