package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/models/wire"
)

func scheduleCommand(p *program) *cobra.Command {
	list := verb("list ID", "List the daily prompts of a participant", func(c *cobra.Command, args []string) error {
		return callAndShow(c.Context(), p, request{participant: args[0], path: schedulesPath}, renderDailyPrompts)
	})
	return groupCommand("schedule", "Look at, add, change, move and remove daily prompts", list,
		scheduleTimes(p, "add ID", "Add a daily prompt in the person's place", http.MethodPost),
		scheduleTimes(p, "change ID SCHEDULE", "Give a daily prompt other times", http.MethodPut),
		scheduleMove(p), scheduleRemove(p))
}

// scheduleTimes builds a verb that takes the times of a schedule; its arguments are
// those that use names.
func scheduleTimes(p *program, use, short, method string) *cobra.Command {
	var body api.NewSchedule
	c := verb(use, short, nil)
	c.Long = "Times are local, as HH:MM. A prompt goes out a little before --at, which must not be in the person's quiet hours."
	c.Flags().StringVar(&body.At, "at", "", "every day at this time")
	c.Flags().StringVar(&body.From, "from", "", "every day at another time from here")
	c.Flags().StringVar(&body.To, "to", "", "until here")
	c.Flags().StringVar(&body.Timezone, "timezone", "", "IANA time zone (default the person's own, which it moves with)")
	c.Flags().StringVar((*string)(&body.First), "first", "", "where today's prompt would go out at once: now, or tomorrow to begin with the next")
	c.Flags().BoolVar(&body.DryRun, "dry-run", false, "say what would come of it and change nothing")
	c.RunE = func(c *cobra.Command, args []string) error {
		body.Type = wire.ScheduleFixed
		switch isWindow := body.From != "" || body.To != ""; {
		case isWindow == (body.At != ""):
			return usageError{errors.New("give --at, or --from and --to")}
		case isWindow:
			body.Type = wire.ScheduleRandom
		}
		path := schedulesPath
		if len(args) > 1 {
			path = schedulePath(args[1])
		}
		return changeSchedule(c.Context(), p, request{method: method, participant: args[0], path: path, body: body})
	}
	return c
}

func scheduleMove(p *program) *cobra.Command {
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
		return changeSchedule(c.Context(), p, request{method: http.MethodPost, participant: args[0], path: schedulePath(args[1]) + "/move", body: body})
	}
	return c
}

func scheduleRemove(p *program) *cobra.Command {
	return verb("remove ID SCHEDULE", "Remove a daily prompt", func(c *cobra.Command, args []string) error {
		return changeSchedule(c.Context(), p, request{method: http.MethodDelete, participant: args[0], path: schedulePath(args[1])})
	})
}

const schedulesPath = "/schedules"

func schedulePath(schedule string) string { return schedulesPath + "/" + url.PathEscape(schedule) }

// changeSchedule prints what the server says of a change, then the schedule.
func changeSchedule(ctx context.Context, p *program, r request) error {
	got, err := p.client.do(ctx, r)
	if err != nil {
		return err
	}
	return showResult(p, got, func(w io.Writer, s api.Schedule) error {
		if _, err := fmt.Fprintln(w, got.message); err != nil {
			return err
		}
		return renderDailyPrompts(w, []api.Schedule{s})
	})
}

func renderDailyPrompts(w io.Writer, list []api.Schedule) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "No daily prompts.")
		return err
	}
	return renderSchedules(w, list)
}
