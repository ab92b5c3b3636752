package console

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"coachline/models"
)

// Attend ends the attention that a participant's text called for. Safe to
// repeat.
func (c *Console) Attend(ctx context.Context, id, note string) error {
	body := map[string]any{"clear": true}
	if note != "" {
		body["note"] = note
	}
	r := request{method: http.MethodPost, path: one(id) + "/attention", body: body}
	return run(ctx, c, r, func(w io.Writer, v struct {
		Attention models.Attention `json:"attention"`
	}) error {
		text := "Nobody needs to look after the participant any more; prompts go on with their next slot."
		if v.Attention != "" {
			text = "Attention: " + string(v.Attention) + "."
		}
		_, err := fmt.Fprintln(w, text)
		return err
	})
}
