package worker

import (
	"context"
	"time"

	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

// memoryQueue queues finished turns; the starters' sweep has their conversations
// closed in batches, once they have rested.
type memoryQueue struct {
	rows *store.MemoryQueue
	rest time.Duration
	now  func() time.Time
}

// Remember implements activities.Background.
func (q memoryQueue) Remember(ctx context.Context, in wire.RememberInput) error {
	return q.rows.QueueMemory(ctx, models.MemoryJob{TurnID: in.TurnID, ParticipantID: in.ParticipantID, QueuedAt: q.now()}, q.rest)
}
