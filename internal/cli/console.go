package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"coachline/internal/api"
	"coachline/models"
)

// Console runs operators' verbs and prints what came of them: as text, or with
// JSON the API's result as it came.
type Console struct {
	client *Client
	out    io.Writer
	json   bool
}

// New builds a Console that writes to out.
func New(client *Client, out io.Writer, asJSON bool) *Console {
	return &Console{client: client, out: out, json: asJSON}
}

const participants = "/conversation/participants"

func one(id string) string { return participants + "/" + url.PathEscape(id) }

// show decodes a result and has it rendered, or prints it as it came.
func show[T any](c *Console, r result, render func(io.Writer, T) error) error {
	if c.json {
		return printJSON(c.out, r.raw)
	}
	var value T
	if err := decode(r, &value); err != nil {
		return err
	}
	return render(c.out, value)
}

func decode(r result, value any) error {
	if err := json.Unmarshal(r.raw, value); err != nil {
		return fmt.Errorf("decoding the API's answer: %w", err)
	}
	return nil
}

// run calls the API and shows the result.
func run[T any](ctx context.Context, c *Console, r request, render func(io.Writer, T) error) error {
	got, err := c.client.do(ctx, r)
	if err != nil {
		return err
	}
	return show(c, got, render)
}

// Add enrols a participant. A second call with the same phone is refused.
func (c *Console) Add(ctx context.Context, p NewParticipant) error {
	return run(ctx, c, request{method: http.MethodPost, path: participants, body: p}, renderParticipant)
}

// Show prints one participant.
func (c *Console) Show(ctx context.Context, id string) error {
	return run(ctx, c, request{method: http.MethodGet, path: one(id)}, renderParticipant)
}

// Filter selects participants; empty fields select everybody.
type Filter struct {
	Status    models.Status
	Attention models.Attention
	Waiting   bool
}

// List prints every participant that the filter selects.
func (c *Console) List(ctx context.Context, filter Filter) error {
	list, err := allOf[json.RawMessage](ctx, c.client, filter)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(roster[json.RawMessage]{Participants: list})
	if err != nil {
		return fmt.Errorf("encoding the list: %w", err)
	}
	return show(c, result{raw: raw}, renderRoster)
}

// allOf reads page after page of the roster.
func allOf[T any](ctx context.Context, client *Client, filter Filter) ([]T, error) {
	all := []T{}
	query := url.Values{"limit": {"200"}}
	if filter.Status != "" {
		query.Set("status", string(filter.Status))
	}
	if filter.Attention != "" {
		query.Set("attention", string(filter.Attention))
	}
	if filter.Waiting {
		query.Set("waiting", "true")
	}
	for {
		got, err := client.do(ctx, request{method: http.MethodGet, path: participants, query: query})
		if err != nil {
			return nil, err
		}
		var page roster[T]
		if err := json.Unmarshal(got.raw, &page); err != nil {
			return nil, fmt.Errorf("decoding the API's answer: %w", err)
		}
		all = append(all, page.Participants...)
		if page.NextCursor == nil {
			return all, nil
		}
		query.Set("cursor", *page.NextCursor)
	}
}

// Update changes some fields. With a version it is refused when the
// participant has changed since.
func (c *Console) Update(ctx context.Context, id string, change Change, version int64) error {
	r := request{method: http.MethodPut, path: one(id), body: change}
	if version > 0 {
		r.header = map[string]string{"If-Match": strconv.Quote(strconv.FormatInt(version, 10))}
	}
	return run(ctx, c, r, renderParticipant)
}

// SetStatus pauses or resumes a participant.
func (c *Console) SetStatus(ctx context.Context, id string, status models.Status) error {
	return c.Update(ctx, id, Change{Status: &status}, 0)
}

// Resume resumes a participant; waiting says what becomes of texts that came
// meanwhile, and empty leaves it to the server.
func (c *Console) Resume(ctx context.Context, id string, waiting models.WaitingAction) error {
	active := models.StatusActive
	return c.Update(ctx, id, Change{Status: &active, Waiting: waiting}, 0)
}

// Waiting prints the texts that came while a participant was paused and wait for
// an operator.
func (c *Console) Waiting(ctx context.Context, id string) error {
	return run(ctx, c, request{method: http.MethodGet, path: one(id) + "/waiting"}, renderWaiting)
}

// SetMode forces a mode; the change is applied between turns.
func (c *Console) SetMode(ctx context.Context, id string, mode models.Mode, reason string) error {
	body := map[string]string{"target_state": string(mode)}
	if reason != "" {
		body["reason"] = reason
	}
	return run(ctx, c, request{method: http.MethodPost, path: one(id) + "/mode", body: body}, renderMode)
}

// Remove ends a participant's time in the programme.
func (c *Console) Remove(ctx context.Context, id string) error {
	got, err := c.client.do(ctx, request{method: http.MethodDelete, path: one(id)})
	if err != nil {
		return err
	}
	return show(c, got, func(w io.Writer, _ json.RawMessage) error {
		_, err := fmt.Fprintln(w, got.message)
		return err
	})
}

// Send queues an operator's message. Calls with an equal key are one message;
// without a key every call is a message of its own.
func (c *Console) Send(ctx context.Context, id, body, key string) error {
	r := request{method: http.MethodPost, path: one(id) + "/messages", body: map[string]string{"body": body}}
	if key != "" {
		r.header = map[string]string{"Idempotency-Key": key}
	}
	return run(ctx, c, r, renderQueued)
}

// Transcript prints the newest limit entries of the conversation, oldest
// first; with a limit above the API's page it asks for more pages.
func (c *Console) Transcript(ctx context.Context, id string, limit int) error {
	const most = 500
	all := []json.RawMessage{}
	query := url.Values{}
	for len(all) < limit {
		size := min(limit-len(all), most)
		query.Set("limit", strconv.Itoa(size))
		got, err := c.client.do(ctx, request{method: http.MethodGet, path: one(id) + "/history", query: query})
		if err != nil {
			return err
		}
		older, oldest, err := entries(got.raw)
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
	return show(c, result{raw: raw}, func(w io.Writer, list []api.HistoryEntry) error {
		return renderTranscript(w, list, c.zoneOf(ctx, id))
	})
}

func entries(raw json.RawMessage) (list []json.RawMessage, oldest time.Time, err error) {
	var first []api.HistoryEntry
	if err := json.Unmarshal(raw, &first); err != nil {
		return nil, oldest, fmt.Errorf("decoding the API's answer: %w", err)
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, oldest, fmt.Errorf("decoding the API's answer: %w", err)
	}
	if len(first) > 0 {
		oldest = first[0].At
	}
	return list, oldest, nil
}

// Timers prints what is due and every schedule with its next run.
func (c *Console) Timers(ctx context.Context, id string) error {
	return run(ctx, c, request{method: http.MethodGet, path: one(id) + "/state"}, func(w io.Writer, s state) error {
		return renderTimers(w, s, c.zoneOf(ctx, id))
	})
}
