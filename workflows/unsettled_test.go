package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"

	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
)

// lose has the carrier answer every post of a row with nothing, and take none.
func (c *carrier) lose(row string, posts *[]time.Time) {
	c.refuse = func(sms models.SMS) error {
		if sms.OutboxID != row {
			return nil
		}
		*posts = append(*posts, c.world.env.Now().UTC())
		return &models.CarrierError{Class: models.CarrierAmbiguous, Message: "no answer"}
	}
}

// A reply of unknown result holds its participant up for a minute at most. When
// it turns out never to have arrived it is not sent after a newer reply: its text is
// answered anew, and the model reads nothing of it.
func TestUnsettledReplyDoesNotHoldUpTheNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withRules(func(r *coach.Rules) { r.Debounce = 0 }))
	var posts []time.Time
	w.carrier.lose("conv_1-t1-p1", &posts)
	w.text(0, "first")
	w.text(10*time.Second, "second")
	w.text(30*time.Minute, "third")
	w.run(2 * time.Hour)

	replies := w.carrier.of(models.KindReply)
	require.Equal(t, []string{"ok: second", "ok: first", "ok: third"}, w.replies())
	require.WithinDuration(t, monday.Add(65*time.Second), replies[0].At, 10*time.Second)
	for _, at := range posts {
		require.True(t, at.Before(replies[0].At), "posted at %s, after the newer reply of %s", at, replies[0].At)
	}
	row, err := w.store.Outbox.Row(context.Background(), "conv_1-t1-p1")
	require.NoError(t, err)
	require.Equal(t, []any{wire.OutboxCanceled, "newer_reply"}, []any{row.Status, row.ErrorCode})

	require.Equal(t, 4, w.model.count())
	w.requireReads("second", "ok: second", "first", "ok: first", "third")
}

// attemptLoser loses the worker of every attempt of an activity from an instant on to
// another: what the attempt did has happened, and the server hears nothing of it. Where it
// is blocked, the attempt fails before it begins.
type attemptLoser struct {
	interceptor.WorkerInterceptorBase
	name        string
	isBlocked   bool
	from, until time.Time
	now         func() time.Time
}

// hits reports whether an attempt is lost that is at some point now.
func (l *attemptLoser) hits(ctx context.Context) bool {
	now := l.now()
	return activity.GetInfo(ctx).ActivityType.Name == l.name && now.After(l.from) && now.Before(l.until)
}

func (l *attemptLoser) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	i := &lossyActivity{attemptLoser: l}
	i.Next = next
	return i
}

type lossyActivity struct {
	interceptor.ActivityInboundInterceptorBase
	attemptLoser *attemptLoser
}

func (l *lossyActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	if l.attemptLoser.isBlocked && l.attemptLoser.hits(ctx) {
		return nil, temporal.NewApplicationError("the database is away", "test")
	}
	out, err := l.Next.ExecuteActivity(ctx, in)
	if !l.attemptLoser.isBlocked && l.attemptLoser.hits(ctx) {
		return nil, temporal.NewHeartbeatTimeoutError()
	}
	return out, err
}

// Also where the worker is lost that looks the reply up, after so many attempts
// that the server would wait for long by itself.
func TestLostLookDoesNotHoldUpTheNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withRules(func(r *coach.Rules) { r.Debounce = 0 }))
	options := workerOptions
	options.Interceptors = []interceptor.WorkerInterceptor{&attemptLoser{
		name: "SendTurn", from: monday.Add(45 * time.Second), until: monday.Add(55 * time.Second), now: w.env.Now,
	}}
	w.env.SetWorkerOptions(options)
	var posts []time.Time
	w.carrier.lose("conv_1-t1-p1", &posts)
	w.text(0, "first")
	w.text(10*time.Second, "second")
	w.run(2 * time.Hour)
	replies := w.carrier.of(models.KindReply)
	require.Equal(t, []string{"ok: second", "ok: first"}, w.replies())
	require.WithinDuration(t, monday.Add(65*time.Second), replies[0].At, 10*time.Second)
}

func contents(req models.ChatRequest) []string {
	var out []string
	for _, m := range req.Messages {
		out = append(out, withoutTimes(m.Content))
	}
	return out
}

// A prompt of unknown result does not hold up replies either; that it was sent is
// taken up when the carrier says so.
func TestUnsettledPromptIsTakenUpLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven), withRules(func(r *coach.Rules) { r.Debounce = 0 }))
	var posts []time.Time
	w.carrier.refuse = func(sms models.SMS) error {
		if row, err := w.store.Outbox.Row(context.Background(), sms.OutboxID); err != nil || row.Kind != models.KindPrompt {
			return err
		}
		posts = append(posts, w.env.Now().UTC())
		return &models.CarrierError{Class: models.CarrierAmbiguous, Message: "no answer"}
	}
	var pending []*wire.PendingPrompt
	look := func() { pending = append(pending, w.status().Pending) }
	const prompted = 50 * time.Minute // the prompt is prepared ten minutes early
	w.text(prompted+5*time.Second, "hello")
	w.at(prompted+90*time.Second, look)
	w.at(prompted+95*time.Second, func() {
		found, err := w.store.Outbox.AcceptStatus(context.Background(), models.StatusCallback{
			OutboxID: "conv_1-t1-p1", ProviderSID: "SM-late", Status: wire.OutboxDelivered, At: w.env.Now().UTC()})
		require.NoError(t, err)
		require.True(t, found)
	})
	w.at(prompted+3*time.Minute, look)
	w.run(prompted + 10*time.Minute)
	require.NotEmpty(t, posts)
	require.Len(t, w.carrier.of(models.KindReply), 1)
	require.WithinDuration(t, posts[0].Add(65*time.Second), w.carrier.of(models.KindReply)[0].At, 10*time.Second)
	require.Nil(t, pending[0], "nobody knows yet")
	require.NotNil(t, pending[1])
}

// STOP during an unsettled send: nothing more is posted, and the row is settled
// before the run may end.
func TestStopDuringAnUnsettledSend(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withRules(func(r *coach.Rules) { r.Debounce = 0 }))
	var posts []time.Time
	w.carrier.lose("conv_1-t1-p1", &posts)
	w.text(0, "first")
	w.says(20*time.Second, "STOP", "")
	w.run(2 * time.Hour)
	require.Len(t, posts, 1)
	require.Equal(t, []models.EntryKind{models.KindConsent}, w.carrier.kinds())
	row, err := w.store.Outbox.Row(context.Background(), "conv_1-t1-p1")
	require.NoError(t, err)
	require.Equal(t, []any{wire.OutboxUnknown, "opted_out"}, []any{row.Status, row.ErrorCode})
}
