package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"

	"coachline/internal/api"
)

// Consents prints a participant's consent ledger, oldest entry first, also of a
// participant who was removed.
func (c *Commands) Consents(ctx context.Context, id string) error {
	return callAndShow(ctx, c, request{method: http.MethodGet, path: participantPath(id) + "/consents"}, renderConsents)
}

func renderConsents(w io.Writer, list []api.Consent) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "The ledger has no entry.")
		return err
	}
	rows := [][]string{{"AT", "ACTION", "METHOD", "BY", "TEXT"}}
	for _, c := range list {
		rows = append(rows, []string{formatInstant(c.At), string(c.Action), string(c.Method), c.Actor, cmp.Or(c.Text, "-")})
	}
	return writeTable(w, rows)
}
