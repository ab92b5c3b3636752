// Package attention lets an operator end the attention that a text of a
// participant's called for. The front door mounts it as a route.
package attention

import (
	"context"
	"time"

	"coachline/models"
	"coachline/models/alarm"
)

// Desk keeps who should be looked after.
type Desk interface {
	ClearAttention(ctx context.Context, c alarm.Clearing) (models.Participant, error)
}

// Config is what a Room stands on; all of it is required.
type Config struct {
	Desk  Desk
	Now   func() time.Time
	Actor string // who the audit names
}

// Room does what operators ask for. It is safe for concurrent use.
type Room struct{ cfg Config }

// New builds a room.
func New(cfg Config) *Room { return &Room{cfg: cfg} }

// ClearRequest ends a participant's attention. Note may hold personal data; it is
// sealed, and the audit does not repeat it.
type ClearRequest struct {
	ID   string `path:"id" maxLength:"64"`
	Body struct {
		Clear bool   `json:"clear" doc:"Must be true."`
		Note  string `json:"note,omitempty" maxLength:"2000" doc:"What was done; kept sealed with the alarm."`
	}
}

// View is where the attention stands: none.
type View struct {
	ID        string           `json:"id"`
	Attention models.Attention `json:"attention" doc:"Empty: nobody needs to look after the person."`
	Version   int64            `json:"version"`
}

// Clear ends the attention. Safe to repeat. models.ErrNotFound for an unknown
// participant.
func (r *Room) Clear(ctx context.Context, in *ClearRequest) (View, error) {
	if !in.Body.Clear {
		return View{}, models.BadField("clear", "must be true")
	}
	p, err := r.cfg.Desk.ClearAttention(ctx, alarm.Clearing{ParticipantID: in.ID, Note: in.Body.Note, Actor: r.cfg.Actor, Now: r.cfg.Now()})
	return View{ID: p.ID, Attention: p.Attention, Version: p.Version}, err
}
