package starter

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/store"
	"coachline/models"
)

// attentionRoutes answers who needs an operator.
type attentionRoutes struct {
	base
	attention *store.Attention
}

func (h *attentionRoutes) register(router huma.API) {
	register(router, route{method: http.MethodPost, path: participantPath + "/attention", id: "clear-attention", needs: auth.AttentionClear,
		summary: "End the attention that a text called for; prompts go on with their next slot",
		errors:  []int{http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusNotFound}}, h.clearAttention)
	register(router, route{method: http.MethodGet, path: "/attention", id: "list-attention", needs: auth.AttentionRead,
		summary: "What operators should look at, oldest first"}, h.listAttention)
}

func (h *attentionRoutes) listAttention(ctx context.Context, in *models.AttentionQuery) (*answer[api.AttentionPage], error) {
	query := *in
	query.Limit++
	rows, err := h.attention.OpenAttention(ctx, query)
	if err != nil {
		return nil, h.toFailure("list-attention", err)
	}
	rows, next := cutPage(rows, in.Limit, func(last models.OpenAttention) string { return strconv.FormatInt(last.ID, 10) })
	show := func(row models.OpenAttention) api.Attention { return toAttention(ctx, row) }
	return newAnswer("", api.AttentionPage{Attention: showAll(rows, show), NextCursor: next}), nil
}

// toAttention shows an entry, without the name to a caller who may not see it.
func toAttention(ctx context.Context, row models.OpenAttention) api.Attention {
	if !canSeePersonal(ctx) {
		row.Person, row.Reason, row.Phone = row.Person.WithoutPersonal(), "", ""
	}
	return api.Attention{
		ParticipantID: row.ParticipantID, Name: row.Person.Name, Phone: row.Phone, Kind: row.Kind, Since: row.RaisedAt.UTC(), Ref: row.Ref, Code: row.Code, Reason: row.Reason,
		TakenOver: toTakeOver(row.Person), AcknowledgedBy: row.AcknowledgedBy, AcknowledgedAt: row.AcknowledgedAt,
	}
}

type clearAttentionRequest struct {
	ID   string `path:"id" maxLength:"64"`
	Body api.AttentionClearing
}

// clearAttention ends the attention of every kind. It is safe to repeat.
func (h *attentionRoutes) clearAttention(ctx context.Context, in *clearAttentionRequest) (*answer[api.AttentionCleared], error) {
	p, err := h.attention.ClearAttention(ctx, models.AttentionClearing{ParticipantID: in.ID, Note: in.Body.Note, Actor: actorOf(ctx), Now: h.now()})
	return newAnswer("", api.AttentionCleared{ID: p.ID, Attention: p.Attention, Version: p.Version}), h.toFailure("clear-attention", err)
}
