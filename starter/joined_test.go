package starter

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestReadsAreJoined: fifty pages that are redrawn after one change cost one read,
// and those that come while it runs one more.
func TestReadsAreJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads, change := 0, atomic.Int64{}
		j := joined[int64]{read: func(context.Context) (int64, error) {
			reads++
			seen := change.Load()
			<-time.After(100 * time.Millisecond)
			return seen, nil
		}}
		got := make(chan int64)
		ask := func() {
			value, err := j.get(t.Context())
			require.NoError(t, err)
			got <- value
		}
		go ask()
		synctest.Wait() // The first read is under way when the change comes.
		change.Store(1)
		for range 50 {
			go ask()
		}
		require.Equal(t, int64(0), <-got)
		for range 50 {
			require.Equal(t, int64(1), <-got, "they see the change that they were told of")
		}
		require.Equal(t, 2, reads)

		ctx, leave := context.WithCancel(t.Context())
		leave()
		_, err := j.get(ctx)
		require.ErrorIs(t, err, context.Canceled)
		synctest.Wait()
		j.read = func(context.Context) (int64, error) { return 0, errors.New("away") }
		<-time.After(time.Second)
		_, err = j.get(t.Context())
		require.ErrorContains(t, err, "away")
	})
}
