package activities

import (
	"context"
	"time"

	"coachline/models/wire"
)

// StandingActivities change who writes to a person.
type StandingActivities struct {
	TakeOvers TakeOvers
	People    People
}

// EndTakeOver ends a take-over that no operator has ended, and returns when it is
// to end instead where one has put that off. Safe to retry.
func (s *StandingActivities) EndTakeOver(ctx context.Context, in wire.TakeOverEnd) (time.Time, error) {
	until, err := s.TakeOvers.ExpireTakeOver(ctx, in)
	return until, toTemporalError(err)
}

// EndPause resumes a participant whose pause has come to its end, and returns when
// it is to end instead where an operator has put that off. Safe to retry.
func (s *StandingActivities) EndPause(ctx context.Context, in wire.PauseEnd) (time.Time, error) {
	until, err := s.People.ExpirePause(ctx, in)
	return until, toTemporalError(err)
}
