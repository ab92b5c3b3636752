package starter

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/auth"
	"coachline/internal/store"
	"coachline/models"
)

// conversationRoutes answers what was said, and takes what operators and chats say.
type conversationRoutes struct {
	base
	people    *store.People
	outbox    *store.Outbox
	takeOvers *store.TakeOvers
	carrier   *carrierRoutes
}

func (h *conversationRoutes) register(router huma.API) {
	register(router, route{method: http.MethodGet, path: participantPath + "/history", id: "get-history", needs: auth.PersonalRead, reads: readConversation,
		summary: "The conversation, oldest first", errors: []int{http.StatusNotFound}}, h.getHistory)
	h.registerWaiting(router)
	h.registerMessages(router)
	h.registerChat(router)
	h.registerTakeOvers(router)
}

type historyRequest struct {
	ID     string    `path:"id" maxLength:"64"`
	Limit  int       `query:"limit" minimum:"1" maximum:"500" default:"100"`
	Before time.Time `query:"before" doc:"Only what is older than this instant (RFC 3339)."`
	After  time.Time `query:"after" doc:"Only what is newer than this instant, to look for an answer; not together with before."`
}

func (h *conversationRoutes) getHistory(ctx context.Context, in *historyRequest) (*answer[[]models.HistoryEntry], error) {
	entries, err := h.readHistory(ctx, in)
	if err != nil {
		return nil, h.toFailure("reading the conversation", err)
	}
	for i, entry := range entries {
		if entry.Unreadable {
			h.log.Error("a stored text cannot be opened with the payload keys; check `coachline doctor`", "participant", in.ID, "at", entry.At)
		}
		entries[i].Meaning, entries[i].NextStep = explainCode(entry.ErrorCode)
	}
	return newAnswer("", copyNonNil(entries)), nil
}

func (h *conversationRoutes) readHistory(ctx context.Context, in *historyRequest) ([]models.HistoryEntry, error) {
	if in.After.IsZero() {
		return h.people.History(ctx, in.ID, in.Limit, in.Before)
	}
	if !in.Before.IsZero() {
		return nil, models.BadField("after", "not together with before")
	}
	if _, err := h.people.Participant(ctx, in.ID); err != nil {
		return nil, err
	}
	return h.people.HistoryAfter(ctx, in.ID, in.Limit, in.After)
}
