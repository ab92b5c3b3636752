package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"coachline/internal/api"
	"coachline/models"
)

// ListAttention prints what operators should look at, oldest first; an empty kind
// is every kind.
func (c *Commands) ListAttention(ctx context.Context, kind models.Attention) error {
	query := url.Values{}
	if kind != "" {
		query.Set("kind", string(kind))
	}
	return listAndShow(ctx, c, listing{"/attention", "attention"}, query, renderAttention)
}

func renderAttention(w io.Writer, all api.AttentionPage) error {
	if len(all.Attention) == 0 {
		_, err := fmt.Fprintln(w, "Nothing needs an operator.")
		return err
	}
	rows := [][]string{{"ID", "NAME", "KIND", "SINCE", "SEEN TO BY", "CODE", "REF"}}
	for _, a := range all.Attention {
		rows = append(rows, []string{a.ParticipantID, a.Name, string(a.Kind), formatInstant(a.Since), seenToBy(a), a.Code, a.Ref})
	}
	return writeTable(w, rows)
}

// seenToBy is the operator who has the conversation, or else who acknowledged the
// alerts.
func seenToBy(a api.Attention) string {
	if a.TakenOver != nil {
		return a.TakenOver.By
	}
	return a.AcknowledgedBy
}

// ClearAttention ends what an operator should look at of a participant. Safe to repeat.
func (c *Commands) ClearAttention(ctx context.Context, id, note string) error {
	body := api.AttentionClearing{Clear: true, Note: note}
	r := request{method: http.MethodPost, path: participantPath(id) + "/attention", body: body}
	return callAndShow(ctx, c, r, func(w io.Writer, v api.AttentionCleared) error {
		text := "The participant needs no more attention; prompts go on with their next slot."
		if v.Attention != "" {
			text = "Attention: " + string(v.Attention) + "."
		}
		_, err := fmt.Fprintln(w, text)
		return err
	})
}
