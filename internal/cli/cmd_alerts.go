package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"coachline/models"
)

func (p *program) alertsCommand() *cobra.Command {
	return groupCommand("alerts", "Judge messages that were taken for a crisis", p.alertsList(), p.alertsAcknowledge(), p.alertsMark(), p.alertsExport())
}

func (p *program) alertsList() *cobra.Command {
	var unmarked bool
	c := &cobra.Command{
		Use: "list", Short: "List alerts and what raised them, newest first", Args: exactArgs(0),
		Long: "Lists messages that were taken for a crisis, newest first: the tier (A pages a person, B is a weak sign),\n" +
			"the rule or the classifier's score that raised each, and what an operator said of it.\n" +
			"`coachline transcript ID` shows the message.",
	}
	c.Flags().BoolVar(&unmarked, "unmarked", false, "only those that no operator has judged")
	c.RunE = func(c *cobra.Command, _ []string) error {
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.ListAlerts(c.Context(), unmarked)
	}
	return c
}

func (p *program) alertsAcknowledge() *cobra.Command {
	return &cobra.Command{
		Use: "acknowledge ALERT", Short: "Say that you see to an alert, so that it does not page again", Args: exactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			commands, err := p.newCommands()
			if err != nil {
				return err
			}
			return commands.AcknowledgeAlert(c.Context(), args[0])
		},
	}
}

func (p *program) alertsMark() *cobra.Command {
	return &cobra.Command{
		Use: "mark ALERT right|wrong", Short: "Say whether an alert was right", Args: exactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			mark := models.AlertMark(args[1])
			if mark != models.MarkRight && mark != models.MarkWrong {
				return usageError{fmt.Errorf("%q is neither right nor wrong", args[1])}
			}
			commands, err := p.newCommands()
			if err != nil {
				return err
			}
			return commands.MarkAlert(c.Context(), args[0], mark)
		},
	}
}

func (p *program) alertsExport() *cobra.Command {
	return &cobra.Command{
		Use: "export FOLDER", Short: "Write what was judged as sheets for screening", Args: exactArgs(1),
		Long: "Writes FOLDER/LANGUAGE/crisis.marks.tsv and negative.marks.tsv with the messages of alerts that operators\n" +
			"have judged. Numbers and addresses are masked; names are not. Read the files before they leave the machine.",
		RunE: func(c *cobra.Command, args []string) error {
			commands, err := p.newCommands()
			if err != nil {
				return err
			}
			return commands.ExportAlerts(c.Context(), args[0])
		},
	}
}
