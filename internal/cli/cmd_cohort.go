package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"coachline/internal/cohort"
)

func (p *program) cohortCommand() *cobra.Command {
	return groupCommand("cohort", "Enrol the people of a file", p.cohortImport(),
		p.onCohort("show", "Print how far an import is", (*Commands).ShowCohort),
		p.onCohort("cancel", "End an import; who is enrolled stays so", (*Commands).CancelCohort))
}

func (p *program) cohortImport() *cobra.Command {
	var in CohortImport
	c := &cobra.Command{
		Use: "import FILE", Short: "Check a CSV or TSV file and enrol its people", Args: exactArgs(1),
		Long: "Checks a CSV or TSV file in UTF-8 and enrols its people, all or none of them. The first row names\n" +
			"the columns: " + cohort.Columns() + ".\n" +
			"Faults are printed as FILE:LINE:COLUMN: what is wrong. Exit code 0: all are enrolled (or can be, in a dry run);\n" +
			"1: a fault; 2: wrong usage. Greetings are spread, each outside the person's quiet hours.",
	}
	flags := c.Flags()
	flags.BoolVar(&in.DryRun, "dry-run", false, "check only; nothing is kept")
	flags.BoolVar(&in.IgnoreUnknown, "ignore-unknown", false, "leave out columns whose name is not known")
	flags.BoolVar(&in.SkipFaulty, "skip-faulty", false, "enrol the people without a fault although others have one")
	flags.IntVar(&in.PerMinute, "per-minute", 0, "most greetings a minute (default: what the sender's rate leaves beside replies)")
	flags.StringVar(&in.Study, "study", "", "id of the people's study, which must recruit (default the study default)")
	flags.StringVar(&in.Reason, "reason", "", "why; kept sealed in the audit")
	c.RunE = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("per-minute") && in.PerMinute < 1 {
			return usageError{errors.New("--per-minute must be at least 1")}
		}
		content, err := os.ReadFile(args[0])
		if err != nil {
			return fmt.Errorf("reading the file: %w", err)
		}
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		in.Path, in.Content = args[0], content
		progress := p.newMeter("people")
		defer progress.endPart()
		return commands.ImportCohort(c.Context(), in, func(done, of int64) { progress.setProgress("enrolled", done, of) })
	}
	return c
}

// onCohort builds a verb for one import.
func (p *program) onCohort(verb, short string, run func(*Commands, context.Context, string) error) *cobra.Command {
	c := &cobra.Command{Use: verb + " COHORT", Short: short, Args: exactArgs(1)}
	c.RunE = func(c *cobra.Command, args []string) error {
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return run(commands, c.Context(), args[0])
	}
	return c
}
