package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/internal/doctor"
)

func doctorCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check configuration, database, payload keys, audit, webhooks, alerts, Temporal, workers, model and carrier", Args: exactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := p.besideDev()
			return RunChecks(c.Context(), p.out, p.json, doctor.List(cfg, err))
		},
	}
}

// ErrCheckFailed says that at least one check failed; the report names it.
var ErrCheckFailed = errors.New("at least one check failed")

// RunChecks runs the checks one after the other, each for 10 s at most, and
// prints a line for each. The error is ErrCheckFailed when one failed.
func RunChecks(ctx context.Context, out io.Writer, asJSON bool, checks []doctor.Check) error {
	findings := doctor.Run(ctx, checks)
	var failed error
	for _, f := range findings {
		if !f.OK {
			failed = ErrCheckFailed
		}
	}
	return errors.Join(printFindings(out, asJSON, findings), failed)
}

func printFindings(out io.Writer, asJSON bool, findings []api.Check) error {
	if asJSON {
		raw, err := json.Marshal(findings)
		if err != nil {
			return fmt.Errorf("encoding the report: %w", err)
		}
		return printJSON(out, raw)
	}
	rows := make([][]string, 0, len(findings))
	for _, f := range findings {
		verdict := "failed"
		switch {
		case f.Warning:
			verdict = "warning"
		case f.OK:
			verdict = "ok"
		}
		rows = append(rows, []string{f.Name, verdict, strings.ReplaceAll(f.Detail, "\n", "; ")})
	}
	return writeTable(out, rows)
}
