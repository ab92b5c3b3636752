package relay

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

// text adds a text's notice and returns it.
func (b *bench) text(id string, seq int64) models.Notice {
	b.store.notice(id, models.NoticeMessage, "9", seq, b.now)
	return b.store.notices[len(b.store.notices)-1]
}

func failing(call string, err error) func(context.Context, string) error {
	return func(_ context.Context, seen string) error {
		if seen == call {
			return err
		}
		return nil
	}
}

// TestTextToRunningWorkflow: a text that is alone is signalled without a start, and
// nothing is read for it.
func TestTextToRunningWorkflow(t *testing.T) {
	b := newBench(t)
	b.add("a")
	n := b.text("a", 17)
	b.relay.LaterText(n)
	b.relay.Stop(context.Background())
	require.Equal(t, []string{"signal running"}, b.engine.seen())
	require.Equal(t, []models.MessageReceived{{MessageID: 9, Seq: 17, ReceivedAt: testNow, Notice: 1}}, b.engine.signals)
	require.Zero(t, b.store.undelivered())
	require.Zero(t, b.store.reads)
}

// TestTextToClosedWorkflow: a closed workflow begins again as before, with the
// sequence number of the text, and not for a participant who has left.
func TestTextToClosedWorkflow(t *testing.T) {
	for removed, want := range map[bool][]string{false: {"signal running", "signal"}, true: {"signal running"}} {
		b := newBench(t)
		b.add("a")
		n := b.text("a", 17)
		b.store.removed["a"] = removed
		b.engine.fail(failing("signal running", errGone))
		b.relay.LaterText(n)
		b.relay.Stop(context.Background())
		require.Equal(t, want, b.engine.seen())
		require.Zero(t, b.store.undelivered())
		if !removed {
			require.Equal(t, int64(16), b.engine.states[0].Inbox.LastSeq)
			require.Equal(t, b.engine.signals[0], b.engine.signals[1], "the same text")
		}
	}
}

// TestTextWithoutAnAnswer: a signal of unknown outcome is not followed by a start; a
// sweep tells it again under the same number.
func TestTextWithoutAnAnswer(t *testing.T) {
	b := newBench(t)
	b.add("a")
	n := b.text("a", 17)
	b.engine.fail(failing("signal running", errDown))
	require.ErrorIs(t, b.relay.deliverText(context.Background(), n), errDown)
	require.Equal(t, []string{"signal running"}, b.engine.seen())
	require.Equal(t, 1, b.store.undelivered())
	b.sweep(t, 4*time.Second)
	require.Equal(t, []string{"signal running", "signal"}, b.engine.seen())
	require.Equal(t, b.engine.signals[0], b.engine.signals[1])
	require.Zero(t, b.store.undelivered())
}

// TestTextThatWaitedIsReadAgain: a text that is as old as what a sweep takes is no
// longer told from memory.
func TestTextThatWaitedIsReadAgain(t *testing.T) {
	b := newBench(t)
	b.add("a")
	n := b.text("a", 17)
	b.now = b.now.Add(4 * time.Second)
	b.sweep(t, 0)
	require.NoError(t, b.relay.deliverText(context.Background(), n))
	require.Equal(t, []string{"signal"}, b.engine.seen(), "by the sweep alone")
}

// TestTextBesideOtherJobs: a text is told from memory only where no other delivery of
// the participant's is asked for before it is.
func TestTextBesideOtherJobs(t *testing.T) {
	one, two := models.Notice{ID: 1, ParticipantID: "a"}, models.Notice{ID: 2, ParticipantID: "a"}
	for _, tc := range []struct {
		name   string
		before func(p *pool) // the job is run
		during func(p *pool)
		want   []int64 // notices told from memory, 0 for a read
	}{
		{"alone", func(p *pool) { p.addText(one) }, nil, []int64{1}},
		{"then another", func(p *pool) { p.addText(one); p.addJob("a") }, nil, []int64{0}},
		{"after another", func(p *pool) { p.addJob("a"); p.addText(one) }, nil, []int64{0}},
		{"two", func(p *pool) { p.addText(one); p.addText(two) }, nil, []int64{0}},
		{"two and another", func(p *pool) { p.addText(one); p.addJob("a"); p.addText(two) }, nil, []int64{0}},
		{"while another runs", func(p *pool) { p.addJob("a") }, func(p *pool) { p.addText(one) }, []int64{0, 0}},
		{"while it runs", func(p *pool) { p.addText(one) }, func(p *pool) { p.addText(two) }, []int64{1, 0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var told []int64
				release := make(chan struct{})
				p := newPool(func(_ context.Context, id string, text *models.Notice) error {
					<-release
					if id != "a" {
						return nil
					}
					mu.Lock()
					defer mu.Unlock()
					told = append(told, 0)
					if text != nil {
						told[len(told)-1] = text.ID
					}
					return nil
				}, slog.New(slog.DiscardHandler))
				for i := range poolWorkers {
					if tc.during == nil || i > 0 { // every worker is busy, or one is free
						p.addJob(string(rune('A' + i)))
					}
				}
				synctest.Wait()
				tc.before(p)
				synctest.Wait()
				if tc.during != nil {
					tc.during(p)
				}
				close(release)
				p.stop(context.Background())
				require.Equal(t, tc.want, told)
				require.Empty(t, p.texts)
			})
		})
	}
}
