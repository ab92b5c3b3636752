package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/models"
)

func webhookCommand(p *program) *cobra.Command {
	return groupCommand("webhook", "Signed events for receivers outside", webhookAdd(p),
		callCommand(p, "list", "List the webhooks", func(_ []string) request { return request{path: webhooksPath} }, func(w io.Writer, list api.WebhookList) error {
			return renderWebhooks(w, list.Webhooks)
		}),
		callCommand(p, "show WEBHOOK", "Print a webhook", func(args []string) request { return request{path: webhookPath(args[0])} }, renderWebhook),
		webhookChange(p),
		callCommand(p, "remove WEBHOOK", "Remove a webhook and what it was still to be told", func(args []string) request { return request{method: http.MethodDelete, path: webhookPath(args[0])} }, func(w io.Writer, _ models.Webhook) error {
			_, err := fmt.Fprintln(w, "The webhook is removed, with what it was still to be told.")
			return err
		}),
		callCommand(p, "test WEBHOOK", "Send a webhook an event of type webhook.test", func(args []string) request {
			return request{method: http.MethodPost, path: webhookPath(args[0]) + "/test"}
		}, func(w io.Writer, d models.WebhookDelivery) error {
			_, err := fmt.Fprintf(w, "Event %s is on its way; see: coachline webhook deliveries %s\n", d.Event, d.ObjectID)
			return err
		}),
		webhookDeliveries(p), webhookReplay(p))
}

func webhookAdd(p *program) *cobra.Command {
	var body api.NewWebhook
	c := &cobra.Command{
		Use: "add URL", Short: "Tell a receiver of what happens", Args: exactArgs(1),
		Long: "Prints the secret that the receiver checks signatures with, once. Events hold ids and states, no names,\nnumbers or texts; see docs/webhooks.md.",
	}
	c.Flags().StringVar(&body.StudyID, "study", "", "only events of this study")
	c.Flags().StringSliceVar(&body.Events, "event", nil, "only events of this type, such as message.received; may be repeated")
	c.RunE = func(c *cobra.Command, args []string) error {
		body.URL = args[0]
		return callAndShow(c.Context(), p, request{method: http.MethodPost, path: webhooksPath, body: body}, renderWebhook)
	}
	return c
}

// everyEvent stands for the types of all events.
const everyEvent = "all"

func webhookChange(p *program) *cobra.Command {
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
		return callAndShow(c.Context(), p, request{method: http.MethodPut, path: webhookPath(args[0]), body: change}, renderWebhook)
	}
	return c
}

func webhookDeliveries(p *program) *cobra.Command {
	var open bool
	var limit int
	c := &cobra.Command{Use: "deliveries WEBHOOK", Short: "List the events of a webhook, newest first", Args: exactArgs(1)}
	c.Flags().BoolVar(&open, "open", false, "only those that were not delivered")
	c.Flags().IntVar(&limit, "limit", 50, "how many, at most 200")
	c.RunE = func(c *cobra.Command, args []string) error {
		query := url.Values{"limit": {strconv.Itoa(limit)}}
		if open {
			query.Set("open", "true")
		}
		return callAndShow(c.Context(), p, request{path: webhookPath(args[0]) + "/deliveries", query: query}, renderDeliveries)
	}
	return c
}

func webhookReplay(p *program) *cobra.Command {
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
		return callAndShow(c.Context(), p, request{method: http.MethodPost, path: webhookPath(args[0]) + "/replay", body: api.WebhookReplay{Since: at}},
			func(w io.Writer, out api.WebhookReplayed) error {
				_, err := fmt.Fprintf(w, "%d events will be delivered again, with the ids they had.\n", out.Events)
				return err
			})
	}
	return c
}

const webhooksPath = "/webhooks"

func webhookPath(id string) string { return webhooksPath + "/" + url.PathEscape(id) }

func renderWebhook(w io.Writer, hook models.Webhook) error {
	if err := renderWebhooks(w, []models.Webhook{hook}); err != nil || hook.NewSecret == "" {
		return err
	}
	_, err := fmt.Fprintf(w, "\nSecret, shown this once: %s\n", hook.NewSecret)
	return err
}

func renderWebhooks(w io.Writer, list []models.Webhook) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "There are no webhooks; see coachline webhook add --help.")
		return err
	}
	rows := [][]string{{"WEBHOOK", "STATE", "STUDY", "EVENTS", "URL"}}
	for _, hook := range list {
		state := string(hook.State)
		if hook.FailingSince != nil {
			state = "failing since " + formatInstant(*hook.FailingSince) + ": " + hook.LastError
		}
		rows = append(rows, []string{hook.ID, state, cmp.Or(hook.StudyID, "-"), cmp.Or(strings.Join(hook.Types, " "), "-"), hook.URL})
	}
	return writeTable(w, rows)
}

func renderDeliveries(w io.Writer, page api.WebhookDeliveryPage) error {
	if len(page.Deliveries) == 0 {
		_, err := fmt.Fprintln(w, "No events.")
		return err
	}
	rows := [][]string{{"EVENT", "TYPE", "STATUS", "PARTICIPANT", "AT", "TRIES", "DELIVERED", "ERROR"}}
	for _, d := range page.Deliveries {
		delivered := "-"
		if d.DeliveredAt != nil {
			delivered = formatInstant(*d.DeliveredAt)
		}
		rows = append(rows, []string{d.Event, d.Type, cmp.Or(d.Status, "-"), cmp.Or(d.ParticipantID, "-"), formatInstant(d.At), strconv.Itoa(d.Attempts), delivered, cmp.Or(d.Error, "-")})
	}
	return writeTable(w, rows)
}
