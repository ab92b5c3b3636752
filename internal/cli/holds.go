package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"coachline/internal/api"
)

const holdsPath = "/holds"

// AddHold asks for a hold of prompts.
func (c *Commands) AddHold(ctx context.Context, body api.NewHold) error {
	return callAndShow(ctx, c, request{method: http.MethodPost, path: holdsPath, body: body}, renderHold)
}

// ReleaseHold ends a hold before its time.
func (c *Commands) ReleaseHold(ctx context.Context, id int64) error {
	return callAndShow(ctx, c, request{method: http.MethodDelete, path: holdsPath + "/" + strconv.FormatInt(id, 10)}, renderHold)
}

// ListHolds prints the active holds, or all of them, newest first.
func (c *Commands) ListHolds(ctx context.Context, all bool) error {
	query := url.Values{}
	if !all {
		query.Set("active", "true")
	}
	list, err := listItems[json.RawMessage](ctx, c.client, listing{holdsPath, "holds"}, query)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("encoding the holds: %w", err)
	}
	return showResult(c, result{raw: raw}, renderHolds)
}

func renderHold(w io.Writer, h api.Hold) error { return renderHolds(w, []api.Hold{h}) }

func renderHolds(w io.Writer, list []api.Hold) error {
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
			state = "released " + formatInstant(*h.ReleasedAt)
		}
		whose := string(h.Scope)
		if h.ScopeID != "" {
			whose = h.ScopeID
		}
		rows = append(rows, []string{strconv.FormatInt(h.ID, 10), state, whose, formatInstant(h.Until), formatInstant(h.CreatedAt), h.Reason})
	}
	return writeTable(w, rows)
}
