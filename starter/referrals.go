package starter

import (
	"cmp"
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/auth"
	"coachline/models"
)

const referralsPath = "/reports/referrals"

type referralsRequest struct {
	Year int `query:"year" minimum:"2020" maximum:"2100" doc:"A year of UTC; without it the present one."`
}

func (h *reportRoutes) registerReferrals(router huma.API) {
	register(router, route{method: http.MethodGet, path: referralsPath, id: "get-referrals", needs: auth.AttentionRead,
		summary: "How often people were told numbers to call in danger, by month, country, state and kind, without identifiers"}, h.getReferrals)
}

func (h *reportRoutes) getReferrals(ctx context.Context, in *referralsRequest) (*answer[models.ReferralReport], error) {
	report, err := h.reports.Referrals(ctx, cmp.Or(in.Year, h.now().UTC().Year()))
	return newAnswer("", report), h.toFailure("counting referrals", err)
}
