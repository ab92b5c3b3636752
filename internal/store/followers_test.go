package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
)

// TestFiftyFollowersCostWhatOneDoes: each of 50 viewers hears of a text, and the
// database is asked no more for 50 than for one.
func TestFiftyFollowersCostWhatOneDoes(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		require.NoError(t, w.Close())
		var seen statements
		w = seen.watch(t, store.Config{URL: w.url})
		changes := store.NewChanges(w.Store, time.Now)
		told := func(follower <-chan string, id string) {
			t.Helper()
			for {
				select {
				case got := <-follower:
					if got == id {
						return
					}
				case <-time.After(20 * time.Second):
					require.Fail(t, "no change came")
				}
			}
		}
		var followers []<-chan string
		follow := func(count int) {
			for len(followers) < count {
				follower, err := changes.Follow(t.Context())
				require.NoError(t, err)
				followers = append(followers, follower)
				told(follower, "*")
			}
		}
		// Polls are as many as the time that passes makes them.
		cost := func(number int, at int) (count int) {
			seen.mu.Lock()
			seen.sent = nil
			seen.mu.Unlock()
			began := time.Now()
			w.inbound("SM"+strings.Repeat("1", number), at, "hello")
			committed := time.Now()
			var took []time.Duration
			for _, follower := range followers {
				told(follower, "p1")
				took = append(took, time.Since(committed))
			}
			t.Logf("%d viewers: the last heard of it %s after the commit, which took %s", len(followers), slices.Max(took).Round(time.Millisecond), committed.Sub(began).Round(time.Millisecond))
			seen.mu.Lock()
			defer seen.mu.Unlock()
			for _, sent := range seen.sent {
				if !strings.Contains(sent, "changes") && !strings.Contains(sent, "change_viewers") {
					count++
				}
			}
			return count
		}
		follow(1)
		told(followers[0], "*") // the connection and the viewer's row, the one that comes first
		told(followers[0], "*")
		require.Eventually(t, func() bool { return w.count("SELECT count(*) FROM change_viewers") == 1 }, 20*time.Second, 5*time.Millisecond)
		one := cost(1, 1)
		follow(50)
		require.Equal(t, one, cost(2, 2))
	})
}
