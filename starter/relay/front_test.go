package relay

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"coachline/models"
	"coachline/models/wire"
)

func (b *bench) hint(id string) {
	b.store.hints = append(b.store.hints, models.Hint{ID: id, CreatedAt: testNow})
}

func TestHintsLeftOverAreTold(t *testing.T) {
	b := newBench(t)
	b.hint("hint-1-2026-11-24")
	require.NoError(t, b.relay.sweepHints(context.Background()))
	require.Empty(t, b.engine.seen(), "whoever wrote it may be telling")

	b.now = b.now.Add(time.Minute)
	b.engine.fail(func(context.Context, string) error { return errDown })
	require.ErrorIs(t, b.relay.sweepHints(context.Background()), errDown)
	b.engine.fail(nil)
	require.NoError(t, b.relay.sweepHints(context.Background()))
	require.NoError(t, b.relay.sweepHints(context.Background()))
	require.Equal(t, []string{"activity:SendHint", "activity:SendHint"}, b.engine.seen())
	options := b.engine.activities[1]
	require.Equal(t, "hint-1-2026-11-24", options.ID)
	require.Equal(t, wire.QueueSMS, options.TaskQueue)
	require.Equal(t, enums.ACTIVITY_ID_REUSE_POLICY_REJECT_DUPLICATE, options.ActivityIDReusePolicy)
	require.Equal(t, enums.ACTIVITY_ID_CONFLICT_POLICY_USE_EXISTING, options.ActivityIDConflictPolicy)
	require.Equal(t, wire.SendHintInput{HintID: "hint-1-2026-11-24"}, b.engine.inputs[1])
}

func TestHintThatRanCountsAsTold(t *testing.T) {
	b := newBench(t)
	b.hint("hint-1")
	b.engine.fail(func(context.Context, string) error {
		return serviceerror.NewActivityExecutionAlreadyStarted("ran", "", "")
	})
	require.NoError(t, b.relay.SendHint(context.Background(), "hint-1"))
	require.NotNil(t, b.store.hints[0].ToldAt)
}

func TestLaterHint(t *testing.T) {
	b := newBench(t)
	b.hint("hint-1")
	b.relay.LaterHint("hint-1")
	b.relay.Stop(context.Background())
	require.Equal(t, []string{"activity:SendHint"}, b.engine.seen())
}

func TestLimitNoticeRunsOutsideTheWorkflow(t *testing.T) {
	b := newBench(t)
	b.add("a", models.NoticeLimit)
	require.NoError(t, b.relay.Deliver(context.Background(), "a"))
	require.Equal(t, []string{"activity:SendLimitNotice"}, b.engine.seen())
	require.Equal(t, "a-limit-7", b.engine.activities[0].ID)
	require.Equal(t, wire.SendLimitInput{InboundID: 7}, b.engine.inputs[0])
	b.store.notice("a", models.NoticeLimit, "8"+models.LimitHours+"5", 0, testNow)
	require.NoError(t, b.relay.Deliver(context.Background(), "a"))
	require.Equal(t, "a-limit-8", b.engine.activities[1].ID)
	require.Equal(t, wire.SendLimitInput{InboundID: 8, Hours: 5}, b.engine.inputs[1])
	require.Zero(t, b.store.undelivered())
}

// A question is an activity of its own, started under one id until it runs,
// whichever starter does it.
func TestQuestionIsStartedOnce(t *testing.T) {
	b := newBench(t)
	b.add("a")
	b.store.notice("a", models.NoticeAsk, "7", 0, testNow)
	b.engine.fail(func(context.Context, string) error { return errDown })
	b.sweep(t, 4*time.Second)
	require.Equal(t, 1, b.store.undelivered())
	b.engine.fail(func(context.Context, string) error {
		return serviceerror.NewActivityExecutionAlreadyStarted("another starter was quicker", "", "")
	})
	b.sweep(t, 4*time.Second)
	require.Zero(t, b.store.undelivered())
	require.Equal(t, []string{"activity:SendAsk", "activity:SendAsk"}, b.engine.seen())
	for i, options := range b.engine.activities {
		require.Equal(t, "a-ask-7", options.ID)
		require.Equal(t, 12*time.Hour, options.ScheduleToCloseTimeout)
		require.Equal(t, wire.SendAskInput{InboundID: 7}, b.engine.inputs[i])
	}
}

// TestLateTryOutlivesItsStarter: the process that wrote the try died before it
// was started; the sweep starts it, in any process, under an id of its own.
func TestLateTryOutlivesItsStarter(t *testing.T) {
	b := newBench(t)
	b.add("a")
	b.store.notice("a", models.NoticeLate, "a-t1-p1-r1", 0, testNow)
	b.engine.fail(func(context.Context, string) error { return errDown })
	b.sweep(t, 4*time.Second)
	require.Equal(t, 1, b.store.undelivered())
	b.engine.fail(func(context.Context, string) error {
		return serviceerror.NewActivityExecutionAlreadyStarted("another starter was quicker", "", "")
	})
	b.sweep(t, time.Minute)
	b.sweep(t, time.Minute)
	require.Zero(t, b.store.undelivered())
	require.Equal(t, []string{"activity:SendLate", "activity:SendLate"}, b.engine.seen())
	for i, options := range b.engine.activities {
		require.Equal(t, "late-a-t1-p1-r1", options.ID)
		require.Equal(t, wire.QueueSMS, options.TaskQueue)
		require.Equal(t, enums.ACTIVITY_ID_REUSE_POLICY_REJECT_DUPLICATE, options.ActivityIDReusePolicy)
		require.Zero(t, options.ScheduleToCloseTimeout, "an outage does not end it")
		require.Positive(t, options.StartToCloseTimeout)
		require.Positive(t, options.HeartbeatTimeout, "a lost worker is noticed before the attempt's time is up")
		require.Equal(t, wire.SendSMSInput{OutboxID: "a-t1-p1-r1"}, b.engine.inputs[i])
	}
}

// TestLateTryOfSomebodyWhoLeft is not started.
func TestLateTryOfSomebodyWhoLeft(t *testing.T) {
	b := newBench(t)
	b.add("a")
	b.store.notice("a", models.NoticeLate, "a-t1-p1-r1", 0, testNow)
	b.store.removed["a"] = true
	require.NoError(t, b.relay.Deliver(context.Background(), "a"))
	require.Empty(t, b.engine.seen())
	require.Zero(t, b.store.undelivered())
}
