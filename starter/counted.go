package starter

import (
	"context"

	"coachline/internal/metrics"
	"coachline/models"
)

// countedRows is the store as the starter uses it; what a metric exists for is
// counted once it is stored.
type countedRows struct {
	FrontStore
	metrics *metrics.Metrics
}

// AcceptInbound counts the text and what it meant for consent.
func (r countedRows) AcceptInbound(ctx context.Context, in models.Inbound) (models.AcceptedInbound, error) {
	accepted, err := r.FrontStore.AcceptInbound(ctx, in)
	if err == nil {
		r.metrics.Text(accepted)
	}
	return accepted, err
}

// AcceptStatus counts the carrier's report that a participant opted out.
func (r countedRows) AcceptStatus(ctx context.Context, report models.StatusCallback) (bool, error) {
	found, err := r.FrontStore.AcceptStatus(ctx, report)
	if found && report.Class == models.CarrierConsent {
		r.metrics.Consent(models.ConsentOptOut, models.MethodCarrierError)
	}
	return found, err
}
