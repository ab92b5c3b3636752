package starter

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/store"
	"coachline/internal/wait"
	"coachline/models"
)

const joinsPath = studyPath + "/joins"

type newJoinRequest struct {
	ID   string `path:"id" maxLength:"40" doc:"Id of a study."`
	Body api.NewJoin
}

// joinRoutes takes requests to join a study.
type joinRoutes struct {
	base
	joins   *store.Joins
	studies *store.Studies
	numbers *numbers
}

func (h *joinRoutes) register(router huma.API) {
	register(router, route{method: http.MethodGet, path: joinsPath, id: "list-joins", needs: auth.StudyRead,
		summary: "The newest requests to join a study by keyword or form", errors: []int{http.StatusNotFound}}, h.listJoins)
	register(router, route{method: http.MethodPost, path: joinsPath, id: "request-join", needs: auth.ParticipantEnrol,
		summary: "Ask a person who filled in a form for their consent by text", status: http.StatusAccepted,
		errors: []int{http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}}, h.requestJoin)
}

// joinTime is how long an answer to a form takes, whether a text is written or not.
const joinTime = 250 * time.Millisecond

// requestJoin answers alike, and in the same time, where the number is enrolled, has opted
// out or was asked before, so that a form tells nothing about numbers.
func (h *joinRoutes) requestJoin(ctx context.Context, in *newJoinRequest) (*answer[api.Empty], error) {
	phone, err := h.numbers.parse(in.Body.Phone)
	if err != nil {
		return nil, h.toFailure("asking for a join", err)
	}
	if in.Body.Timezone != "" {
		if err := checkZone(in.Body.Timezone); err != nil {
			return nil, h.toFailure("asking for a join", err)
		}
	}
	id, err := newRandomID("join-")
	if err != nil {
		return nil, h.toFailure("asking for a join", err)
	}
	began := time.Now()
	hint, err := h.joins.RequestJoin(ctx, models.JoinRequest{
		ID: id, StudyID: in.ID, Phone: phone, Locale: in.Body.Locale, Timezone: in.Body.Timezone, Actor: actorOf(ctx), Now: h.now(),
	})
	if err != nil {
		return nil, h.toFailure("asking for a join", asMissing("study", err))
	}
	if hint != "" {
		h.relay.LaterHint(hint)
	}
	if err := wait.For(ctx, joinTime-time.Since(began)); err != nil {
		return nil, h.toFailure("asking for a join", err)
	}
	return newAnswer("The person is asked by text unless the number is enrolled, has opted out or was asked before", api.Empty{}), nil
}

func (h *joinRoutes) listJoins(ctx context.Context, in *studyRequest) (*answer[api.JoinList], error) {
	if _, err := h.studies.Study(ctx, in.ID); err != nil {
		return nil, h.toFailure("listing joins", asMissing("study", err))
	}
	rows, counts, err := h.joins.List(ctx, in.ID, 0)
	if err != nil {
		return nil, h.toFailure("listing joins", err)
	}
	list := api.JoinList{Counts: map[string]int64{}, Joins: copyNonNil(rows)}
	for _, state := range models.JoinStates() {
		list.Counts[string(state)] = counts[state]
	}
	return newAnswer("", list), nil
}
