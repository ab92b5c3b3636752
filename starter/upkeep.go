package starter

import (
	"context"
	"log/slog"
	"time"

	"coachline/internal/metrics"
	"coachline/models"
)

// upkeepEvery is how often the audit is checked and expired sessions are removed.
// The first time is when the server starts.
const upkeepEvery = 24 * time.Hour

// dailyChecks is what a server does once a day. Every replica does it, but the whole
// audit is checked by one of them.
type dailyChecks struct {
	// checkNew checks the audit, and expireSessions removes sessions that ended by an
	// instant.
	checkNew       func(ctx context.Context, now time.Time) (models.AuditChain, error)
	expireSessions func(ctx context.Context, at time.Time) error

	metrics *metrics.Metrics
	log     *slog.Logger
	now     func() time.Time
}

// run works until ctx ends.
func (u dailyChecks) run(ctx context.Context) {
	ticker := time.NewTicker(upkeepEvery)
	defer ticker.Stop()
	for {
		u.checkAudit(ctx)
		if err := u.expireSessions(ctx, u.now()); err != nil && ctx.Err() == nil {
			u.log.Warn("removing expired sessions failed, the next try is in a day", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// checkAudit logs and counts whether the audit is as it was written. The head in
// the log proves later that no newer row was cut off.
func (u dailyChecks) checkAudit(ctx context.Context) {
	chain, err := u.checkNew(ctx, u.now())
	switch {
	case ctx.Err() != nil:
	case err != nil:
		u.metrics.AuditChecked(metrics.AuditUnknown)
		u.log.Error("checking the audit failed, the next try is in a day", "error", err)
	case chain.BrokenAt != 0:
		u.metrics.AuditChecked(metrics.AuditBroken)
		u.log.Error("the audit is broken: a row was changed or taken out; compare with a backup", "row", chain.BrokenAt, "problem", chain.Problem)
	default:
		u.metrics.AuditChecked(metrics.AuditWhole)
		u.log.Info("audit chain verified", "rows", chain.Rows, "whole", chain.Whole, "erased", chain.Erased, "head", chain.Head)
	}
}
