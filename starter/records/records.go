// Package records shows operators why the coach said what it said: turns with
// all their stages, the consent ledger, and what is remembered of a person. The
// starter mounts its methods as routes and turns their errors into answers.
package records

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coachline/internal/api"
	"coachline/models"
)

// Turns reads what is kept of turns.
type Turns interface {
	Turns(ctx context.Context, q models.TurnQuery) ([]models.TurnTotals, error)
	Turn(ctx context.Context, participantID string, number int) (models.TurnRecord, error)
}

// Ledger reads the consent ledger.
type Ledger interface {
	Consents(ctx context.Context, participantID string) ([]models.Consent, error)
}

// Memory reads what is remembered of a person.
type Memory interface {
	Recall(ctx context.Context, participantID string) (models.Memory, error)
	Notes(ctx context.Context, participantID string, n int) ([]models.Note, error)
	History(ctx context.Context, participantID, factID string) ([]models.FactVersion, error)
}

// Eraser forgets.
type Eraser interface {
	Forget(ctx context.Context, f models.Forgetting) error
	ForgetAll(ctx context.Context, f models.Forgetting) (int, error)
}

// Config holds the dependencies of a Room; all of them are required.
type Config struct {
	Turns    Turns
	Ledger   Ledger
	Memory   Memory
	Eraser   Eraser
	Profiles Profiles
}

// Room answers operators' questions about the past. It is safe for concurrent
// use.
type Room struct {
	cfg Config
	now func() time.Time
}

// mostNotes is how many daily notes are shown: those of a year.
const mostNotes = 366

// actor is who is named as the one who had something forgotten.
const actor = "operator"

// New builds a Room; now gives the present instant.
func New(cfg Config, now func() time.Time) (*Room, error) {
	if cfg.Turns == nil || cfg.Ledger == nil || cfg.Memory == nil || cfg.Eraser == nil || cfg.Profiles == nil {
		return nil, errors.New("records need turns, a ledger, a memory and its eraser, and profiles")
	}
	return &Room{cfg: cfg, now: now}, nil
}

// TurnsRequest selects a page of turns.
type TurnsRequest struct {
	ID     string `path:"id" maxLength:"64"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"20"`
	Before int    `query:"before" minimum:"1" doc:"Only turns with a smaller number; next_before of the page before."`
}

// Turns lists a participant's turns, newest first. models.ErrNotFound for a
// participant who is unknown or removed.
func (r *Room) Turns(ctx context.Context, in *TurnsRequest) (api.TurnPage, error) {
	rows, err := r.cfg.Turns.Turns(ctx, models.TurnQuery{ParticipantID: in.ID, Before: in.Before, Limit: in.Limit + 1})
	if err != nil {
		return api.TurnPage{}, fmt.Errorf("listing turns: %w", err)
	}
	page := api.TurnPage{Turns: make([]api.TurnSummary, 0, len(rows))}
	if len(rows) > in.Limit {
		rows = rows[:in.Limit]
		page.NextBefore = &rows[in.Limit-1].Turn.Number
	}
	for _, row := range rows {
		page.Turns = append(page.Turns, summaryOf(row))
	}
	return page, nil
}

// TurnRequest names a turn.
type TurnRequest struct {
	ID     string `path:"id" maxLength:"64"`
	Number int    `path:"number" minimum:"0" doc:"Number of the turn; the end of its id."`
}

// Turn shows everything that is known of a turn, redacted as it was stored.
// models.ErrNotFound for a turn or a person unknown, and after removal.
func (r *Room) Turn(ctx context.Context, in *TurnRequest) (api.Turn, error) {
	record, err := r.cfg.Turns.Turn(ctx, in.ID, in.Number)
	if err != nil {
		return api.Turn{}, fmt.Errorf("reading a turn: %w", err)
	}
	out, err := turnOf(record)
	if err != nil {
		return api.Turn{}, fmt.Errorf("reading turn %s: %w", record.Totals.Turn.ID, err)
	}
	return out, nil
}

// PersonRequest names a participant.
type PersonRequest struct {
	ID string `path:"id" maxLength:"64"`
}

// Consents shows a person's consent ledger, oldest entry first, after removal
// too. models.ErrNotFound for an id that was never known.
func (r *Room) Consents(ctx context.Context, in *PersonRequest) ([]api.Consent, error) {
	rows, err := r.cfg.Ledger.Consents(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("reading the consent ledger: %w", err)
	}
	return consentsOf(rows), nil
}

// Memories shows what is remembered of a person: facts with what they said
// before, the notes of a year, the summary. models.ErrNotFound for a
// participant who is unknown or removed.
func (r *Room) Memories(ctx context.Context, in *PersonRequest) (api.Memory, error) {
	known, histories, err := r.recall(ctx, in.ID, mostNotes)
	if err != nil {
		return api.Memory{}, err
	}
	return memoryOf(known, histories), nil
}

// recall reads all facts with their versions, at most so many notes, and the
// summary.
func (r *Room) recall(ctx context.Context, id string, notes int) (models.Memory, map[string][]models.FactVersion, error) {
	known, err := r.cfg.Memory.Recall(ctx, id)
	if err != nil {
		return models.Memory{}, nil, fmt.Errorf("reading memories: %w", err)
	}
	if known.Notes, err = r.cfg.Memory.Notes(ctx, id, notes); err != nil {
		return models.Memory{}, nil, fmt.Errorf("reading notes: %w", err)
	}
	histories := map[string][]models.FactVersion{}
	for _, fact := range known.Facts {
		if fact.Version == 1 {
			continue
		}
		versions, err := r.cfg.Memory.History(ctx, id, fact.ID)
		if err != nil && !errors.Is(err, models.ErrNotFound) { // forgotten a moment ago
			return models.Memory{}, nil, fmt.Errorf("reading the history of a fact: %w", err)
		}
		histories[fact.ID] = versions
	}
	return known, histories, nil
}

// FactRequest names a fact.
type FactRequest struct {
	ID   string `path:"id" maxLength:"64"`
	Fact string `path:"fact" maxLength:"20" pattern:"^f[0-9]+$" doc:"Id of the fact, such as f3."`
}

// Forget erases one fact in all its versions, for people who were removed too;
// audited. A repeat changes nothing. models.ErrNotFound for a fact that this
// person never had.
func (r *Room) Forget(ctx context.Context, in *FactRequest) (api.Forgotten, error) {
	err := r.cfg.Eraser.Forget(ctx, models.Forgetting{ParticipantID: in.ID, FactID: in.Fact, Actor: actor, At: r.now()})
	if err != nil {
		return api.Forgotten{}, fmt.Errorf("forgetting a fact: %w", err)
	}
	return api.Forgotten{Facts: 1}, nil
}

// ForgetAll erases all facts, notes and the summary of a person, removed or
// not; audited. A repeat changes nothing. models.ErrNotFound for an unknown id.
func (r *Room) ForgetAll(ctx context.Context, in *PersonRequest) (api.Forgotten, error) {
	facts, err := r.cfg.Eraser.ForgetAll(ctx, models.Forgetting{ParticipantID: in.ID, Actor: actor, At: r.now()})
	if err != nil {
		return api.Forgotten{}, fmt.Errorf("forgetting everything: %w", err)
	}
	return api.Forgotten{Facts: facts}, nil
}
