package starter

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/segments"
	"coachline/models"
	"coachline/models/wire"
)

func (h *conversationRoutes) registerMessages(router huma.API) {
	r := route{method: http.MethodPost, path: participantPath + "/messages", id: "send-message", ownKey: true, needs: auth.MessageSend,
		summary: "Send an operator's message", status: http.StatusAccepted,
		errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}}
	register(router, r, h.sendMessage)
	documentRepeat(router.OpenAPI().Paths[r.path].Post)
}

// documentRepeat adds the answer to a repeated key, which has the shape of the
// first one.
func documentRepeat(op *huma.Operation) {
	op.Responses["200"] = &huma.Response{
		Description: "The message of an earlier request with this key",
		Content:     op.Responses["202"].Content,
	}
}

type messageRequest struct {
	ID   string `path:"id" maxLength:"64"`
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"Equal keys of one participant are one message."`
	Body api.NewMessage
}

type messageAnswer struct {
	Status int
	Body   api.Envelope[api.QueuedMessage]
}

// sendMessage queues an operator's text. It goes out when the participant's
// workflow sends it; the outbox row is what a repeated request finds.
func (h *conversationRoutes) sendMessage(ctx context.Context, in *messageRequest) (*messageAnswer, error) {
	body := segments.Smart(in.Body.Body)
	if strings.TrimSpace(body) == "" {
		return nil, newFailure(http.StatusBadRequest, "body: must not be blank")
	}
	p, err := h.people.Participant(ctx, in.ID)
	if err != nil {
		return nil, h.toFailure("queueing the message", err)
	}
	if p.Status == wire.StatusOptedOut {
		return nil, newFailure(http.StatusConflict, "the participant has opted out")
	}
	key := in.Key
	if key == "" {
		if key, err = newRandomKey(); err != nil {
			return nil, h.toFailure("queueing the message", err)
		}
	}
	out, created, err := h.outbox.QueueOperatorMessage(ctx, models.OperatorMessage{
		ParticipantID: in.ID, Body: body, Key: key, Force: in.Body.Force, Actor: actorOf(ctx), Now: h.now(),
	})
	if errors.Is(err, models.ErrConflict) || (err == nil && !created && out.Body != body) {
		return nil, newFailure(http.StatusConflict, "Idempotency-Key: already used for another message")
	}
	if err != nil {
		return nil, h.toFailure("queueing the message", err)
	}
	h.deliverNotices(ctx, in.ID)
	return newMessageAnswer(out, created), nil
}

func newMessageAnswer(out models.Outbox, created bool) *messageAnswer {
	status, message := http.StatusAccepted, "Message queued"
	if !created {
		status, message = http.StatusOK, "Message was queued before"
	}
	return &messageAnswer{Status: status, Body: api.Envelope[api.QueuedMessage]{
		Status: api.StatusOK, Message: message, Result: api.QueuedMessage{ID: out.ID, Status: out.Status},
	}}
}

func newRandomKey() (string, error) {
	raw := make([]byte, 16)
	if _, err := rand.Read(raw); err != nil {
		return "", err
	}
	return hex.EncodeToString(raw), nil
}
