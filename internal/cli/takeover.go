package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"coachline/internal/api"
)

// TakeOver has the operator write in the place of the coach.
func (c *Commands) TakeOver(ctx context.Context, id string, body api.NewTakeOver) error {
	r := request{method: http.MethodPost, path: participantPath(id) + "/takeover", body: body}
	return callAndShow(ctx, c, r, func(w io.Writer, p api.Participant) error { return renderTakeOvers(w, []api.Participant{p}) })
}

// HandBack has the coach write again.
func (c *Commands) HandBack(ctx context.Context, id string, body api.TakeOverEnd) error {
	r := request{method: http.MethodDelete, path: participantPath(id) + "/takeover", body: body}
	return callAndShow(ctx, c, r, func(w io.Writer, p api.Participant) error {
		_, err := fmt.Fprintf(w, "The coach writes to %s again.\n", p.ID)
		return err
	})
}

// ListTakeOvers prints the conversations that operators have taken over.
func (c *Commands) ListTakeOvers(ctx context.Context) error {
	return listAndShow(ctx, c, participantList, Filter{TakenOver: true}.toQuery(), func(w io.Writer, page api.ParticipantPage) error {
		return renderTakeOvers(w, page.Participants)
	})
}

func renderTakeOvers(w io.Writer, list []api.Participant) error {
	rows := [][]string{{"PARTICIPANT", "BY", "SINCE", "UNTIL"}}
	for _, p := range list {
		if p.TakenOver != nil {
			rows = append(rows, []string{p.ID, p.TakenOver.By, formatInstant(p.TakenOver.Since), formatInstant(p.TakenOver.Until)})
		}
	}
	if len(rows) == 1 {
		_, err := fmt.Fprintln(w, "No conversation is taken over.")
		return err
	}
	return writeTable(w, rows)
}
