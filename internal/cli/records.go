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

// turnPage is a page of turns as they came.
type turnPage struct {
	Turns []json.RawMessage `json:"turns"`
	Next  *int              `json:"next_before"`
}

// Turns prints a participant's newest limit turns, newest first; with a limit
// above the API's page it asks for more pages.
func (c *Console) Turns(ctx context.Context, id string, limit int) error {
	const most = 200
	all := turnPage{Turns: []json.RawMessage{}}
	query := url.Values{}
	for len(all.Turns) < limit {
		query.Set("limit", strconv.Itoa(min(limit-len(all.Turns), most)))
		got, err := c.client.do(ctx, request{method: http.MethodGet, path: one(id) + "/turns", query: query})
		if err != nil {
			return err
		}
		var page turnPage
		if err := json.Unmarshal(got.raw, &page); err != nil {
			return fmt.Errorf("decoding the API's answer: %w", err)
		}
		all.Turns, all.Next = append(all.Turns, page.Turns...), page.Next
		if page.Next == nil {
			break
		}
		query.Set("before", strconv.Itoa(*page.Next))
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("encoding the turns: %w", err)
	}
	return show(c, result{raw: raw}, renderTurns)
}

// Turn prints everything that is known of one turn.
func (c *Console) Turn(ctx context.Context, id string, number int) error {
	return run(ctx, c, request{method: http.MethodGet, path: one(id) + "/turns/" + strconv.Itoa(number)}, renderTurn)
}

// Consents prints a participant's consent ledger, oldest entry first, also of a
// participant who was removed.
func (c *Console) Consents(ctx context.Context, id string) error {
	return run(ctx, c, request{method: http.MethodGet, path: one(id) + "/consents"}, renderConsents)
}

// Memories prints what is remembered of a participant.
func (c *Console) Memories(ctx context.Context, id string) error {
	return run(ctx, c, request{method: http.MethodGet, path: one(id) + "/memories"}, renderMemories)
}

// Export writes what is remembered of a participant as a zip archive, the same
// bytes for the same memory.
func (c *Console) Export(ctx context.Context, id string, to io.Writer, progress Progress) error {
	raw, err := c.client.download(ctx, one(id)+"/memory/export", progress)
	if err != nil {
		return err
	}
	if _, err := to.Write(raw); err != nil {
		return fmt.Errorf("writing the archive: %w", err)
	}
	return nil
}

// Forget erases a fact, or with an empty fact everything that is remembered.
// Safe to repeat.
func (c *Console) Forget(ctx context.Context, id, fact string) error {
	path := one(id) + "/memories"
	if fact != "" {
		path += "/" + url.PathEscape(fact)
	}
	return run(ctx, c, request{method: http.MethodDelete, path: path}, func(w io.Writer, f api.Forgotten) error {
		text := "Forgotten: " + fact + "."
		if fact == "" {
			text = fmt.Sprintf("Forgotten: %d facts, the notes and the summary.", f.Facts)
		}
		_, err := fmt.Fprintln(w, text)
		return err
	})
}
