package cli

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/internal/config"
)

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
