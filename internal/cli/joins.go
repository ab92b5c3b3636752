package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"coachline/internal/api"
	"coachline/models"
)

// ListJoins prints the newest requests to join a study by keyword or form.
func (c *Commands) ListJoins(ctx context.Context, id string) error {
	return callAndShow(ctx, c, request{method: http.MethodGet, path: studyPath(id) + "/joins"}, func(w io.Writer, list api.JoinList) error {
		for _, state := range models.JoinStates() {
			if _, err := fmt.Fprintf(w, "%s %d  ", state, list.Counts[string(state)]); err != nil {
				return err
			}
		}
		rows := [][]string{{"ASKED", "STATE", "REASON", "METHOD", "KEYWORD", "LOCALE", "DELIVERY", "ERROR", "PARTICIPANT"}}
		for _, join := range list.Joins {
			rows = append(rows, []string{join.CreatedAt.Format(time.RFC3339), string(join.State), join.Reason, string(join.Method), join.Keyword, join.Locale, string(join.Delivery), join.ErrorCode, join.ParticipantID})
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		return writeTable(w, rows)
	})
}
