package starter

import (
	"context"

	"coachline/models"
)

// waitingStore lists the texts of a pause.
type waitingStore interface {
	WaitingMessages(ctx context.Context, participantID string) ([]models.WaitingMessage, error)
}

// waiting lists the texts that came while a participant was paused. An operator
// has them answered or marks them as read with waiting_messages of an update.
func (f *front) waiting(ctx context.Context, in *byID) (*answer[[]models.WaitingMessage], error) {
	list, err := f.store.WaitingMessages(ctx, in.ID)
	if err != nil {
		return nil, f.refuse("listing waiting messages", err)
	}
	return newAnswer("", list), nil
}
