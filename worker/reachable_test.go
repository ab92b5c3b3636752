package worker

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
)

// TestWaitUntilReachable: the worker waits while Temporal is away, and stops for
// what it refuses.
func TestWaitUntilReachable(t *testing.T) {
	refusal := serviceerror.NewNamespaceNotFound("nowhere")
	away := fmt.Errorf("listing search attributes: %w", serviceerror.NewUnavailable("connection refused"))
	for name, tt := range map[string]struct {
		answers []error
		want    error
		took    time.Duration
		logged  int
	}{
		"there":            {answers: []error{nil}},
		"away for a while": {answers: []error{away, context.DeadlineExceeded, serviceerror.NewDeadlineExceeded("slow"), nil}, took: 3 * reachPause, logged: 1},
		"refused":          {answers: []error{away, refusal}, want: refusal, took: reachPause, logged: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, asked := time.Now(), 0
				var log strings.Builder
				err := waitUntilReachable(t.Context(), func(context.Context) error {
					asked++
					return tt.answers[asked-1]
				}, slog.New(slog.NewTextHandler(&log, nil)))
				require.Equal(t, tt.want, err)
				require.Equal(t, len(tt.answers), asked)
				require.Equal(t, tt.took, time.Since(began))
				require.Equal(t, tt.logged, strings.Count(log.String(), "Temporal is unreachable"))
			})
		})
	}
	t.Run("stopped meanwhile", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			err := waitUntilReachable(ctx, func(context.Context) error { return away }, slog.New(slog.DiscardHandler))
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
	})
}
