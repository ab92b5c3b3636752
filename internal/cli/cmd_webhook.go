package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/models"
)

func (p *program) webhookCommand() *cobra.Command {
	return groupCommand("webhook", "Signed events for receivers outside", p.webhookAdd(), p.webhookList(),
		p.onWebhook("show", "Print a webhook", (*Commands).ShowWebhook), p.webhookChange(),
		p.onWebhook("remove", "Remove a webhook and what it was still to be told", (*Commands).RemoveWebhook),
		p.onWebhook("test", "Send a webhook an event of type webhook.test", (*Commands).TestWebhook), p.webhookDeliveries(), p.webhookReplay())
}

// onWebhook builds a verb for one webhook.
func (p *program) onWebhook(verb, short string, run func(*Commands, context.Context, string) error) *cobra.Command {
	c := &cobra.Command{Use: verb + " WEBHOOK", Short: short, Args: exactArgs(1)}
	c.RunE = func(c *cobra.Command, args []string) error {
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return run(commands, c.Context(), args[0])
	}
	return c
}

func (p *program) webhookAdd() *cobra.Command {
	var body api.NewWebhook
	c := &cobra.Command{
		Use: "add URL", Short: "Tell a receiver of what happens", Args: exactArgs(1),
		Long: "Prints the secret that the receiver checks signatures with, once. Events hold ids and states, no names,\nnumbers or texts; see docs/webhooks.md.",
	}
	c.Flags().StringVar(&body.StudyID, "study", "", "only events of this study")
	c.Flags().StringSliceVar(&body.Events, "event", nil, "only events of this type, such as message.received; may be repeated")
	c.RunE = func(c *cobra.Command, args []string) error {
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		body.URL = args[0]
		return commands.AddWebhook(c.Context(), body)
	}
	return c
}

func (p *program) webhookList() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List the webhooks", Args: exactArgs(0)}
	c.RunE = func(c *cobra.Command, _ []string) error {
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.ListWebhooks(c.Context())
	}
	return c
}

// everyEvent stands for the types of all events.
const everyEvent = "all"

func (p *program) webhookChange() *cobra.Command {
	var address, study, state string
	var change api.WebhookChange
	c := &cobra.Command{Use: "change WEBHOOK", Short: "Change a webhook, stop it, or draw a new secret", Args: exactArgs(1)}
	c.Flags().StringVar(&address, "to", "", "address that events are posted to")
	c.Flags().StringVar(&study, "study", "", "only events of this study; empty: of all")
	c.Flags().StringSliceVar(&change.Events, "event", nil, "only events of this type; may be repeated; "+everyEvent+": of every type")
	c.Flags().StringVar(&state, "state", "", "active, or disabled: what happens meanwhile is not kept for it")
	c.Flags().BoolVar(&change.RotateSecret, "new-secret", false, "draw a new secret; the old one signs beside it for a day")
	c.RunE = func(c *cobra.Command, args []string) error {
		changed := c.Flags().Changed
		if changed("to") {
			change.URL = &address
		}
		if changed("study") {
			change.StudyID = &study
		}
		if slices.Equal(change.Events, []string{everyEvent}) {
			change.Events = []string{} // which is sent, where nil is not
		}
		if changed("state") {
			want := models.WebhookState(state)
			if want != models.WebhookActive && want != models.WebhookDisabled {
				return usageError{errors.New("--state must be active or disabled")}
			}
			change.State = &want
		}
		if c.Flags().NFlag() == 0 {
			return usageError{errors.New("say what is to change; see coachline webhook change --help")}
		}
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.ChangeWebhook(c.Context(), args[0], change)
	}
	return c
}

func (p *program) webhookDeliveries() *cobra.Command {
	var open bool
	var limit int
	c := &cobra.Command{Use: "deliveries WEBHOOK", Short: "List the events of a webhook, newest first", Args: exactArgs(1)}
	c.Flags().BoolVar(&open, "open", false, "only those that were not delivered")
	c.Flags().IntVar(&limit, "limit", 50, "how many, at most 200")
	c.RunE = func(c *cobra.Command, args []string) error {
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.ListDeliveries(c.Context(), args[0], open, limit)
	}
	return c
}

func (p *program) webhookReplay() *cobra.Command {
	var since string
	c := &cobra.Command{Use: "replay WEBHOOK --since WHEN", Short: "Deliver again what happened since an instant", Args: exactArgs(1)}
	c.Flags().StringVar(&since, "since", "", "date, local time such as 2026-01-02T09:00, or RFC 3339 instant")
	c.RunE = func(c *cobra.Command, args []string) error {
		if since == "" {
			return usageError{errors.New("--since is needed")}
		}
		at, err := parseInstant(since, time.Now())
		if err != nil {
			return usageError{fmt.Errorf("--since: %w", err)}
		}
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.ReplayWebhook(c.Context(), args[0], at)
	}
	return c
}
