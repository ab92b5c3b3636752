package starter

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/auth"
	"coachline/models"
)

func (h *recordRoutes) registerConsents(router huma.API) {
	register(router, route{method: http.MethodGet, path: participantPath + "/consents", id: "get-consents", needs: auth.ConsentRead,
		summary: "The consent ledger, oldest first; after removal too", errors: []int{http.StatusNotFound}}, h.getConsents)
}

func (h *recordRoutes) getConsents(ctx context.Context, in *personRequest) (*answer[[]models.Consent], error) {
	rows, err := h.records.Consents(ctx, in.ID)
	return newAnswer("", copyNonNil(rows)), h.toFailure("get-consents", err)
}
