package starter

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coachline/models"
)

const holdsPath = "/holds"

// maxHold is the longest time for which prompts may be held.
const maxHold = 366 * 24 * time.Hour

// holdStore keeps holds of prompts.
type holdStore interface {
	CreateHold(ctx context.Context, h models.Hold) (models.Hold, error)
	ReleaseHold(ctx context.Context, r models.HoldRelease) (models.Hold, error)
	Holds(ctx context.Context, q models.HoldQuery) ([]models.Hold, error)
}

// HoldView is a hold as the API shows one. Reason is an operator's own text.
type HoldView struct {
	ID         int64            `json:"id"`
	Scope      models.HoldScope `json:"scope" enum:"all"`
	Reason     string           `json:"reason"`
	Active     bool             `json:"active" doc:"It stops prompts now."`
	Until      time.Time        `json:"until" doc:"Prompts go on with the first slot from then on."`
	CreatedAt  time.Time        `json:"created_at"`
	CreatedBy  string           `json:"created_by"`
	ReleasedAt *time.Time       `json:"released_at,omitempty" doc:"When an operator ended it before its time."`
	ReleasedBy string           `json:"released_by,omitempty"`
}

func holdViewOf(h models.Hold, now time.Time) HoldView {
	return HoldView{
		ID: h.ID, Scope: h.Scope, Reason: h.Reason, Active: h.IsActive(now), Until: h.UntilAt.UTC(),
		CreatedAt: h.CreatedAt.UTC(), CreatedBy: h.CreatedBy, ReleasedAt: h.ReleasedAt, ReleasedBy: h.ReleasedBy,
	}
}

type holdRequest struct {
	Body struct {
		Scope  models.HoldScope `json:"scope,omitempty" enum:"all" default:"all" doc:"Whose prompts are held: all participants'."`
		Until  time.Time        `json:"until" doc:"When prompts go on (RFC 3339), at most 366 days from now."`
		Reason string           `json:"reason,omitempty" maxLength:"500" doc:"Kept sealed; the audit does not repeat it."`
	}
}

type holdListRequest struct {
	Active bool  `query:"active" doc:"Only holds that stop prompts now."`
	Limit  int   `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor int64 `query:"cursor" minimum:"1" doc:"next_cursor of the page before."`
}

// HoldPage is one page of holds, newest first; NextCursor is null on the last.
type HoldPage struct {
	Holds      []HoldView `json:"holds" nullable:"false"`
	NextCursor *string    `json:"next_cursor"`
}

type holdByID struct {
	ID int64 `path:"id" minimum:"1" doc:"Id of a hold."`
}

func (f *front) holdRoutes(api huma.API) {
	register(api, route{method: http.MethodPost, path: holdsPath, id: "create-hold", summary: "Hold prompts until an instant; replies go on",
		status: http.StatusCreated, errors: []int{http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}}, f.createHold)
	register(api, route{method: http.MethodGet, path: holdsPath, id: "list-holds", summary: "Holds of prompts, newest first"}, f.listHolds)
	register(api, route{method: http.MethodDelete, path: holdsPath + "/{id}", id: "release-hold", summary: "End a hold before its time",
		errors: []int{http.StatusNotFound}}, f.releaseHold)
}

// createHold stops prompts, reminders, feedback questions and check-ins. What
// falls due meanwhile is recorded as missed and not sent later.
func (f *front) createHold(ctx context.Context, in *holdRequest) (*answer[HoldView], error) {
	now := f.now()
	switch until := in.Body.Until; {
	case !until.After(now):
		return nil, failure(http.StatusBadRequest, "until: must be in the future")
	case until.After(now.Add(maxHold)):
		return nil, failure(http.StatusBadRequest, "until: must be at most 366 days from now")
	}
	saved, err := f.store.CreateHold(ctx, models.Hold{
		Scope: in.Body.Scope, Reason: in.Body.Reason, CreatedBy: actor, CreatedAt: now, UntilAt: in.Body.Until,
	})
	if err != nil {
		return nil, f.refuse("creating the hold", err)
	}
	return newAnswer("Prompts are held; what falls due meanwhile is recorded as missed", holdViewOf(saved, now)), nil
}

func (f *front) listHolds(ctx context.Context, in *holdListRequest) (*answer[HoldPage], error) {
	now := f.now()
	query := models.HoldQuery{BeforeID: in.Cursor, Limit: in.Limit}
	if in.Active {
		query.ActiveAt = now
	}
	rows, err := f.store.Holds(ctx, query)
	if err != nil {
		return nil, f.refuse("listing holds", err)
	}
	page := HoldPage{Holds: make([]HoldView, 0, len(rows))}
	for _, h := range rows {
		page.Holds = append(page.Holds, holdViewOf(h, now))
	}
	if len(rows) < in.Limit {
		return newAnswer("", page), nil
	}
	query.BeforeID, query.Limit = rows[len(rows)-1].ID, 1
	more, err := f.store.Holds(ctx, query)
	if err != nil {
		return nil, f.refuse("listing holds", err)
	}
	if len(more) > 0 {
		cursor := strconv.FormatInt(query.BeforeID, 10)
		page.NextCursor = &cursor
	}
	return newAnswer("", page), nil
}

func (f *front) releaseHold(ctx context.Context, in *holdByID) (*answer[HoldView], error) {
	now := f.now()
	saved, err := f.store.ReleaseHold(ctx, models.HoldRelease{ID: in.ID, Actor: actor, Now: now})
	if errors.Is(err, models.ErrNotFound) {
		return nil, failure(http.StatusNotFound, "hold not found, or already over")
	}
	if err != nil {
		return nil, f.refuse("releasing the hold", err)
	}
	return newAnswer("Hold released; prompts go on with their next slot", holdViewOf(saved, now)), nil
}

// activeHold returns the hold that stops prompts for longest; nil when there is
// none.
func (f *front) activeHold(ctx context.Context) (*models.Hold, error) {
	rows, err := f.store.Holds(ctx, models.HoldQuery{ActiveAt: f.now()})
	var longest *models.Hold
	for i := range rows {
		if longest == nil || rows[i].UntilAt.After(longest.UntilAt) {
			longest = &rows[i]
		}
	}
	return longest, err
}
