package starter

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
	"coachline/models/wire"
)

func (h *conversationRoutes) registerChat(router huma.API) {
	register(router, route{method: http.MethodPost, path: participantPath + "/chat", id: "chat", ownKey: true, needs: auth.MessageSend,
		summary: "Take a text of the participant on channel chat; the answer is in the history", status: http.StatusAccepted,
		errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}}, h.acceptChat)
}

type chatRequest struct {
	ID   string `path:"id" maxLength:"64"`
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"Equal keys of one participant are one text."`
	Body api.ChatMessage
}

// acceptChat takes a text that comes through the API instead of the carrier, for
// front ends in a terminal or on a page. It is accepted under the participant's
// number, so that one set of rules and limits holds for all channels. A repeated
// key changes nothing, so a retry with one is safe.
func (h *conversationRoutes) acceptChat(ctx context.Context, in *chatRequest) (*answer[api.ChatAccepted], error) {
	const doing = "taking a text of the chat"
	if strings.TrimSpace(in.Body.Body) == "" {
		return nil, newFailure(http.StatusBadRequest, "body: must not be blank")
	}
	p, err := h.people.Participant(ctx, in.ID)
	if err != nil {
		return nil, h.toFailure(doing, err)
	}
	text := models.Inbound{
		ProviderSID: chatSID(in.ID, in.Key), From: p.Phone, Body: in.Body.Body, Channel: wire.ChannelChat,
	}
	accepted, err := h.carrier.acceptInbound(ctx, text)
	if err != nil {
		return nil, h.toFailure(doing, err)
	}
	if accepted.Duplicate && accepted.Inbound.Body != text.Body {
		return nil, newFailure(http.StatusConflict, "Idempotency-Key: already used for another text")
	}
	return newAnswer("Text taken", toChatAccepted(accepted)), nil
}

// chatSID identifies a text as a carrier's id does: unique, and the same for an
// equal key. Without a key each text is one of its own.
func chatSID(participantID, key string) string {
	if key == "" {
		key = rand.Text()
	}
	sum := sha256.Sum256([]byte(key))
	return "chat-" + participantID + "-" + hex.EncodeToString(sum[:])[:32]
}

func toChatAccepted(accepted models.AcceptedInbound) api.ChatAccepted {
	row := accepted.Inbound
	out := api.ChatAccepted{
		ID: row.ID, Channel: row.Channel, ReceivedAt: row.ReceivedAt.UTC(), Limit: row.Limit, Danger: row.Danger, Repeated: accepted.Duplicate,
	}
	// START and YES of a participant who is in the programme are ordinary texts,
	// which have a sequence number.
	if row.Seq == 0 && row.Limit == models.LimitNone {
		out.Intent = row.Intent
	}
	return out
}
