package starter

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/segments"
	"coachline/models"
	"coachline/starter/chat"
)

// transcript reads the conversation and takes what an operator adds to it.
type transcript interface {
	History(ctx context.Context, id string, limit int, before time.Time) ([]models.HistoryEntry, error)
	HistoryAfter(ctx context.Context, id string, limit int, after time.Time) ([]models.HistoryEntry, error)
	QueueOperatorMessage(ctx context.Context, m models.OperatorMessage) (models.Outbox, bool, error)
}

type historyRequest struct {
	ID     string    `path:"id" maxLength:"64"`
	Limit  int       `query:"limit" minimum:"1" maximum:"500" default:"100"`
	Before time.Time `query:"before" doc:"Only what is older than this instant (RFC 3339)."`
	After  time.Time `query:"after" doc:"Only what is newer than this instant, to look for an answer; not together with before."`
}

type messageRequest struct {
	ID   string `path:"id" maxLength:"64"`
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"Equal keys of one participant are one message."`
	Body struct {
		Body string `json:"body" minLength:"1" maxLength:"1600"`
	}
}

// QueuedMessage is where an operator's message stands.
type QueuedMessage struct {
	ID     string              `json:"id"`
	Status models.OutboxStatus `json:"status"`
}

type messageAnswer struct {
	Status int
	Body   Envelope[QueuedMessage]
}

func (f *front) conversationRoutes(api huma.API) {
	register(api, route{method: http.MethodGet, path: participantPath + "/history", id: "get-history",
		summary: "The conversation, oldest first", errors: []int{http.StatusNotFound}}, f.history)
	messages := route{method: http.MethodPost, path: participantPath + "/messages", id: "send-message",
		summary: "Send an operator's message", status: http.StatusAccepted,
		errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}}
	register(api, messages, f.message)
	documentRepeat(api.OpenAPI().Paths[messages.path].Post)
	register(api, route{method: http.MethodPost, path: participantPath + "/chat", id: "chat",
		summary: "Take a text of the participant on channel chat; the answer is in the history", status: http.StatusAccepted,
		errors: messages.errors}, f.chat)
}

// chat takes a text that came by no carrier.
func (f *front) chat(ctx context.Context, in *chat.Request) (*answer[chat.Taken], error) {
	room := chat.New(chat.Config{Store: f.store, Accept: f.accept})
	text, err := room.Take(ctx, in)
	if errors.Is(err, chat.ErrKeyUsed) {
		return nil, failure(http.StatusConflict, "%s", err)
	}
	if err != nil {
		return nil, f.refuse("taking a text of the chat", err)
	}
	return newAnswer("Text taken", text), nil
}

// documentRepeat adds the answer to a repeated key, which has the shape of the
// first one.
func documentRepeat(op *huma.Operation) {
	op.Responses["200"] = &huma.Response{
		Description: "The message of an earlier request with this key",
		Content:     op.Responses["202"].Content,
	}
}

func (f *front) history(ctx context.Context, in *historyRequest) (*answer[[]models.HistoryEntry], error) {
	entries, err := f.entries(ctx, in)
	if err != nil {
		return nil, f.refuse("reading the conversation", err)
	}
	if entries == nil {
		entries = []models.HistoryEntry{}
	}
	for _, entry := range entries {
		if entry.Unreadable {
			f.log.Error("a stored text cannot be opened with the payload keys; check `coachline doctor`", "participant", in.ID, "at", entry.At)
		}
	}
	return newAnswer("", entries), nil
}

func (f *front) entries(ctx context.Context, in *historyRequest) ([]models.HistoryEntry, error) {
	if in.After.IsZero() {
		return f.store.History(ctx, in.ID, in.Limit, in.Before)
	}
	if !in.Before.IsZero() {
		return nil, models.BadField("after", "not together with before")
	}
	if _, err := f.store.Participant(ctx, in.ID); err != nil {
		return nil, err
	}
	return f.store.HistoryAfter(ctx, in.ID, in.Limit, in.After)
}

// message queues an operator's text. It goes out when the participant's
// workflow sends it; the outbox row is what a repeated request finds.
func (f *front) message(ctx context.Context, in *messageRequest) (*messageAnswer, error) {
	body := segments.Smart(in.Body.Body)
	if strings.TrimSpace(body) == "" {
		return nil, failure(http.StatusBadRequest, "body: must not be blank")
	}
	p, err := f.store.Participant(ctx, in.ID)
	if err != nil {
		return nil, f.refuse("queueing the message", err)
	}
	if p.Status == models.StatusOptedOut {
		return nil, failure(http.StatusConflict, "the participant has opted out")
	}
	key := in.Key
	if key == "" {
		if key, err = randomKey(); err != nil {
			return nil, f.refuse("queueing the message", err)
		}
	}
	out, created, err := f.store.QueueOperatorMessage(ctx, models.OperatorMessage{
		ParticipantID: in.ID, Body: body, Key: key, Actor: actor, Now: f.now(),
	})
	if errors.Is(err, models.ErrConflict) || (err == nil && !created && out.Body != body) {
		return nil, failure(http.StatusConflict, "Idempotency-Key: already used for another message")
	}
	if err != nil {
		return nil, f.refuse("queueing the message", err)
	}
	f.tell(ctx, in.ID)
	return queuedAnswer(out, created), nil
}

func queuedAnswer(out models.Outbox, created bool) *messageAnswer {
	status, message := http.StatusAccepted, "Message queued"
	if !created {
		status, message = http.StatusOK, "Message was queued before"
	}
	return &messageAnswer{Status: status, Body: Envelope[QueuedMessage]{
		Status: "ok", Message: message, Result: QueuedMessage{ID: out.ID, Status: out.Status},
	}}
}

func randomKey() (string, error) {
	raw := make([]byte, 16)
	if _, err := rand.Read(raw); err != nil {
		return "", err
	}
	return hex.EncodeToString(raw), nil
}
