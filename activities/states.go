package activities

import (
	"context"
	"time"

	"github.com/hashicorp/golang-lru/v2/expirable"

	"coachline/internal/region"
	"coachline/models"
)

// PhoneReader knows participants by their ids.
type PhoneReader interface {
	Participant(ctx context.Context, id string) (models.Participant, error)
}

// States know the states of the United States that people's numbers are from. They are safe
// for use by several goroutines; nil ones know none.
type States struct {
	people PhoneReader
	known  *expirable.LRU[string, string]
}

// A number may change, so what is known of one is asked again.
const (
	knownStates = 100_000
	stateLife   = time.Hour
)

// NewStates returns States that ask the tables.
func NewStates(people PhoneReader) *States {
	return &States{people: people, known: expirable.NewLRU[string, string](knownStates, nil, stateLife)}
}

// of returns the state of a person's number; empty for none. Where it cannot be read the
// hours of the rules alone count.
func (s *States) of(ctx context.Context, participantID string) string {
	if s == nil {
		return ""
	}
	if state, ok := s.known.Get(participantID); ok {
		return state
	}
	p, err := s.people.Participant(ctx, participantID)
	if err != nil {
		return ""
	}
	state := region.StateOf(p.Phone)
	s.known.Add(participantID, state)
	return state
}
