package starter

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/store"
	"coachline/models"
)

// recordRoutes answers what is recorded of turns and of consents.
type recordRoutes struct {
	base
	records *store.Records
}

func (h *recordRoutes) register(router huma.API) {
	register(router, route{method: http.MethodGet, path: participantPath + "/turns", id: "list-turns", needs: auth.TurnRead,
		summary: "Turns, newest first", errors: []int{http.StatusNotFound}}, h.listTurns)
	register(router, route{method: http.MethodGet, path: participantPath + "/turns/{number}", id: "get-turn", needs: auth.TurnRead, reads: readConversation,
		summary: "Why the coach said what it said", errors: []int{http.StatusNotFound}}, h.getTurn)
	h.registerConsents(router)
}

type turnsRequest struct {
	ID     string `path:"id" maxLength:"64"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"20"`
	Before int    `query:"before" minimum:"1" doc:"Only turns with a smaller number; next_before of the page before."`
}

func (h *recordRoutes) listTurns(ctx context.Context, in *turnsRequest) (*answer[api.TurnPage], error) {
	rows, err := h.records.Turns(ctx, models.TurnQuery{ParticipantID: in.ID, Before: in.Before, Limit: in.Limit + 1})
	if err != nil {
		return nil, h.toFailure("list-turns", err)
	}
	page := api.TurnPage{Turns: make([]api.TurnSummary, 0, len(rows))}
	if len(rows) > in.Limit {
		rows = rows[:in.Limit]
		page.NextBefore = &rows[in.Limit-1].Turn.Number
	}
	for _, row := range rows {
		page.Turns = append(page.Turns, toTurnSummary(row))
	}
	return newAnswer("", page), nil
}

type turnRequest struct {
	ID     string `path:"id" maxLength:"64"`
	Number int    `path:"number" minimum:"0" doc:"Number of the turn; the end of its id."`
}

// getTurn shows everything that is known of a turn, redacted as it was stored.
// There is nothing to show after a participant was removed.
func (h *recordRoutes) getTurn(ctx context.Context, in *turnRequest) (*answer[api.Turn], error) {
	record, err := h.records.Turn(ctx, in.ID, in.Number)
	if err != nil {
		return nil, h.toFailure("get-turn", asMissing(fmt.Sprintf("turn %d of the participant", in.Number), err))
	}
	turn, err := toTurn(record)
	if err != nil {
		return nil, h.toFailure("get-turn", fmt.Errorf("reading turn %s: %w", record.Totals.Turn.ID, err))
	}
	return newAnswer("", turn), nil
}
