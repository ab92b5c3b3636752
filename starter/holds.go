package starter

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/store"
	"coachline/models"
)

const holdsPath = "/holds"

// maxHold is the longest time for which prompts may be held.
const maxHold = 366 * 24 * time.Hour

func toHold(h models.Hold, now time.Time) models.Hold {
	h.Active = h.IsActive(now)
	return h
}

type newHoldRequest struct {
	Body api.NewHold
}

type holdsRequest struct {
	Active        bool   `query:"active" doc:"Only holds that stop prompts now."`
	ParticipantID string `query:"participant_id" maxLength:"64" doc:"Only holds that stop this participant's prompts: their own, their study's and everybody's."`
	Limit         int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor        int64  `query:"cursor" minimum:"1" doc:"next_cursor of the page before."`
}

type holdRequest struct {
	ID int64 `path:"id" minimum:"1" doc:"Id of a hold."`
}

// holdRoutes answers what concerns holds of prompts.
type holdRoutes struct {
	base
	holds *store.Holds
}

func (h *holdRoutes) register(router huma.API) {
	register(router, route{method: http.MethodPost, path: holdsPath, id: "create-hold", needs: auth.HoldChange, summary: "Hold prompts until an instant; replies go on",
		status: http.StatusCreated, errors: []int{http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}}, h.createHold)
	register(router, route{method: http.MethodGet, path: holdsPath, id: "list-holds", needs: auth.HoldRead, summary: "Holds of prompts, newest first"}, h.listHolds)
	register(router, route{method: http.MethodGet, path: holdsPath + "/{id}", id: "get-hold", needs: auth.HoldRead, summary: "One hold",
		errors: []int{http.StatusNotFound}}, h.getHold)
	register(router, route{method: http.MethodDelete, path: holdsPath + "/{id}", id: "release-hold", needs: auth.HoldChange, summary: "End a hold before its time",
		errors: []int{http.StatusNotFound}}, h.releaseHold)
}

// createHold stops prompts, reminders, feedback questions and check-ins. What
// falls due meanwhile is recorded as missed and not sent later.
func (h *holdRoutes) createHold(ctx context.Context, in *newHoldRequest) (*created[models.Hold], error) {
	now := h.now()
	switch until := in.Body.Until; {
	case !until.After(now):
		return nil, newFailure(http.StatusBadRequest, "until: must be in the future")
	case until.After(now.Add(maxHold)):
		return nil, newFailure(http.StatusBadRequest, "until: must be at most 366 days from now")
	}
	saved, err := h.holds.CreateHold(ctx, models.Hold{
		Scope: in.Body.Scope, ScopeID: in.Body.ScopeID, Reason: in.Body.Reason, CreatedBy: actorOf(ctx), CreatedAt: now, Until: in.Body.Until,
	})
	return newCreated(holdsPath+"/"+strconv.FormatInt(saved.ID, 10), "Prompts are held; what falls due meanwhile is recorded as missed", toHold(saved, now)), h.toFailure("creating the hold", err)
}

func (h *holdRoutes) listHolds(ctx context.Context, in *holdsRequest) (*answer[api.HoldPage], error) {
	now := h.now()
	query := models.HoldQuery{ParticipantID: in.ParticipantID, BeforeID: in.Cursor, Limit: in.Limit + 1}
	if in.Active {
		query.ActiveAt = now
	}
	rows, err := h.holds.List(ctx, query)
	if err != nil {
		return nil, h.toFailure("listing holds", err)
	}
	rows, next := cutPage(rows, in.Limit, func(last models.Hold) string { return strconv.FormatInt(last.ID, 10) })
	page := api.HoldPage{Holds: make([]models.Hold, 0, len(rows)), NextCursor: next}
	for _, h := range rows {
		page.Holds = append(page.Holds, toHold(h, now))
	}
	return newAnswer("", page), nil
}

// getHold reads the page of one that begins with the hold.
func (h *holdRoutes) getHold(ctx context.Context, in *holdRequest) (*taggedAnswer[models.Hold], error) {
	rows, err := h.holds.List(ctx, models.HoldQuery{BeforeID: in.ID + 1, Limit: 1})
	if err != nil {
		return nil, h.toFailure("reading the hold", err)
	}
	if len(rows) == 0 || rows[0].ID != in.ID {
		return nil, newFailure(http.StatusNotFound, "hold not found")
	}
	return newTagged(toHold(rows[0], h.now()))
}

func (h *holdRoutes) releaseHold(ctx context.Context, in *holdRequest) (*answer[models.Hold], error) {
	now := h.now()
	saved, err := h.holds.ReleaseHold(ctx, models.HoldRelease{ID: in.ID, Actor: actorOf(ctx), Now: now})
	if errors.Is(err, models.ErrNotFound) {
		return nil, newFailure(http.StatusNotFound, "hold not found, or already over")
	}
	return newAnswer("Hold released; prompts go on with their next slot", toHold(saved, now)), h.toFailure("releasing the hold", err)
}

// findActiveHold returns the hold that stops a participant's prompts for longest;
// nil when there is none.
func findActiveHold(ctx context.Context, holds *store.Holds, participantID string, now time.Time) (*models.Hold, error) {
	rows, err := holds.List(ctx, models.HoldQuery{ActiveAt: now, ParticipantID: participantID})
	var longest *models.Hold
	for i := range rows {
		if longest == nil || rows[i].Until.After(longest.Until) {
			longest = &rows[i]
		}
	}
	return longest, err
}
