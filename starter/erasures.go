package starter

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/store"
	"coachline/models"
)

const erasuresPath = "/erasures"

// elsewhere says what is held of a person outside the tables.
var elsewhere = []string{
	"Temporal keeps times and ids of the conversation, without texts, sealed, as long as the person is enrolled and for the namespace's retention after that.",
	"The carrier keeps copies of messages as it says in its own terms; an erasure has it delete them.",
	"The model's provider may keep requests as it says in its own terms.",
	"Backups hold the tables as they were, until they are deleted.",
	"A file of people that waits for its confirmation, or a report about one, may name the person; an erasure empties all of them.",
}

const (
	noteBackups     = "Backups made before the erasure still hold the person; delete them when their time is over, and erase again after restoring one."
	noteCarrier     = "The carrier may keep billing records and its own backups."
	noteStranger    = "The carrier's copies have to be deleted in its console. A keyed hash of a number that has texted STOP is kept."
	noteSuppression = "A keyed hash of a number is kept, because it has opted out."
)

func toErasure(e models.Erasure) models.Erasure {
	e.Notes = []string{noteBackups, noteCarrier}
	if e.Rows == nil {
		e.Rows = map[string]int64{}
	}
	if e.Suppressed {
		e.Notes = append(e.Notes, noteSuppression)
	}
	return e
}

type eraseRequest struct {
	ID   string `path:"id" maxLength:"64" doc:"Participant id, enrolled or removed."`
	Body api.NewErasure
}

// erasureRoutes answers what concerns erasures.
type erasureRoutes struct {
	base
	erasures *store.Erasures
	people   *store.People
	numbers  *numbers
}

func (h *erasureRoutes) register(router huma.API) {
	register(router, route{
		method: http.MethodPost, path: participantsPath + "/{id}/erase", id: "erase-participant", needs: auth.ParticipantErase,
		summary: "Erase a person: rows, histories, the carrier's copies", status: http.StatusAccepted,
		errors: []int{http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType},
	}, h.eraseParticipant)
	register(router, route{
		method: http.MethodGet, path: participantsPath + "/{id}/data", id: "get-person-data", needs: auth.ParticipantErase, reads: readExport,
		summary: "Everything that is held about a person, enrolled or removed", errors: []int{http.StatusNotFound},
	}, h.getPersonData)
	register(router, route{
		method: http.MethodPost, path: "/strangers/erase", id: "forget-stranger", needs: auth.ParticipantErase,
		summary: "Empty the texts of a number that is not enrolled", errors: []int{http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType},
	}, h.forgetStranger)
	register(router, route{
		method: http.MethodGet, path: erasuresPath, id: "list-erasures", needs: auth.ParticipantErase,
		summary: "List erasures, newest first",
	}, h.listErasures)
	register(router, route{
		method: http.MethodGet, path: erasuresPath + "/{id}", id: "get-erasure", needs: auth.ParticipantErase,
		summary: "Read the receipt of an erasure", errors: []int{http.StatusNotFound},
	}, h.getErasure)
}

func (h *erasureRoutes) eraseParticipant(ctx context.Context, in *eraseRequest) (*answer[models.Erasure], error) {
	if in.Body.Confirm != in.ID {
		return nil, h.toFailure("erasing the participant", models.BadField("confirm", "must be the participant's id"))
	}
	reason := cmp.Or(in.Body.Reason, models.OriginOf(ctx).Reason)
	// The audit's own reason would be emptied again; the erasure keeps it.
	saved, err := h.erasures.BeginErasure(ctx, models.ErasureRequest{ParticipantID: in.ID, Actor: actorOf(ctx), Reason: reason, Now: h.now()})
	if err != nil {
		return nil, h.toFailure("erasing the participant", err)
	}
	h.deliverNotices(ctx, in.ID)
	return newAnswer("The person is being erased; the receipt says how far it has come", toErasure(saved)), nil
}

// getPersonData answers a person who asks what is held about them.
func (h *erasureRoutes) getPersonData(ctx context.Context, in *personRequest) (*answer[api.PersonData], error) {
	if !canSeePersonal(ctx) {
		return nil, newFailure(http.StatusForbidden, "permission %s is needed", auth.PersonalRead)
	}
	tables, err := h.people.PersonData(ctx, in.ID)
	if err != nil {
		return nil, h.toFailure("reading the person's data", err)
	}
	return newAnswer("", api.PersonData{ParticipantID: in.ID, At: h.now().UTC(), Tables: tables, Notes: elsewhere}), nil
}

type strangerRequest struct{ Body api.StrangerNumber }

// strangerTexts is the most texts of a number that one request empties.
const strangerTexts = 10_000

// forgetStranger empties what a number texted while it was not enrolled.
func (h *erasureRoutes) forgetStranger(ctx context.Context, in *strangerRequest) (*answer[api.StrangerForgotten], error) {
	phone, err := h.numbers.parse(in.Body.Phone)
	if err != nil {
		return nil, h.toFailure("erasing the texts", err)
	}
	now := h.now()
	count, err := h.erasures.ForgetStrangers(ctx, models.StrangersForgotten{Before: now.Add(time.Second), Phone: phone, Limit: strangerTexts, Actor: actorOf(ctx), Now: now})
	out := api.StrangerForgotten{Texts: count, Notes: []string{noteBackups, noteStranger}}
	return newAnswer("What the number texted while it was not enrolled is emptied", out), h.toFailure("erasing the texts", err)
}

func (h *erasureRoutes) listErasures(ctx context.Context, in *models.ErasureQuery) (*answer[api.ErasurePage], error) {
	query := *in
	query.Limit++
	rows, err := h.erasures.List(ctx, query)
	if err != nil {
		return nil, h.toFailure("listing erasures", err)
	}
	rows, next := cutPage(rows, in.Limit, func(last models.Erasure) string { return last.ParticipantID })
	return newAnswer("", api.ErasurePage{Erasures: showAll(rows, toErasure), NextCursor: next}), nil
}

func (h *erasureRoutes) getErasure(ctx context.Context, in *personRequest) (*answer[models.Erasure], error) {
	row, err := h.erasures.Erasure(ctx, in.ID)
	return newAnswer("", toErasure(row)), h.toFailure("reading the erasure", err)
}
