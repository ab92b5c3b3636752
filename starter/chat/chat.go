// Package chat takes texts that come through the API instead of the carrier, for
// front ends in a terminal or on a page. A text is stored as one by SMS is, in
// the same transaction; its answer is shown by the history route.
package chat

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"coachline/internal/consent"
	"coachline/models"
)

// Store keeps people and their texts.
type Store interface {
	Participant(ctx context.Context, id string) (models.Participant, error)
	AcceptInbound(ctx context.Context, in models.Inbound) (models.AcceptedInbound, error)
}

// Config is what a Room stands on; all of it is required.
type Config struct {
	Store Store
	// Enter waits for the earlier texts of a sender, by SMS too.
	Enter func(ctx context.Context, sender string) (leave func(), err error)
	// Announce has the rest of the system told of a stored text.
	Announce func(models.AcceptedInbound)
	Now      func() time.Time
}

// Room is the door of the channel. It is safe for concurrent use.
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
	Intent models.Intent `json:"intent,omitempty" doc:"What the text asks of the programme itself: stop, start, yes, help."`
	// Repeated: the key was used before, and this is what became of it then.
	Repeated bool `json:"repeated,omitempty"`
}

// ErrKeyUsed says that the key belongs to another text.
var ErrKeyUsed = errors.New("Idempotency-Key: already used for another text")

// Take screens a text for opting out, coming back and help, and stores it under
// the participant's number, so that one set of limits holds for all channels.
// The workflow hears of it in the background. A repeated key changes nothing, so
// a retry with one is safe. models.ErrNotFound for somebody unknown or removed, a
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
	text.Intent, text.IntentMethod = consent.Screen(text.Body, "")
	leave, err := r.cfg.Enter(ctx, text.From)
	if err != nil {
		return Taken{}, fmt.Errorf("waiting for earlier texts: %w", err)
	}
	defer leave()
	text.ReceivedAt = r.cfg.Now()
	accepted, err := r.cfg.Store.AcceptInbound(ctx, text)
	if err != nil {
		return Taken{}, err
	}
	if accepted.Duplicate && accepted.Inbound.Body != text.Body {
		return Taken{}, ErrKeyUsed
	}
	r.cfg.Announce(accepted)
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
		ID: row.ID, Channel: row.Channel, ReceivedAt: row.ReceivedAt.UTC(), Gate: row.Gate, Repeated: accepted.Duplicate,
	}
	// START and YES of somebody who is in the programme are ordinary words, which
	// have a number.
	if row.Seq == 0 && row.Gate == models.GateNone {
		view.Intent = row.Intent
	}
	return view
}
