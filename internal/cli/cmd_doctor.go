package cli

import (
	"github.com/spf13/cobra"

	"coachline/internal/doctor"
)

func (p *program) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check configuration, database, payload keys, audit, webhooks, alerts, Temporal, model and carrier", Args: exactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := p.besideDev()
			return RunChecks(c.Context(), p.out, p.json, doctor.List(cfg, err))
		},
	}
}
