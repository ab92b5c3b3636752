package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"coachline/models"
	"coachline/models/wire"
)

// timeLimit bounds an activity by the time that workers spend on it: attempts
// and the pauses between them. Time in the queue does not count, so that an
// activity that had no worker for minutes is not given up when it gets one,
// which is what a schedule-to-close timeout would do. What was spent is carried
// from attempt to attempt by the heartbeat's details; an attempt that dies with
// its worker loses what it spent since its last heartbeat.
type timeLimit struct {
	limit, before time.Duration
	// attempt bounds this attempt; 0 is no bound.
	attempt time.Duration
	started time.Time
	now     func() time.Time
	// died: the attempt before this one did not come to its end.
	died bool
}

// timeSpent is the heartbeat's detail.
type timeSpent struct {
	Spent time.Duration `json:"spent"`
	// Ended is the newest attempt that ended.
	Ended int32 `json:"ended,omitempty"`
}

// startTimeLimit begins an attempt. A limit of zero sets none.
func startTimeLimit(ctx context.Context, limit time.Duration, now func() time.Time) *timeLimit {
	if now == nil {
		now = time.Now
	}
	l := &timeLimit{limit: limit, started: now(), now: now}
	var last timeSpent
	if activity.HasHeartbeatDetails(ctx) && activity.GetHeartbeatDetails(ctx, &last) == nil {
		l.before = last.Spent
	}
	l.died = activity.GetInfo(ctx).Attempt > last.Ended+1
	return l
}

// totalSpent returns the time of earlier attempts and of this one so far.
func (l *timeLimit) totalSpent() time.Duration { return l.before + l.now().Sub(l.started) }

// recordHeartbeat reports that the attempt goes on and what was spent so far.
func (l *timeLimit) recordHeartbeat(ctx context.Context) {
	activity.RecordHeartbeat(ctx, timeSpent{Spent: l.totalSpent()})
}

// Time that one attempt may take for models.UsualModelTimeout: a call of a model with the
// stages before it, and a tool, which may call one.
const (
	modelAttempt = 75 * time.Second
	toolAttempt  = 90 * time.Second
)

// startModelLimit begins an attempt that waits for a model: limit and attempt are told for
// models.UsualModelTimeout.
func startModelLimit(ctx context.Context, limit, attempt, timeout time.Duration, now func() time.Time) *timeLimit {
	l := startTimeLimit(ctx, models.InProportion(limit, timeout), now)
	l.attempt = models.InProportion(attempt, timeout)
	return l
}

func (l *timeLimit) limitContext(ctx context.Context) (context.Context, context.CancelFunc) {
	left := l.limit - l.before
	switch {
	case l.limit > 0 && (l.attempt <= 0 || left < l.attempt):
		return context.WithTimeout(ctx, left)
	case l.attempt > 0:
		return context.WithTimeout(ctx, l.attempt)
	}
	return context.WithCancel(ctx)
}

// limitError turns the error of an attempt into the final one when the pause
// before the next attempt would reach the limit, and otherwise carries what was
// spent to the next attempt. err is in the form that Temporal retries by.
func (l *timeLimit) limitError(ctx context.Context, err error) error {
	var app *temporal.ApplicationError
	isApp := errors.As(err, &app)
	if err == nil || isApp && app.NonRetryable() {
		return err
	}
	ended := timeSpent{Spent: l.totalSpent(), Ended: activity.GetInfo(ctx).Attempt}
	if l.limit <= 0 {
		activity.RecordHeartbeat(ctx, ended)
		return err
	}
	pause := retryPause(activity.GetInfo(ctx))
	if isApp && app.NextRetryDelay() > 0 {
		pause = app.NextRetryDelay()
	}
	ended.Spent += pause
	if ended.Spent >= l.limit {
		return temporal.NewNonRetryableApplicationError(
			fmt.Sprintf("no result within %s of attempts: %v", l.limit, err), wire.ErrTypeTimeLimit, err)
	}
	activity.RecordHeartbeat(ctx, ended)
	return err
}

// usualRetries is assumed where the server does not say how it retries; it is
// what the workflows ask for.
var usualRetries = temporal.RetryPolicy{InitialInterval: wire.FirstPause, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second}

// retryPause returns how long the server waits before the next attempt.
func retryPause(info activity.Info) time.Duration {
	policy := info.RetryPolicy
	if policy == nil {
		policy = &usualRetries
	}
	pause := policy.InitialInterval
	longest := cmp.Or(policy.MaximumInterval, 100*pause) // The server's own.
	for range info.Attempt - 1 {
		pause = min(time.Duration(float64(pause)*policy.BackoffCoefficient), longest)
	}
	return pause
}
