package relay

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"coachline/internal/metrics"
	"coachline/internal/wait"
	"coachline/models"
	"coachline/models/wire"
)

type bench struct {
	store  *rows
	engine *engine
	relay  *Relay
	now    time.Time
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{store: newRows(), engine: &engine{}, now: testNow}
	counted, err := metrics.New(metrics.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	b.relay = New(Config{
		Store: b.store.byNoun(), Engine: b.engine, Metrics: counted, Now: func() time.Time { return b.now }, Logger: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(func() { b.relay.Stop(context.Background()) })
	return b
}

func (b *bench) add(id string, list ...models.NoticeKind) {
	b.store.participants[id] = models.Participant{ID: id, Phone: id, Timezone: "UTC", Status: wire.StatusActive, Mode: wire.ModeFeedback, EnrolledAt: testNow}
	for i, kind := range list {
		ref := "7"
		if kind == models.NoticePause {
			ref = "" // it has no end
		}
		b.store.notice(id, kind, ref, int64(i), testNow)
	}
}

func (b *bench) sweep(t *testing.T, after time.Duration) {
	t.Helper()
	b.now = b.now.Add(after)
	require.NoError(t, b.relay.sweepNotices(context.Background()))
}

func TestRelayWaitsForTheOneWhoWroteIt(t *testing.T) {
	b := newBench(t)
	b.add("a", models.NoticeStart)
	b.sweep(t, 2*time.Second)
	require.Empty(t, b.engine.seen())
	b.sweep(t, 2*time.Second)
	require.Equal(t, []string{"start"}, b.engine.seen())
	b.sweep(t, time.Minute)
	require.Len(t, b.engine.seen(), 1)
}

// A sweep that takes long leaves the rest to the next one, which begins with the texts
// that came meanwhile.
func TestSweepEndsInTime(t *testing.T) {
	b := newBench(t)
	for i := range 10 * parallel {
		b.add(fmt.Sprint(i), models.NoticeResume)
	}
	var mu sync.Mutex
	clock := testNow.Add(time.Minute)
	b.relay.cfg.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); return clock }
	b.engine.fail(func(context.Context, string) error {
		mu.Lock()
		defer mu.Unlock()
		clock = clock.Add(time.Second)
		return nil
	})
	require.NoError(t, b.relay.sweepNotices(context.Background()))
	require.Less(t, len(b.engine.seen()), 3*parallel)
	require.NotZero(t, b.store.undelivered())
	for range 20 {
		require.NoError(t, b.relay.sweepNotices(context.Background()))
	}
	require.Zero(t, b.store.undelivered())
}

func TestRelayKeepsOrderAndRepairs(t *testing.T) {
	b := newBench(t)
	b.add("a", models.NoticeStart, models.NoticeMessage, models.NoticePause, models.NoticeResume, models.NoticeSend, models.NoticeUpdate)
	b.engine.fail(func(_ context.Context, call string) error {
		if call == "update:Pause" {
			return errDown
		}
		return nil
	})
	b.sweep(t, 4*time.Second)
	require.Equal(t, []string{"start", "signal", "update:Pause"}, b.engine.seen())
	require.Equal(t, []models.NoticeKind{models.NoticePause, models.NoticeResume, models.NoticeSend, models.NoticeUpdate}, b.open())
	b.engine.fail(nil)
	b.sweep(t, 5*time.Second)
	require.Equal(t, []string{"update:Pause", "update:Resume", "update:SendMessage", "update:UpdateParticipant"}, b.engine.seen()[3:])
	require.Equal(t, "n3", b.engine.updates[0].UpdateID)
	require.Equal(t, b.engine.updates[0].UpdateID, b.engine.updates[1].UpdateID, "a repeated update has the same id")
	require.Zero(t, b.store.undelivered())
}

func (b *bench) open() []models.NoticeKind {
	list, _ := b.store.PendingNotices(context.Background(), b.now, 100)
	return kinds(list)
}

func TestRelayBacksOffOneParticipantOnly(t *testing.T) {
	b := newBench(t)
	b.add("a", models.NoticePause)
	b.engine.fail(func(context.Context, string) error { return errDown })
	tries := 0
	for range 150 { // five minutes of sweeps
		before := len(b.engine.seen())
		b.sweep(t, 2*time.Second)
		tries += len(b.engine.seen()) - before
	}
	require.Less(t, tries, 12)
	require.Greater(t, tries, 5)
	b.engine.fail(nil)
	b.add("b", models.NoticeResume)
	b.sweep(t, 5*time.Minute)
	require.Zero(t, b.store.undelivered())
	require.Empty(t, b.relay.delays)
}

// The flags are those of the moment at which they are told.
func TestFlagsAreTold(t *testing.T) {
	b := newBench(t)
	b.add("a", models.NoticeStart, models.NoticeFlags)
	b.sweep(t, 4*time.Second)
	require.Equal(t, []string{"start", "update:UpdateParticipant"}, b.engine.seen())
	flags := wire.ParticipantFlags{Attention: []wire.Attention{wire.AttentionFlood}}
	require.Equal(t, []any{wire.ParticipantChanged{Flags: &flags}}, b.engine.updates[0].Args)
	require.Zero(t, b.store.undelivered())
}

func TestTellClosedWorkflows(t *testing.T) {
	for _, tc := range []struct {
		name    string
		kind    models.NoticeKind
		removed bool
		want    []string
	}{
		{"unenroll of a closed one", models.NoticeUnenroll, true, []string{"update:Unenroll"}},
		{"start of a removed one", models.NoticeStart, true, nil},
		{"text of a removed one", models.NoticeMessage, true, nil},
		{"command of a removed one", models.NoticePause, true, nil},
		{"start of a closed one", models.NoticeStart, false, []string{"start"}},
		{"command of a terminated one", models.NoticePause, false, []string{"update:Pause", "start", "update:Pause"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			b.add("a", tc.kind)
			b.store.removed["a"] = tc.removed
			failed := false
			b.engine.fail(func(_ context.Context, call string) error {
				if call == "start" {
					return serviceerror.NewWorkflowExecutionAlreadyStarted("closed", "", "")
				}
				if failed {
					return nil
				}
				failed = true
				return errGone
			})
			require.NoError(t, b.relay.Deliver(context.Background(), "a"))
			require.Equal(t, tc.want, b.engine.seen())
			require.Zero(t, b.store.undelivered())
		})
	}
}

func TestSecondLife(t *testing.T) {
	b := newBench(t)
	b.add("a")
	b.store.notice("a", models.NoticeMessage, "9", 17, testNow)
	require.NoError(t, b.relay.Deliver(context.Background(), "a"))
	require.Equal(t, wire.ParticipantState{
		ParticipantID: "a", Zone: "UTC", Status: wire.StatusActive, Mode: wire.ModeFeedback, Greeted: true, Restore: true,
		Inbox: wire.Inbox{LastSeq: 16}, Notices: wire.AppliedNotices{Counted: true}, AttributesShown: true,
	}, b.engine.states[0])
	require.Equal(t, wire.InboxItem{MessageID: 9, Seq: 17, ReceivedAt: testNow, Notice: 1}, b.engine.signals[0])
	require.Equal(t, enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY, b.engine.starts[0].WorkflowIDReusePolicy)
}

// TestAssumedZoneIsTold: every state and update says whether the zone is the
// person's own.
func TestAssumedZoneIsTold(t *testing.T) {
	for _, assumed := range []bool{true, false} {
		b := newBench(t)
		b.add("a", models.NoticeStart, models.NoticeUpdate)
		p := b.store.participants["a"]
		p.ZoneAssumed = assumed
		b.store.participants["a"] = p
		b.store.notice("a", models.NoticeMessage, "9", 17, testNow)
		require.NoError(t, b.relay.Deliver(context.Background(), "a"))
		require.Len(t, b.engine.states, 2)
		for _, state := range b.engine.states {
			require.Equal(t, assumed, state.ZoneAssumed)
		}
		require.Equal(t, []any{wire.ParticipantChanged{Zone: p.Timezone, ZoneAssumed: assumed, Status: p.Status}}, b.engine.updates[0].Args)
	}
}

func TestConsentNotices(t *testing.T) {
	for _, tc := range []struct {
		name   string
		status wire.Status
		kind   models.NoticeKind
		ref    models.ConsentMethod
		want   wire.ParticipantChanged
	}{
		{"stop", wire.StatusOptedOut, models.NoticeConsent, models.MethodKeyword, wire.ParticipantChanged{Status: wire.StatusOptedOut, Confirm: true}},
		{"wording", wire.StatusOptedOut, models.NoticeConsent, models.MethodPhrase, wire.ParticipantChanged{Status: wire.StatusOptedOut, Confirm: true}},
		{"the carrier answered", wire.StatusOptedOut, models.NoticeConsent, models.MethodCarrier, wire.ParticipantChanged{Status: wire.StatusOptedOut}},
		{"the carrier refused", wire.StatusOptedOut, models.NoticeConsent, models.MethodCarrierError, wire.ParticipantChanged{Status: wire.StatusOptedOut}},
		{"start", wire.StatusActive, models.NoticeConsent, models.MethodKeyword, wire.ParticipantChanged{Status: wire.StatusActive, Confirm: true}},
		{"help", wire.StatusActive, models.NoticeHelp, "", wire.ParticipantChanged{Help: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			b.add("a")
			p := b.store.participants["a"]
			p.Status = tc.status
			b.store.participants["a"] = p
			b.store.notice("a", tc.kind, string(tc.ref), 0, testNow)
			terminated := true
			b.engine.fail(func(_ context.Context, call string) error {
				if call == "update:UpdateParticipant" && terminated {
					terminated = false
					return errGone
				}
				return nil
			})
			require.NoError(t, b.relay.Deliver(context.Background(), "a"))
			require.Equal(t, []string{"update:UpdateParticipant", "start", "update:UpdateParticipant"}, b.engine.seen(), "a terminated workflow starts anew")
			require.Equal(t, []any{tc.want}, b.engine.updates[1].Args)
			require.Equal(t, tc.status, b.engine.states[0].Status)
			require.Zero(t, b.store.undelivered())
		})
	}
}

func TestFirstStateOfWhoOptedOut(t *testing.T) {
	b := newBench(t)
	b.add("a", models.NoticeStart)
	p := b.store.participants["a"]
	p.Status = wire.StatusOptedOut
	b.store.participants["a"] = p
	require.NoError(t, b.relay.Deliver(context.Background(), "a"))
	require.Equal(t, wire.StatusOptedOut, b.engine.states[0].Status)
	require.False(t, b.engine.states[0].Greeted)
}

// TestFirstStateSaysWhatIsShown: a workflow sets its search attributes itself
// where those that it starts with are not of its first state.
func TestFirstStateSaysWhatIsShown(t *testing.T) {
	for status, shown := range map[wire.Status]bool{wire.StatusActive: true, wire.StatusOptedOut: true, wire.StatusPaused: false} {
		b := newBench(t)
		b.add("a", models.NoticeStart)
		p := b.store.participants["a"]
		p.Status, p.Mode = status, wire.ModeIntake
		b.store.participants["a"] = p
		require.NoError(t, b.relay.Deliver(context.Background(), "a"))
		require.Equal(t, shown, b.engine.states[0].AttributesShown, status)
	}
}

func TestDeliverNamesBadNotices(t *testing.T) {
	b := newBench(t)
	b.add("a", "dance")
	require.ErrorContains(t, b.relay.Deliver(context.Background(), "a"), `unknown notice kind "dance"`)
	b.store.notices[0].Kind, b.store.notices[0].Ref = models.NoticeMessage, "x"
	require.ErrorContains(t, b.relay.Deliver(context.Background(), "a"), "does not name an inbound row")
	b.store.down = errDown
	require.ErrorIs(t, b.relay.Deliver(context.Background(), "a"), errDown)
	require.ErrorIs(t, b.relay.sweepNotices(context.Background()), errDown)
}

func TestRelayLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.relay.cfg.Now = time.Now
		b.add("a")
		b.store.notice("a", models.NoticeStart, "", 0, time.Now())
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		b.relay.Run(ctx)
		b.relay.Stop(ctx)
		require.Equal(t, []string{"list", "start"}, b.engine.seen())
	})
}

func TestPoolIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		runs := map[string]int{}
		release := make(chan struct{})
		p := newPool(func(_ context.Context, id string) error {
			mu.Lock()
			runs[id]++
			mu.Unlock()
			<-release
			return errDown
		}, slog.New(slog.DiscardHandler))
		for range 100 {
			p.addJob("a")
			synctest.Wait()
		}
		require.Equal(t, map[string]int{"a": 1}, runs, "one worker serves a participant")
		for i := range poolWorkers {
			p.addJob(fmt.Sprint("early ", i))
		}
		synctest.Wait()
		require.Len(t, runs, poolWorkers, "the others run beside it")
		for i := range 2 * poolQueue {
			p.addJob(fmt.Sprint("late ", i))
		}
		close(release)
		p.stop(context.Background())
		require.Equal(t, 2, runs["a"], "what came while it ran is looked for once more")
		require.LessOrEqual(t, len(runs), poolQueue+poolWorkers+1)
		require.Empty(t, p.known)
		p.addJob("afterwards")
		require.Empty(t, p.known)
	})
}

func TestPoolGivesUpWhenStoppingTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return ctx.Err()
		}, slog.New(slog.DiscardHandler))
		p.addJob("a")
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		began := time.Now()
		p.stop(ctx)
		require.Equal(t, time.Second, time.Since(began))
	})
}

func kinds(list []models.Notice) []models.NoticeKind {
	var out []models.NoticeKind
	for _, n := range list {
		out = append(out, n.Kind)
	}
	return out
}

// Texts of a pause go along with the resumption where an operator wants them
// answered.
func TestRelayResumesWithTexts(t *testing.T) {
	b := newBench(t)
	b.add("a", models.NoticeStart, models.NoticeResume)
	b.store.notice("a", models.NoticeResume, string(models.WaitingAnswer), 0, b.now)
	b.sweep(t, 4*time.Second)
	require.Equal(t, []any{wire.ResumeRequest{}}, b.engine.updates[0].Args)
	require.Equal(t, []any{wire.ResumeRequest{Items: []wire.InboxItem{{MessageID: 103, Seq: 1}}}}, b.engine.updates[1].Args)
}

// Many are told at once to answer texts that waited, by requests. Few of the calls are
// under way at a time, the others are left to sweeps. Texts of other people are told
// meanwhile, and what a person writes then comes after their own resumption.
func TestFewAreToldToAnswerAtATime(t *testing.T) {
	for kind, update := range map[models.NoticeKind]string{models.NoticeResume: wire.UpdateResume, models.NoticeHandBack: wire.UpdateHandBack} {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const people = 40
				b := newBench(t)
				b.relay.cfg.Now = time.Now
				var running, most atomic.Int32
				var mu sync.Mutex
				var began []time.Time
				b.engine.fail(func(_ context.Context, call string) error {
					if call == "update:"+update {
						mu.Lock()
						began = append(began, time.Now())
						mu.Unlock()
						most.Store(max(most.Load(), running.Add(1)))
						err := wait.For(t.Context(), answerPatience/16) // so long a worker takes
						running.Add(-1)
						return err
					}
					return nil
				})
				b.add("other")
				for i := range people {
					b.add(fmt.Sprint(i))
				}
				var requests sync.WaitGroup
				for i := range people {
					id := fmt.Sprint(i)
					b.store.notice(id, kind, string(models.WaitingAnswer), 0, time.Now())
					b.store.notice(id, models.NoticeMessage, "7", 1, time.Now())
					requests.Go(func() { assert.NoError(t, b.relay.Deliver(t.Context(), id)) })
				}
				synctest.Wait()
				b.store.notice("other", models.NoticeMessage, "7", 1, time.Now())
				b.relay.Later("other")
				synctest.Wait()
				require.NotNil(t, b.store.notices[2*people].DeliveredAt, "a text of someone else is told at once")
				requests.Wait()
				require.EqualValues(t, answersAtOnce, most.Load())
				for i := 0; i < 2*people; i += 2 {
					answer, text := b.store.notices[i], b.store.notices[i+1]
					require.Equal(t, answer.DeliveredAt, text.DeliveredAt, "a text is not told before what precedes it")
				}
				require.NotZero(t, b.store.undelivered())
				for range people {
					require.NoError(t, wait.For(t.Context(), defaultMinAge+defaultInterval))
					require.NoError(t, b.relay.sweepNotices(t.Context()))
				}
				require.Zero(t, b.store.undelivered())
				require.EqualValues(t, answersAtOnce, most.Load())
				require.Len(t, b.engine.updates, people, "each is told once")
				for i := answersAtOnce; i < people; i++ {
					gap := began[i].Sub(began[i-answersAtOnce])
					require.GreaterOrEqual(t, gap, (1+answerShare)*answerPatience/16, "the turns that follow have the time for themselves")
				}
			})
		})
	}
}
