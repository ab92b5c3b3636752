package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"coachline/internal/metrics"
	"coachline/models"
	"coachline/models/wire"
)

// Reporter returns the status of a text that the carrier has taken.
type Reporter interface {
	Fetch(ctx context.Context, providerSID string) (models.StatusCallback, error)
}

// ReconcileActivities asks the carrier about texts whose status callbacks were
// lost.
type ReconcileActivities struct {
	Store   Outbox
	Carrier Reporter
	Now     func() time.Time
	// Metrics may be nil; then nothing is counted.
	Metrics *metrics.Metrics
}

// Bounds of one reconciliation. Younger texts may still be reported by
// callback; of older ones the carrier keeps nothing that would help.
const (
	unsettledFor  = time.Hour
	unsettledMost = 7 * 24 * time.Hour
	unsettledPage = 100
)

// Reconcile asks the carrier about every text that stayed unfinished for an
// hour and records the answers. Safe to retry: answers only move a text up.
func (r *ReconcileActivities) Reconcile(ctx context.Context) (wire.ReconcileResult, error) {
	sum, err := r.settleRows(ctx)
	r.Metrics.Reconciled(sum, err)
	return sum, err
}

func (r *ReconcileActivities) settleRows(ctx context.Context) (wire.ReconcileResult, error) {
	var sum wire.ReconcileResult
	now := r.Now()
	q := models.UnsettledQuery{Before: now.Add(-unsettledFor), After: now.Add(-unsettledMost), Limit: unsettledPage}
	for {
		rows, err := r.Store.Unsettled(ctx, q)
		if err != nil {
			return sum, fmt.Errorf("listing unsettled texts: %w", err)
		}
		for _, row := range rows {
			activity.RecordHeartbeat(ctx, row.ID)
			changed, err := r.settleRow(ctx, row, now)
			if err != nil {
				return sum, err
			}
			sum.Checked++
			if changed {
				sum.Settled++
			}
			q.AfterID = row.ID
		}
		if len(rows) < unsettledPage {
			return sum, nil
		}
	}
}

// settleRow asks the carrier about one text. One that the carrier will not
// speak of is left as it is; a carrier that is away ends the attempt.
func (r *ReconcileActivities) settleRow(ctx context.Context, row models.Outbox, now time.Time) (bool, error) {
	report, err := r.Carrier.Fetch(ctx, row.ProviderSID)
	var refused *models.CarrierError
	if errors.As(err, &refused) && refused.Class == models.CarrierAccount {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("asking about %s: %w", row.ID, err)
	}
	report.OutboxID, report.At = row.ID, now
	if !report.Status.Supersedes(row.Status) {
		return false, nil
	}
	found, err := r.Store.AcceptStatus(ctx, report)
	if err != nil {
		return false, fmt.Errorf("recording %s: %w", row.ID, err)
	}
	if found && report.Class.Spec().OptsOut {
		r.Metrics.Consent(models.ConsentOptOut, models.MethodCarrierError)
	}
	return true, nil
}
