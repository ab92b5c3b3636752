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
)

const holds = "/holds"

// hold is what the API shows of a hold of prompts.
type hold struct {
	ID         int64      `json:"id"`
	Scope      string     `json:"scope"`
	Reason     string     `json:"reason"`
	Active     bool       `json:"active"`
	Until      time.Time  `json:"until"`
	CreatedAt  time.Time  `json:"created_at"`
	ReleasedAt *time.Time `json:"released_at"`
}

// AddHold holds the prompts of all participants until an instant.
func (c *Console) AddHold(ctx context.Context, until time.Time, reason string) error {
	body := map[string]any{"until": until}
	if reason != "" {
		body["reason"] = reason
	}
	return run(ctx, c, request{method: http.MethodPost, path: holds, body: body}, renderHold)
}

// ReleaseHold ends a hold before its time.
func (c *Console) ReleaseHold(ctx context.Context, id int64) error {
	return run(ctx, c, request{method: http.MethodDelete, path: holds + "/" + strconv.FormatInt(id, 10)}, renderHold)
}

// ListHolds prints the active holds, or all of them, newest first.
func (c *Console) ListHolds(ctx context.Context, all bool) error {
	list := []json.RawMessage{}
	query := url.Values{"limit": {"200"}}
	if !all {
		query.Set("active", "true")
	}
	for {
		got, err := c.client.do(ctx, request{method: http.MethodGet, path: holds, query: query})
		if err != nil {
			return err
		}
		var page struct {
			Holds      []json.RawMessage `json:"holds"`
			NextCursor *string           `json:"next_cursor"`
		}
		if err := json.Unmarshal(got.raw, &page); err != nil {
			return fmt.Errorf("decoding the API's answer: %w", err)
		}
		list = append(list, page.Holds...)
		if page.NextCursor == nil {
			break
		}
		query.Set("cursor", *page.NextCursor)
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("encoding the holds: %w", err)
	}
	return show(c, result{raw: raw}, renderHolds)
}

func renderHold(w io.Writer, h hold) error { return renderHolds(w, []hold{h}) }

func renderHolds(w io.Writer, list []hold) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "No prompts are held.")
		return err
	}
	rows := [][]string{{"HOLD", "STATE", "FOR", "UNTIL", "SINCE", "REASON"}}
	for _, h := range list {
		state := "over"
		switch {
		case h.Active:
			state = "active"
		case h.ReleasedAt != nil:
			state = "released " + at(*h.ReleasedAt)
		}
		rows = append(rows, []string{strconv.FormatInt(h.ID, 10), state, h.Scope, at(h.Until), at(h.CreatedAt), h.Reason})
	}
	return table(w, rows)
}
