package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/models"
)

func (p *program) scheduleCommand() *cobra.Command {
	list := p.onID("list", "List the daily prompts of a participant", (*Commands).ListSchedules)
	return groupCommand("schedule", "Look at, add, change, move and remove daily prompts", list,
		p.scheduleTimes("add ID", "Add a daily prompt in the person's place", func(c *Commands, ctx context.Context, args []string, body api.NewSchedule) error {
			return c.AddSchedule(ctx, args[0], body)
		}),
		p.scheduleTimes("change ID SCHEDULE", "Give a daily prompt other times", func(c *Commands, ctx context.Context, args []string, body api.NewSchedule) error {
			return c.ReplaceSchedule(ctx, args[0], args[1], body)
		}),
		p.scheduleMove(), p.scheduleRemove())
}

// scheduleTimes builds a verb that takes the times of a schedule; its arguments are
// those that use names.
func (p *program) scheduleTimes(use, short string, do func(*Commands, context.Context, []string, api.NewSchedule) error) *cobra.Command {
	var body api.NewSchedule
	wanted := 1
	if use == "change ID SCHEDULE" {
		wanted = 2
	}
	c := &cobra.Command{Use: use, Short: short, Args: exactArgs(wanted),
		Long: "Times are local, as HH:MM. A prompt goes out a little before --at, which must not be in the person's quiet hours."}
	c.Flags().StringVar(&body.At, "at", "", "every day at this time")
	c.Flags().StringVar(&body.From, "from", "", "every day at another time from here")
	c.Flags().StringVar(&body.To, "to", "", "until here")
	c.Flags().StringVar(&body.Timezone, "timezone", "", "IANA time zone (default the person's own, which it moves with)")
	c.Flags().BoolVar(&body.DryRun, "dry-run", false, "say what would come of it and change nothing")
	c.RunE = func(c *cobra.Command, args []string) error {
		body.Type = models.ScheduleFixed
		switch isWindow := body.From != "" || body.To != ""; {
		case isWindow == (body.At != ""):
			return usageError{errors.New("give --at, or --from and --to")}
		case isWindow:
			body.Type = models.ScheduleRandom
		}
		commands, id, err := p.commandsFor(c.Context(), args[0])
		if err != nil {
			return err
		}
		args[0] = id
		return do(commands, c.Context(), args, body)
	}
	return c
}

func (p *program) scheduleMove() *cobra.Command {
	var to string
	var body api.PromptMove
	c := &cobra.Command{Use: "move ID SCHEDULE --to WHEN", Short: "Move the next prompt of a schedule alone", Args: exactArgs(2)}
	c.Flags().StringVar(&to, "to", "", "when it goes out instead: as of coachline hold")
	c.Flags().BoolVar(&body.DryRun, "dry-run", false, "say what would come of it and change nothing")
	c.RunE = func(c *cobra.Command, args []string) error {
		if to == "" {
			return usageError{errors.New("--to is needed")}
		}
		var err error
		if body.To, err = parseInstant(to, time.Now()); err != nil {
			return usageError{fmt.Errorf("--to: %w", err)}
		}
		commands, id, err := p.commandsFor(c.Context(), args[0])
		if err != nil {
			return err
		}
		return commands.MovePrompt(c.Context(), id, args[1], body)
	}
	return c
}

func (p *program) scheduleRemove() *cobra.Command {
	c := &cobra.Command{Use: "remove ID SCHEDULE", Short: "Remove a daily prompt", Args: exactArgs(2)}
	c.RunE = func(c *cobra.Command, args []string) error {
		commands, id, err := p.commandsFor(c.Context(), args[0])
		if err != nil {
			return err
		}
		return commands.RemoveSchedule(c.Context(), id, args[1])
	}
	return c
}
