package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"coachline/internal/api"
	"coachline/models"
)

// Waiting prints the texts that came while a participant was paused and wait for
// an operator.
func (c *Commands) Waiting(ctx context.Context, id string) error {
	return callAndShow(ctx, c, request{method: http.MethodGet, path: participantPath(id) + "/waiting"}, renderWaiting)
}

// Send queues an operator's message. Calls with an equal key are one message;
// without a key every call is a message of its own.
func (c *Commands) Send(ctx context.Context, id, body, key string) error {
	r := request{method: http.MethodPost, path: participantPath(id) + "/messages", body: api.NewMessage{Body: body}}
	if key != "" {
		r.header = map[string]string{"Idempotency-Key": key}
	}
	return callAndShow(ctx, c, r, renderQueued)
}

// Transcript prints the newest limit entries of the conversation, oldest
// first; with a limit above the API's page it asks for more pages.
func (c *Commands) Transcript(ctx context.Context, id string, limit int) error {
	const most = 500
	all := []json.RawMessage{}
	query := url.Values{}
	for len(all) < limit {
		size := min(limit-len(all), most)
		query.Set("limit", strconv.Itoa(size))
		got, err := c.client.do(ctx, request{method: http.MethodGet, path: participantPath(id) + "/history", query: query})
		if err != nil {
			return err
		}
		older, oldest, err := decodeHistory(got)
		if err != nil {
			return err
		}
		all = append(older, all...)
		if len(older) < size {
			break
		}
		query.Set("before", oldest.UTC().Format(time.RFC3339Nano))
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("encoding the conversation: %w", err)
	}
	return showResult(c, result{raw: raw}, func(w io.Writer, list []api.HistoryEntry) error {
		return renderTranscript(w, list, c.zoneOf(ctx, id))
	})
}

// decodeHistory returns the entries as they came, and the instant of the oldest.
func decodeHistory(r result) (list []json.RawMessage, oldest time.Time, err error) {
	var entries []api.HistoryEntry
	if err := errors.Join(r.decodeInto(&entries), r.decodeInto(&list)); err != nil {
		return nil, oldest, err
	}
	if len(entries) > 0 {
		oldest = entries[0].At
	}
	return list, oldest, nil
}

func renderQueued(w io.Writer, q api.QueuedMessage) error {
	return writeTable(w, [][]string{{"id", q.ID}, {"status", string(q.Status)}})
}

func renderTranscript(w io.Writer, list []api.HistoryEntry, zone *time.Location) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "Nothing was said yet.")
		return err
	}
	for _, e := range list {
		head := formatInstantIn(e.At, zone) + "  " + string(e.Role) + "  " + string(e.Kind)
		if e.Channel.Name() != models.ChannelSMS {
			head += "  " + string(e.Channel)
		}
		if e.Delivery != "" {
			head += "  " + string(e.Delivery)
		}
		if e.Danger != models.DangerNone {
			head += "  danger: " + string(e.Danger)
		}
		if e.TurnID != "" {
			head += "  " + e.TurnID
		}
		if _, err := fmt.Fprintf(w, "%s\n%s\n", head, indentText(e.Text)); err != nil {
			return err
		}
	}
	return nil
}

func renderWaiting(w io.Writer, list []api.WaitingMessage) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "No messages wait.")
		return err
	}
	for _, m := range list {
		head := formatInstant(m.At) + "  " + string(m.Channel)
		if m.Danger != models.DangerNone {
			head += "  danger: " + string(m.Danger)
		}
		if _, err := fmt.Fprintf(w, "%s\n%s\n", head, indentText(m.Text)); err != nil {
			return err
		}
	}
	return nil
}
