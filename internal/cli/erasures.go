package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"coachline/internal/api"
)

const erasuresPath = "/erasures"

// Erase has a person erased and prints the receipt as far as it has come.
func (c *Commands) Erase(ctx context.Context, id, reason string) error {
	body := api.NewErasure{Confirm: id, Reason: reason}
	return callAndShow(ctx, c, request{method: http.MethodPost, path: participantPath(id) + "/erase", body: body}, renderErasure)
}

// Erasure prints the receipt of an erasure.
func (c *Commands) Erasure(ctx context.Context, id string) error {
	return callAndShow(ctx, c, request{method: http.MethodGet, path: erasuresPath + "/" + url.PathEscape(id)}, renderErasure)
}

// ListErasures prints all erasures, newest first.
func (c *Commands) ListErasures(ctx context.Context) error {
	return listAndShow(ctx, c, listing{erasuresPath, "erasures"}, url.Values{}, renderErasures)
}

func renderErasure(w io.Writer, e api.Erasure) error {
	rows := [][]string{
		{"Erasure of", e.ParticipantID}, {"State", string(e.State)},
		{"Requested", formatInstant(e.RequestedAt) + " by " + e.RequestedBy},
	}
	if e.FinishedAt != nil {
		rows = append(rows, []string{"Finished", formatInstant(*e.FinishedAt)})
	}
	if e.Reason != "" {
		rows = append(rows, []string{"Reason", e.Reason})
	}
	for _, table := range slices.Sorted(maps.Keys(e.Rows)) {
		rows = append(rows, []string{"Rows of " + table, strconv.FormatInt(e.Rows[table], 10)})
	}
	rows = append(rows,
		[]string{"Workflow runs deleted", strconv.FormatInt(e.Executions, 10)},
		[]string{"Messages deleted by the carrier", strconv.FormatInt(e.CarrierMessages, 10)},
	)
	if e.CarrierUnknown > 0 {
		rows = append(rows, []string{"Messages without a known carrier id", strconv.FormatInt(e.CarrierUnknown, 10)})
	}
	if e.Problem != "" {
		rows = append(rows, []string{"Problem", e.Problem})
	}
	if err := writeTable(w, rows); err != nil {
		return err
	}
	for _, note := range e.Notes {
		if _, err := fmt.Fprintln(w, note); err != nil {
			return err
		}
	}
	return nil
}

func renderErasures(w io.Writer, page api.ErasurePage) error {
	if len(page.Erasures) == 0 {
		_, err := fmt.Fprintln(w, "No person was erased.")
		return err
	}
	rows := [][]string{{"PARTICIPANT", "STATE", "REQUESTED", "BY", "FINISHED"}}
	for _, e := range page.Erasures {
		finished := ""
		if e.FinishedAt != nil {
			finished = formatInstant(*e.FinishedAt)
		}
		rows = append(rows, []string{e.ParticipantID, string(e.State), formatInstant(e.RequestedAt), e.RequestedBy, finished})
	}
	return writeTable(w, rows)
}
