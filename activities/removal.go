package activities

import (
	"context"
	"errors"

	"coachline/models"
	"coachline/models/wire"
)

// RemovalActivities removes participants whose workflow was asked to end.
type RemovalActivities struct{ Store People }

// removalActor is who the audit names for a removal through Temporal, which does
// not say who asked.
const removalActor = "temporal"

// RemoveParticipant takes a participant out of the programme in the database.
// One that was removed before is left as it is, so it is safe to retry.
func (r *RemovalActivities) RemoveParticipant(ctx context.Context, in wire.RemoveParticipantInput) error {
	err := r.Store.RemoveParticipant(ctx, in.ParticipantID, removalActor, in.Now)
	if errors.Is(err, models.ErrNotFound) {
		return nil
	}
	return toTemporalError(err)
}
