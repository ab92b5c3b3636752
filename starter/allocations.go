package starter

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/store"
	"coachline/models"
)

const (
	allocationsPath = studyPath + "/allocations"
	studySeedPath   = studyPath + "/seed"
)

type allocationsRequest struct {
	ID     string `path:"id" maxLength:"40" doc:"Id of a study."`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"200"`
	Cursor int64  `query:"cursor" minimum:"1" doc:"next_cursor of the page before."`
}

type newAllocationRequest struct {
	ID   string `path:"id" maxLength:"40" doc:"Id of a study."`
	Body api.NewAllocation
}

// allocationRoutes answers what concerns the arms of studies.
type allocationRoutes struct {
	base
	allocations *store.Allocations
	studies     *store.Studies
}

// register adds the routes of a study's arms. What shows an arm, or lets
// the next one be foretold, needs a permission that no role but the administrator's
// has: coaches allocate without seeing to what.
func (h *allocationRoutes) register(router huma.API) {
	missing := []int{http.StatusNotFound}
	register(router, route{method: http.MethodGet, path: allocationsPath, id: "list-allocations", needs: auth.AllocationRead,
		summary: "The record of a study's allocations, in order", errors: missing}, h.listAllocations)
	register(router, route{method: http.MethodPost, path: allocationsPath, id: "allocate-participant", needs: auth.ParticipantEnrol,
		summary: "Allocate a person, once all strata are known", status: http.StatusCreated,
		errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}}, h.allocate)
	register(router, route{method: http.MethodGet, path: allocationsPath + "/check", id: "check-allocations", needs: auth.AllocationRead,
		summary: "Draw every allocation of a study again and compare", errors: missing}, h.checkAllocations)
	register(router, route{method: http.MethodGet, path: studySeedPath, id: "get-study-seed", needs: auth.AllocationRead,
		summary: "The seed of a study's allocations; the reading is audited", errors: missing}, h.readSeed)
}

func (h *allocationRoutes) listAllocations(ctx context.Context, in *allocationsRequest) (*answer[api.AllocationPage], error) {
	if _, err := h.studies.Study(ctx, in.ID); err != nil {
		return nil, h.toFailure("listing allocations", asMissing("study", err))
	}
	rows, err := h.allocations.List(ctx, in.ID, in.Cursor, in.Limit+1)
	if err != nil {
		return nil, h.toFailure("listing allocations", err)
	}
	rows, next := cutPage(rows, in.Limit, func(last models.Allocation) string { return strconv.FormatInt(last.Number, 10) })
	page := api.AllocationPage{Allocations: make([]models.Allocation, len(rows)), NextCursor: next}
	for i, row := range rows {
		row.AllocatedAt = row.AllocatedAt.UTC()
		page.Allocations[i] = row
	}
	return newAnswer("", page), nil
}

func (h *allocationRoutes) allocate(ctx context.Context, in *newAllocationRequest) (*created[api.Allocated], error) {
	row, err := h.allocations.Allocate(ctx, models.AllocationRequest{
		StudyID: in.ID, ParticipantID: in.Body.ParticipantID, Strata: in.Body.Strata, Actor: actorOf(ctx), Now: h.now(),
	})
	if errors.Is(err, models.ErrConflict) {
		return nil, newFailure(http.StatusConflict, "participant_id: has been allocated before")
	}
	if err != nil {
		return nil, h.toFailure("allocating", err)
	}
	h.deliverNotices(ctx, row.ParticipantID)
	return newCreated(studiesPath+"/"+in.ID+"/allocations", "Allocated", api.Allocated{ParticipantID: row.ParticipantID, Number: row.Number}), nil
}

func (h *allocationRoutes) checkAllocations(ctx context.Context, in *studyRequest) (*answer[models.AllocationCheck], error) {
	check, err := h.allocations.CheckAllocations(ctx, in.ID)
	if err != nil {
		return nil, h.toFailure("checking allocations", asMissing("study", err))
	}
	check.OK = check.Problem == ""
	if d := check.Decisions; d != nil {
		d.OK = d.Problem == ""
		check.OK = check.OK && d.OK
	}
	return newAnswer("", check), nil
}

func (h *allocationRoutes) readSeed(ctx context.Context, in *studyRequest) (*answer[api.StudySeed], error) {
	seed, err := h.allocations.StudySeed(ctx, in.ID, actorOf(ctx), h.now())
	return newAnswer("", api.StudySeed{Seed: base64.StdEncoding.EncodeToString(seed)}), h.toFailure("reading the seed", asMissing("study", err))
}
