// Package attention lists what operators should look at, and lets them end it.
// The API server mounts it as routes.
package attention

import (
	"context"
	"strconv"
	"time"

	"coachline/models"
)

// Desk keeps what operators should look at.
type Desk interface {
	OpenAttention(ctx context.Context, q models.AttentionQuery) ([]models.OpenAttention, error)
	ClearAttention(ctx context.Context, c models.AttentionClearing) (models.Participant, error)
	Alarms(ctx context.Context, q models.AlertQuery) ([]models.Alert, error)
	MarkAlarm(ctx context.Context, m models.AlertMarking) (models.Alert, error)
	MarkedTexts(ctx context.Context) ([]models.MarkedText, error)
}

// Config holds the dependencies of a Room; all of them are required.
type Config struct {
	Desk  Desk
	Now   func() time.Time
	Actor string // who the audit names
}

// Room does what operators ask for. It is safe for concurrent use.
type Room struct{ cfg Config }

// New builds a Room.
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

// ListRequest selects a page of what is open.
type ListRequest struct {
	Kind   models.Attention `query:"kind" enum:"crisis,unreachable,send,refusal,flood,wrong_number" doc:"Only this kind."`
	Limit  int              `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor int64            `query:"cursor" minimum:"1" doc:"next_cursor of the page before."`
}

// OpenView is one thing that an operator should look at. Name is personal data.
type OpenView struct {
	ParticipantID string           `json:"participant_id"`
	Name          string           `json:"name"`
	Kind          models.Attention `json:"kind" enum:"crisis,unreachable,send,refusal,flood,wrong_number" doc:"crisis: a message may be a crisis. unreachable: the carrier cannot reach the number. send: an answer was given up undelivered. refusal: the model refused to answer. flood: more messages came than are answered. wrong_number: a message said that the number is not theirs, and coaching is paused."`
	Since         time.Time        `json:"since"`
	Ref           string           `json:"ref,omitempty" doc:"What raised it first: an inbound message, an outbound message or a turn."`
	Code          string           `json:"code,omitempty" doc:"Error code of the carrier or the model, or why messages are held."`
}

// Page is one page, oldest first; NextCursor is null on the last.
type Page struct {
	Attention  []OpenView `json:"attention" nullable:"false"`
	NextCursor *string    `json:"next_cursor"`
}

// List returns a page of open attention.
func (r *Room) List(ctx context.Context, in *ListRequest) (Page, error) {
	query := models.AttentionQuery{Kind: in.Kind, AfterID: in.Cursor, Limit: in.Limit}
	rows, err := r.cfg.Desk.OpenAttention(ctx, query)
	page := Page{Attention: make([]OpenView, 0, len(rows))}
	if err != nil {
		return page, err
	}
	for _, row := range rows {
		page.Attention = append(page.Attention, OpenView{
			ParticipantID: row.ParticipantID, Name: row.Name, Kind: row.Kind, Since: row.RaisedAt.UTC(), Ref: row.Ref, Code: row.Code,
		})
	}
	if len(rows) < in.Limit {
		return page, nil
	}
	query.AfterID, query.Limit = rows[len(rows)-1].ID, 1
	more, err := r.cfg.Desk.OpenAttention(ctx, query)
	if err == nil && len(more) > 0 {
		cursor := strconv.FormatInt(query.AfterID, 10)
		page.NextCursor = &cursor
	}
	return page, err
}

// View is where the attention stands: none.
type View struct {
	ID        string           `json:"id"`
	Attention models.Attention `json:"attention" doc:"Empty: the participant needs no attention."`
	Version   int64            `json:"version"`
}

// Clear ends the attention of every kind. Safe to repeat. models.ErrNotFound
// for an unknown participant.
func (r *Room) Clear(ctx context.Context, in *ClearRequest) (View, error) {
	if !in.Body.Clear {
		return View{}, models.BadField("clear", "must be true")
	}
	p, err := r.cfg.Desk.ClearAttention(ctx, models.AttentionClearing{ParticipantID: in.ID, Note: in.Body.Note, Actor: r.cfg.Actor, Now: r.cfg.Now()})
	return View{ID: p.ID, Attention: p.Attention, Version: p.Version}, err
}
