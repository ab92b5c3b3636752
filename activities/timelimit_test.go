package activities

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"coachline/models/wire"
)

var errAway = errors.New("away")

// attempt is one attempt of an activity with a time limit of three minutes.
type attempt struct {
	before time.Duration // as the last heartbeat said; 0: none
	worked time.Duration
	err    error
}

// run returns what the attempt's last heartbeat said and its error.
func (a attempt) run(t *testing.T) (spent time.Duration, err error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	if a.before > 0 {
		env.SetHeartbeatDetails(timeSpent{Spent: a.before})
	}
	var last timeSpent
	env.SetOnActivityHeartbeatListener(func(_ *activity.Info, details converter.EncodedValues) {
		require.NoError(t, details.Get(&last))
	})
	work := func(ctx context.Context) error {
		now := time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)
		limit := startTimeLimit(ctx, 3*time.Minute, func() time.Time { return now })
		if limit.died {
			return errors.New("no attempt died before the first")
		}
		ctx, cancel := limit.limitContext(ctx)
		defer cancel()
		if left, ok := ctx.Deadline(); !ok || (time.Until(left)-3*time.Minute+a.before).Abs() > 5*time.Second {
			return errors.New("the attempt is not bounded")
		}
		now = now.Add(a.worked)
		return limit.limitError(ctx, a.err)
	}
	env.RegisterActivity(work)
	_, err = env.ExecuteActivity(work)
	return last.Spent, err
}

// TestTimeLimitCountsWorkOnly: what counts is the time that attempts took and the
// pauses between them, regardless of the time that passed without a worker.
func TestTimeLimitCountsWorkOnly(t *testing.T) {
	busy := temporal.NewApplicationErrorWithOptions("busy", wire.ErrTypeModelBusy, temporal.ApplicationErrorOptions{NextRetryDelay: 40 * time.Second})
	for name, tt := range map[string]struct {
		attempt
		final bool
		spent time.Duration
	}{
		"the first one fails at once":       {attempt{err: errAway}, false, wire.FirstPause},
		"an attempt that hung":              {attempt{worked: 75 * time.Second, err: errAway}, false, 75*time.Second + wire.FirstPause},
		"the model says when":               {attempt{err: busy}, false, 40 * time.Second},
		"the model says too late":           {attempt{before: 150 * time.Second, err: busy}, true, 0},
		"earlier attempts count":            {attempt{before: 100 * time.Second, worked: 10 * time.Second, err: errAway}, false, 110*time.Second + wire.FirstPause},
		"the limit is reached":              {attempt{before: 170 * time.Second, worked: 9900 * time.Millisecond, err: errAway}, true, 0},
		"what is final already stays final": {attempt{err: temporal.NewNonRetryableApplicationError("no", wire.ErrTypeModelRefused, nil)}, true, 0},
		"an answer":                         {attempt{before: 179 * time.Second}, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			spent, err := tt.run(t)
			require.Equal(t, tt.spent, spent)
			if tt.err == nil {
				require.NoError(t, err)
				return
			}
			var app *temporal.ApplicationError
			require.ErrorAs(t, err, &app)
			require.Equal(t, tt.final, app.NonRetryable(), app)
		})
	}
}

func TestRetryPause(t *testing.T) {
	const first = wire.FirstPause
	policy := &temporal.RetryPolicy{InitialInterval: first, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second}
	for n, want := range map[int32]time.Duration{1: first, 2: 2 * first, 5: 16 * first, 8: 30 * time.Second, 40: 30 * time.Second} {
		require.Equal(t, want, retryPause(activity.Info{Attempt: n, RetryPolicy: policy}), n)
		require.Equal(t, want, retryPause(activity.Info{Attempt: n}), n)
		unbounded := &temporal.RetryPolicy{InitialInterval: first, BackoffCoefficient: 2}
		require.Equal(t, min(100*first, first<<(min(n, 20)-1)), retryPause(activity.Info{Attempt: n, RetryPolicy: unbounded}), n)
	}
}

// A slow model is given longer attempts and more of them, up to the workflow's limit.
func TestLimitsGrowWithTheModelsTimeout(t *testing.T) {
	for name, tt := range map[string]struct{ timeout, limit, attempt time.Duration }{
		"not set":  {0, 3 * time.Minute, 75 * time.Second},
		"usual":    {time.Minute, 3 * time.Minute, 75 * time.Second},
		"slow":     {3 * time.Minute, 9 * time.Minute, 225 * time.Second},
		"slower":   {7 * time.Minute, 21 * time.Minute, 525 * time.Second},
		"hurrying": {20 * time.Second, time.Minute, 25 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestActivityEnvironment()
			work := func(ctx context.Context) error {
				limit := startModelLimit(ctx, 3*time.Minute, modelAttempt, tt.timeout, time.Now)
				require.Equal(t, tt.limit, limit.limit)
				ctx, cancel := limit.limitContext(ctx)
				defer cancel()
				ends, bounded := ctx.Deadline()
				require.True(t, bounded)
				require.WithinDuration(t, time.Now().Add(tt.attempt), ends, 5*time.Second)
				return nil
			}
			env.RegisterActivity(work)
			_, err := env.ExecuteActivity(work)
			require.NoError(t, err)
		})
	}
}
