package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"coachline/internal/api"
)

const webhooksPath = "/webhooks"

func webhookPath(id string) string { return webhooksPath + "/" + url.PathEscape(id) }

// AddWebhook adds a receiver of events and prints its secret.
func (c *Commands) AddWebhook(ctx context.Context, body api.NewWebhook) error {
	return callAndShow(ctx, c, request{method: http.MethodPost, path: webhooksPath, body: body}, renderWebhook)
}

// ListWebhooks prints the webhooks.
func (c *Commands) ListWebhooks(ctx context.Context) error {
	return callAndShow(ctx, c, request{method: http.MethodGet, path: webhooksPath}, func(w io.Writer, list api.WebhookList) error {
		return renderWebhooks(w, list.Webhooks)
	})
}

// ShowWebhook prints a webhook.
func (c *Commands) ShowWebhook(ctx context.Context, id string) error {
	return callAndShow(ctx, c, request{method: http.MethodGet, path: webhookPath(id)}, renderWebhook)
}

// ChangeWebhook changes a webhook, or its secret.
func (c *Commands) ChangeWebhook(ctx context.Context, id string, change api.WebhookChange) error {
	return callAndShow(ctx, c, request{method: http.MethodPut, path: webhookPath(id), body: change}, renderWebhook)
}

// RemoveWebhook removes a webhook.
func (c *Commands) RemoveWebhook(ctx context.Context, id string) error {
	return callAndShow(ctx, c, request{method: http.MethodDelete, path: webhookPath(id)}, func(w io.Writer, _ api.Webhook) error {
		_, err := fmt.Fprintln(w, "The webhook is removed, with what it was still to be told.")
		return err
	})
}

// TestWebhook sends a webhook an event of type webhook.test.
func (c *Commands) TestWebhook(ctx context.Context, id string) error {
	return callAndShow(ctx, c, request{method: http.MethodPost, path: webhookPath(id) + "/test"}, func(w io.Writer, d api.WebhookDelivery) error {
		_, err := fmt.Fprintf(w, "Event %s is on its way; see: coachline webhook deliveries %s\n", d.Event, id)
		return err
	})
}

// ReplayWebhook has a webhook be told again of what happened since an instant.
func (c *Commands) ReplayWebhook(ctx context.Context, id string, since time.Time) error {
	return callAndShow(ctx, c, request{method: http.MethodPost, path: webhookPath(id) + "/replay", body: api.WebhookReplay{Since: since}},
		func(w io.Writer, out api.WebhookReplayed) error {
			_, err := fmt.Fprintf(w, "%d events will be delivered again, with the ids they had.\n", out.Events)
			return err
		})
}

// ListDeliveries prints the events of a webhook, newest first; open ones only where
// asked.
func (c *Commands) ListDeliveries(ctx context.Context, id string, open bool, limit int) error {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	if open {
		query.Set("open", "true")
	}
	got, err := c.client.do(ctx, request{method: http.MethodGet, path: webhookPath(id) + "/deliveries?" + query.Encode()})
	if err != nil {
		return err
	}
	var page api.WebhookDeliveryPage
	if err := got.decodeInto(&page); err != nil {
		return err
	}
	raw, err := json.Marshal(page)
	if err != nil {
		return fmt.Errorf("encoding the deliveries: %w", err)
	}
	return showResult(c, result{raw: raw}, renderDeliveries)
}

func renderWebhook(w io.Writer, hook api.Webhook) error {
	if err := renderWebhooks(w, []api.Webhook{hook}); err != nil || hook.Secret == "" {
		return err
	}
	_, err := fmt.Fprintf(w, "\nSecret, shown this once: %s\n", hook.Secret)
	return err
}

func renderWebhooks(w io.Writer, list []api.Webhook) error {
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
		rows = append(rows, []string{hook.ID, state, cmp.Or(hook.StudyID, "-"), cmp.Or(strings.Join(hook.Events, " "), "-"), hook.URL})
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
