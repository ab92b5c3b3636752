package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"coachline/models"
)

// openAttention is one thing that an operator should look at.
type openAttention struct {
	ParticipantID string           `json:"participant_id"`
	Name          string           `json:"name"`
	Kind          models.Attention `json:"kind"`
	Since         time.Time        `json:"since"`
	Ref           string           `json:"ref"`
	Code          string           `json:"code"`
}

type attentionPage[T any] struct {
	Attention  []T     `json:"attention"`
	NextCursor *string `json:"next_cursor"`
}

// ListAttention prints what operators should look at, oldest first; an empty kind
// is every kind.
func (c *Console) ListAttention(ctx context.Context, kind models.Attention) error {
	all := attentionPage[json.RawMessage]{Attention: []json.RawMessage{}}
	query := url.Values{"limit": {"200"}}
	if kind != "" {
		query.Set("kind", string(kind))
	}
	for {
		got, err := c.client.do(ctx, request{method: http.MethodGet, path: "/attention", query: query})
		if err != nil {
			return err
		}
		var page attentionPage[json.RawMessage]
		if err := json.Unmarshal(got.raw, &page); err != nil {
			return fmt.Errorf("decoding the API's answer: %w", err)
		}
		all.Attention = append(all.Attention, page.Attention...)
		if page.NextCursor == nil {
			break
		}
		query.Set("cursor", *page.NextCursor)
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("encoding the list: %w", err)
	}
	return show(c, result{raw: raw}, renderAttention)
}

func renderAttention(w io.Writer, all attentionPage[openAttention]) error {
	if len(all.Attention) == 0 {
		_, err := fmt.Fprintln(w, "Nothing needs an operator.")
		return err
	}
	rows := [][]string{{"ID", "NAME", "KIND", "SINCE", "CODE", "REF"}}
	for _, a := range all.Attention {
		rows = append(rows, []string{a.ParticipantID, a.Name, string(a.Kind), at(a.Since), a.Code, a.Ref})
	}
	return table(w, rows)
}

// Attend ends what an operator should look at of a participant. Safe to repeat.
func (c *Console) Attend(ctx context.Context, id, note string) error {
	body := map[string]any{"clear": true}
	if note != "" {
		body["note"] = note
	}
	r := request{method: http.MethodPost, path: one(id) + "/attention", body: body}
	return run(ctx, c, r, func(w io.Writer, v struct {
		Attention models.Attention `json:"attention"`
	}) error {
		text := "The participant needs no more attention; prompts go on with their next slot."
		if v.Attention != "" {
			text = "Attention: " + string(v.Attention) + "."
		}
		_, err := fmt.Fprintln(w, text)
		return err
	})
}
