package starter

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
)

type decisionsRequest struct {
	ID     string `path:"id" maxLength:"40" doc:"Id of a study."`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"200"`
	Cursor string `query:"cursor" maxLength:"200" doc:"next_cursor of the page before."`
}

func (h *studyRoutes) registerDecisions(router huma.API) {
	register(router, route{method: http.MethodGet, path: studyPath + "/decisions", id: "list-decisions", needs: auth.ExportRead,
		summary: "Decision points of a study, also those at which people were not available", errors: []int{http.StatusNotFound}}, h.listDecisions)
}

func toNumber(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func toDecision(row models.DecisionOutcome) api.Decision {
	out := api.Decision{
		ID: row.ID, UserID: row.ParticipantID, Time: row.Number, DayInStudy: row.DayInStudy, Availability: toNumber(row.Available),
		Intervention: toNumber(row.Intervention), RandProb: row.RandProb, OutcomeHours: row.OutcomeHours, Reported: string(row.Reported), Reason: row.Reason, Alert: row.AlertID, AlertMark: string(row.AlertMark),
		DecidedAt: row.DecidedAt.UTC(), ScheduleID: row.ScheduleID, LocalDate: row.LocalDate, Policy: row.Policy, Options: row.Options,
		Option: row.Option, Draw: row.Draw, Posterior: row.Posterior, Counter: row.Counter, Algorithm: row.Algorithm, Build: row.Build,
	}
	if row.Answered != nil {
		answered := toNumber(*row.Answered)
		out.Outcome = &answered
	}
	return out
}

func (h *studyRoutes) listDecisions(ctx context.Context, in *decisionsRequest) (*answer[api.DecisionPage], error) {
	if _, err := h.studies.Study(ctx, in.ID); err != nil {
		return nil, h.toFailure("listing decisions", asMissing("study", err))
	}
	if in.Cursor != "" && !strings.HasPrefix(in.Cursor, idPrefix) {
		return nil, newFailure(http.StatusBadRequest, badCursor)
	}
	rows, err := h.studies.Decisions(ctx, models.DecisionQuery{StudyID: in.ID, After: in.Cursor, Limit: in.Limit + 1, Now: h.now()})
	if err != nil {
		return nil, h.toFailure("listing decisions", err)
	}
	rows, next := cutPage(rows, in.Limit, func(last models.DecisionOutcome) string { return last.ID })
	return newAnswer("", api.DecisionPage{Decisions: showAll(rows, toDecision), NextCursor: next}), nil
}
