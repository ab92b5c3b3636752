package starter

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/store"
	"coachline/models"
)

const auditPath = "/audit"

// AuditFilter selects rows of the audit. It is exported for the API library, which
// passes over other embedded fields.
type AuditFilter struct {
	Participant string    `query:"participant_id" maxLength:"64" doc:"Only rows about this participant."`
	Actor       string    `query:"actor" maxLength:"200" doc:"Only rows of this actor, such as user:ada."`
	Action      string    `query:"action" maxLength:"64"`
	Since       time.Time `query:"since" doc:"Only rows from then on (RFC 3339)."`
	Until       time.Time `query:"until" doc:"Only rows before then (RFC 3339)."`
}

func (f AuditFilter) toQuery() models.AuditQuery {
	return models.AuditQuery{ParticipantID: f.Participant, Actor: f.Actor, Action: f.Action, Since: f.Since, Until: f.Until}
}

type auditRequest struct {
	AuditFilter
	Limit  int   `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor int64 `query:"cursor" minimum:"1" doc:"next_cursor of the page before."`
}

type auditRoutes struct {
	base
	audit *store.Audit
}

func (h *auditRoutes) register(router huma.API) {
	register(router, route{method: http.MethodGet, path: auditPath, id: "list-audit", needs: auth.AuditRead, summary: "Who did what to whom, newest first"}, h.listAudit)
	register(router, route{method: http.MethodGet, path: auditPath + "/chain", id: "check-audit", needs: auth.AuditRead,
		summary: "Check that no row of the audit was changed or taken out"}, h.checkAudit)
	h.registerAuditExport(router)
}

func toAuditRow(ctx context.Context, a models.Audit) api.AuditRow {
	row := api.AuditRow{
		ID: a.ID, Seq: a.Seq, At: a.At.UTC(), Actor: a.Actor, Action: a.Action, ParticipantID: a.ParticipantID, Object: a.Object,
		Detail: a.Detail, RequestID: a.RequestID, Address: a.Address, Hash: a.Hash,
	}
	if canSeePersonal(ctx) {
		row.Reason, row.Before, row.After = a.Reason, a.Before, a.After
	}
	return row
}

func (h *auditRoutes) listAudit(ctx context.Context, in *auditRequest) (*answer[api.AuditPage], error) {
	query := in.toQuery()
	query.BeforeID, query.Limit = in.Cursor, in.Limit+1
	rows, err := h.audit.AuditRows(ctx, query)
	if err != nil {
		return nil, h.toFailure("reading the audit", err)
	}
	rows, next := cutPage(rows, in.Limit, func(last models.Audit) string { return strconv.FormatInt(last.ID, 10) })
	page := api.AuditPage{Rows: make([]api.AuditRow, len(rows)), NextCursor: next}
	for i, row := range rows {
		page.Rows[i] = toAuditRow(ctx, row)
	}
	return newAnswer("", page), nil
}

func (h *auditRoutes) checkAudit(ctx context.Context, _ *noInput) (*answer[api.AuditChain], error) {
	chain, err := h.audit.CheckAudit(ctx)
	return newAnswer("", api.AuditChain{
		OK: chain.BrokenAt == 0, Rows: chain.Rows, Erased: chain.Erased, Head: chain.Head, BrokenAt: chain.BrokenAt, Problem: chain.Problem,
	}), h.toFailure("checking the audit", err)
}
