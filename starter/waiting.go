package starter

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/auth"
	"coachline/models"
)

func (h *conversationRoutes) registerWaiting(router huma.API) {
	register(router, route{method: http.MethodGet, path: participantPath + "/waiting", id: "list-waiting", needs: auth.PersonalRead, reads: readConversation,
		summary: "Texts that came while the participant was paused and wait for an operator", errors: []int{http.StatusNotFound}}, h.listWaiting)
}

// listWaiting lists the texts that came while a participant was paused. An
// operator has them answered or marks them as read with waiting_messages of an
// update.
func (h *conversationRoutes) listWaiting(ctx context.Context, in *participantRequest) (*answer[[]models.WaitingMessage], error) {
	rows, err := h.people.WaitingMessages(ctx, in.ID)
	return newAnswer("", copyNonNil(rows)), h.toFailure("listing waiting messages", err)
}
