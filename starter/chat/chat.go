// Package chat takes texts that come through the API instead of the carrier, for
// front ends in a terminal or on a page. A text is screened, limited and stored
// as one by SMS is; its answer is shown by the history route.
package chat

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"coachline/models"
)

// Store keeps people and their texts.
type Store interface {
	Participant(ctx context.Context, id string) (models.Participant, error)
}

// Config holds the dependencies of a Room; all of them are required.
type Config struct {
	Store Store
	// Accept screens, stores and announces a text of any channel.
	Accept func(ctx context.Context, in models.Inbound) (models.AcceptedInbound, error)
}

// Room takes texts of the chat channel. It is safe for concurrent use.
type Room struct{ cfg Config }

// New builds a Room.
func New(cfg Config) *Room { return &Room{cfg: cfg} }

// Request is one text of a participant.
type Request struct {
	ID   string `path:"id" maxLength:"64"`
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"Equal keys of one participant are one text."`
	Body struct {
		Body string `json:"body" minLength:"1" maxLength:"1600"`
	}
}

// Taken is what became of it.
type Taken struct {
	ID         int64          `json:"id"`
	Channel    models.Channel `json:"channel"`
	ReceivedAt time.Time      `json:"received_at" doc:"The answer is in the history after this instant."`
	// Gate is set for a text that is kept from the coach, Intent for one that the
	// programme itself answers.
	Gate   models.Gate   `json:"gate,omitempty" doc:"Why the text is stored and not answered."`
	Intent models.Intent `json:"intent,omitempty" doc:"What the text asks of the programme itself: stop, start, yes, help; or what the person is asked about: unclear, wrong_number."`
	// Danger is set for a text that may be a crisis.
	Danger models.Danger `json:"danger,omitempty" doc:"What the text may speak of; a safety text may have answered it."`
	// Repeated: the key was used before, and this is what became of it then.
	Repeated bool `json:"repeated,omitempty"`
}

// ErrKeyUsed says that the key belongs to another text.
var ErrKeyUsed = errors.New("Idempotency-Key: already used for another text")

// Take passes a text to Accept under the participant's number, so that one set
// of rules and limits holds for all channels. The workflow hears of it in the
// background. A repeated key changes nothing, so a retry with one is safe.
// models.ErrNotFound for a participant who is unknown or removed, a
// *models.FieldError for a blank text.
func (r *Room) Take(ctx context.Context, in *Request) (Taken, error) {
	if strings.TrimSpace(in.Body.Body) == "" {
		return Taken{}, models.BadField("body", "must not be blank")
	}
	p, err := r.cfg.Store.Participant(ctx, in.ID)
	if err != nil {
		return Taken{}, err
	}
	text := models.Inbound{
		ProviderSID: sidOf(in.ID, in.Key), From: p.Phone, Body: in.Body.Body, Channel: models.ChannelChat,
	}
	accepted, err := r.cfg.Accept(ctx, text)
	if err != nil {
		return Taken{}, err
	}
	if accepted.Duplicate && accepted.Inbound.Body != text.Body {
		return Taken{}, ErrKeyUsed
	}
	return viewOf(accepted), nil
}

// sidOf names a text as a carrier's id does: unique, and the same for an equal
// key. Without a key each text is one of its own.
func sidOf(participantID, key string) string {
	if key == "" {
		key = rand.Text()
	}
	sum := sha256.Sum256([]byte(key))
	return "chat-" + participantID + "-" + hex.EncodeToString(sum[:])[:32]
}

func viewOf(accepted models.AcceptedInbound) Taken {
	row := accepted.Inbound
	view := Taken{
		ID: row.ID, Channel: row.Channel, ReceivedAt: row.ReceivedAt.UTC(), Gate: row.Gate, Danger: row.Danger, Repeated: accepted.Duplicate,
	}
	// START and YES of a participant who is in the programme are ordinary words,
	// which have a number.
	if row.Seq == 0 && row.Gate == models.GateNone {
		view.Intent = row.Intent
	}
	return view
}
