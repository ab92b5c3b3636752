package starter

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
)

func (h *recordRoutes) registerConsents(router huma.API) {
	register(router, route{method: http.MethodGet, path: participantPath + "/consents", id: "get-consents", needs: auth.ConsentRead,
		summary: "The consent ledger, oldest first; after removal too", errors: []int{http.StatusNotFound}}, h.getConsents)
}

func (h *recordRoutes) getConsents(ctx context.Context, in *personRequest) (*answer[[]api.Consent], error) {
	rows, err := h.records.Consents(ctx, in.ID)
	return newAnswer("", toConsents(rows)), h.toFailure("get-consents", err)
}

func toConsents(rows []models.Consent) []api.Consent {
	out := make([]api.Consent, 0, len(rows))
	for _, row := range rows {
		out = append(out, api.Consent{
			Action: row.Action, Method: row.Method, At: row.At.UTC(), Actor: row.RecordedBy, Text: row.Text, TurnID: row.TurnID,
			Channel: row.Channel, Caller: row.Caller,
		})
	}
	return out
}
