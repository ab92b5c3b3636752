package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"coachline/models"
	"coachline/models/wire"
)

// Deleter has the carrier delete messages; its errors are *models.CarrierError.
type Deleter interface {
	Delete(ctx context.Context, providerSID string, hasMedia bool) error
}

// ErasureActivities has the carrier delete the messages of people who are erased.
type ErasureActivities struct {
	Store   Erasures
	Carrier Deleter
	Now     func() time.Time
}

const (
	// erasurePage is how many messages one activity deletes.
	erasurePage = 50
	// quietAttempts fail without an operator being called.
	quietAttempts = 3
)

// EraseCopies has the carrier delete some of a person's messages. A message that
// it refuses to delete now holds up no other; the activity fails then, and is
// repeated until none is left. Safe to retry.
func (e *ErasureActivities) EraseCopies(ctx context.Context, in wire.EraseCopiesInput) error {
	defer startHeartbeat(ctx)()
	copies, err := e.Store.CarrierCopies(ctx, in.ParticipantID, erasurePage)
	if err != nil {
		return err
	}
	var failed error
	for _, c := range copies {
		err := e.eraseCopy(ctx, in.ParticipantID, c)
		if err == nil {
			continue
		}
		failed = err
		var refused *models.CarrierError
		if !errors.As(err, &refused) || refused.Class != models.CarrierContent {
			break // the others would fail alike
		}
	}
	if failed == nil {
		return nil
	}
	return errors.Join(failed, e.tell(ctx, in.ParticipantID, failed, activity.GetInfo(ctx).Attempt))
}

// tell records a failure that has lasted for some attempts.
func (e *ErasureActivities) tell(ctx context.Context, participantID string, failed error, attempt int32) error {
	if attempt <= quietAttempts {
		return nil
	}
	return e.Store.NoteErasureProblem(ctx, participantID, failed.Error(), e.Now())
}

func (e *ErasureActivities) eraseCopy(ctx context.Context, participantID string, c models.CarrierCopy) error {
	if err := e.Carrier.Delete(ctx, c.ProviderSID, c.HasMedia); err != nil {
		return fmt.Errorf("deleting %s of %s: %w", c.RowID, c.Table, err)
	}
	return e.Store.CopyErased(ctx, participantID, c)
}
