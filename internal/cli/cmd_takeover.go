package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/models"
)

func (p *program) takeOverCommand() *cobra.Command {
	return groupCommand("takeover", "Write to a person in the place of the coach", p.takeOverStart(), p.takeOverEnd(), p.takeOverList())
}

func (p *program) takeOverStart() *cobra.Command {
	var until string
	var body api.NewTakeOver
	c := &cobra.Command{
		Use: "start ID", Short: "Silence the coach; write with coachline send", Args: exactArgs(1),
		Long: "The coach is silent at once. What the person writes waits, prompts and check-ins are recorded as missed;\n" +
			"safety texts, STOP, START and HELP work as ever. `coachline send` writes in your name.",
	}
	c.Flags().StringVar(&until, "until", "", "when the coach writes again by itself: as of coachline hold, at most 7 days away (default in 4 hours)")
	c.Flags().StringVar(&body.Reason, "reason", "", "why; kept sealed")
	c.Flags().StringVar(&body.Note, "note", "", "what the coach is told afterwards")
	c.Flags().BoolVar(&body.Force, "force", false, "also when another operator has the conversation")
	c.RunE = func(c *cobra.Command, args []string) error {
		if until != "" {
			instant, err := parseInstant(until, time.Now())
			if err != nil {
				return usageError{fmt.Errorf("--until: %w", err)}
			}
			body.Until = &instant
		}
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.TakeOver(c.Context(), args[0], body)
	}
	return c
}

func (p *program) takeOverEnd() *cobra.Command {
	var waiting string
	var body api.TakeOverEnd
	c := &cobra.Command{Use: "end ID", Short: "Have the coach write again", Args: exactArgs(1)}
	c.Flags().StringVar(&waiting, "waiting", "", "what becomes of texts that came meanwhile: answer or read (default: answer those of today)")
	c.Flags().StringVar(&body.Note, "note", "", "what the coach is told")
	c.RunE = func(c *cobra.Command, args []string) error {
		body.Waiting = models.WaitingAction(waiting)
		if waiting != "" && body.Waiting != models.WaitingAnswer && body.Waiting != models.WaitingRead {
			return usageError{fmt.Errorf("--waiting: %q is neither answer nor read", waiting)}
		}
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.HandBack(c.Context(), args[0], body)
	}
	return c
}

func (p *program) takeOverList() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List the conversations that operators have taken over", Args: exactArgs(0)}
	c.RunE = func(c *cobra.Command, _ []string) error {
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.ListTakeOvers(c.Context())
	}
	return c
}
