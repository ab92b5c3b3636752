package starter

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
)

const takeOverPath = participantPath + "/takeover"

func (h *conversationRoutes) registerTakeOvers(router huma.API) {
	errors := []int{http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}
	register(router, route{method: http.MethodPost, path: takeOverPath, id: "take-over", needs: auth.TakeOver,
		summary: "Write in the place of the coach", errors: append(errors, http.StatusConflict)}, h.takeOver)
	register(router, route{method: http.MethodDelete, path: takeOverPath, id: "hand-back", needs: auth.TakeOver,
		summary: "Have the coach write again", errors: append(errors, http.StatusConflict)}, h.handBack)
}

// toTakeOver shows who writes in the place of the coach; nil while the coach does.
func toTakeOver(p models.Participant) *api.TakeOver {
	if !p.IsTakenOver() || p.TakenOverAt == nil || p.TakenOverUntil == nil {
		return nil
	}
	return &api.TakeOver{By: p.TakenOverBy, Since: p.TakenOverAt.UTC(), Until: p.TakenOverUntil.UTC()}
}

type takeOverRequest struct {
	ID   string `path:"id" maxLength:"64"`
	Body api.NewTakeOver
}

// takeOver silences the coach with the transaction; the relay delivers it to the
// workflow at once or later. The caller who has the conversation moves its end.
func (h *conversationRoutes) takeOver(ctx context.Context, in *takeOverRequest) (*participantAnswer, error) {
	now := h.now()
	until := now.Add(models.TakeOverDefault)
	if in.Body.Until != nil {
		until = *in.Body.Until
	}
	if !until.After(now) || until.After(now.Add(models.TakeOverMost)) {
		return nil, newFailure(http.StatusBadRequest, "until: must be in the future and at most 7 days away")
	}
	p, err := h.people.Participant(ctx, in.ID)
	if err != nil {
		return nil, h.toFailure("taking over", err)
	}
	if !p.Status.Coached() {
		return nil, newFailure(http.StatusConflict, "the participant is %s; there is nothing to take over", p.Status)
	}
	p, err = h.takeOvers.TakeOver(ctx, models.TakeOver{
		ParticipantID: in.ID, Until: until, Force: in.Body.Force, Note: in.Body.Note, Reason: in.Body.Reason, Actor: actorOf(ctx), Now: now,
	})
	if err != nil {
		return nil, h.toFailure("taking over", err)
	}
	h.deliverNotices(ctx, in.ID)
	return newParticipantAnswer(ctx, "You write in the place of the coach until "+until.UTC().Format(time.RFC3339), p), nil
}

type handBackRequest struct {
	ID   string `path:"id" maxLength:"64"`
	Body *api.TakeOverEnd
}

// handBack has the coach write again.
func (h *conversationRoutes) handBack(ctx context.Context, in *handBackRequest) (*participantAnswer, error) {
	var body api.TakeOverEnd
	if in.Body != nil {
		body = *in.Body
	}
	if _, err := h.people.Participant(ctx, in.ID); err != nil {
		return nil, h.toFailure("handing back", err)
	}
	p, err := h.takeOvers.HandBack(ctx, models.HandBack{
		ParticipantID: in.ID, Waiting: body.Waiting, Force: body.Force, Note: body.Note, Actor: actorOf(ctx), Now: h.now(),
	})
	if err != nil {
		return nil, h.toFailure("handing back", asMissing("a take-over of the participant", err))
	}
	h.deliverNotices(ctx, in.ID)
	return newParticipantAnswer(ctx, "The coach writes again", p), nil
}
