package activities_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"coachline/activities"
	"coachline/models"
	"coachline/models/wire"
)

var now = time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)

// rows is the part of the store that sending needs, for one outbox row.
type rows struct {
	activities.Outbox
	claim    models.SendClaim
	released int
	accepted []models.Receipt
	taken    []string // ids of the carrier that belong to other rows
	failed   []models.SendFailure
	held     []models.Refusal
	put      int // put off for a second try
	missing  int // released because the carrier does not have it
	noted    []time.Time
	check    wire.OutboxStatus // where the row stands before it is written; empty is sending
	checkErr error
	giveErr  error // the row cannot be given back
}

func (r *rows) StartPost(_ context.Context, claim models.SendClaim, _ time.Time) (models.Outbox, error) {
	if r.checkErr != nil {
		return models.Outbox{}, r.checkErr
	}
	claim.Outbox.Status = cmp.Or(r.check, wire.OutboxSending)
	return claim.Outbox, nil
}

func (r *rows) NoteMissing(_ context.Context, _ models.ClaimRef, listed time.Time) error {
	r.noted = append(r.noted, listed)
	return nil
}

func (r *rows) ReleaseMissing(context.Context, models.ClaimRef, time.Time) error {
	r.missing++
	return nil
}

func (r *rows) HoldSender(_ context.Context, refusal models.Refusal) error {
	r.held = append(r.held, refusal)
	return nil
}

func (r *rows) PostponeSend(context.Context, models.ClaimRef, time.Time) error {
	r.put++
	return nil
}

func (r *rows) ClaimSend(context.Context, string, time.Time) (models.SendClaim, error) {
	return r.claim, nil
}

func (r *rows) ReleaseSend(context.Context, models.ClaimRef, time.Time) error {
	r.released++
	return r.giveErr
}

func (r *rows) RecordAccepted(_ context.Context, _ models.ClaimRef, receipt models.Receipt, _ time.Time) error {
	if slices.Contains(r.taken, receipt.ProviderSID) {
		return models.ErrConflict
	}
	r.accepted = append(r.accepted, receipt)
	return nil
}

func (r *rows) RecordFailed(_ context.Context, f models.SendFailure) error {
	r.failed = append(r.failed, f)
	return nil
}

// network answers sends and look-ups as told.
type network struct {
	sends   int
	err     error
	found   []models.Receipt
	findErr error
	listed  time.Time
	age     time.Duration
	last    models.SMS
}

func (n *network) Send(ctx context.Context, sms models.SMS) (models.Receipt, error) {
	if err := sms.MayWrite(ctx); err != nil {
		return models.Receipt{}, err
	}
	n.sends++
	n.last = sms
	return models.Receipt{ProviderSID: fmt.Sprintf("SM%d", n.sends), Status: wire.OutboxQueued}, n.err
}

func (n *network) Find(_ context.Context, _ models.SMS, age time.Duration) (models.Lookup, error) {
	n.age = age
	return models.Lookup{Matches: n.found, At: n.listed}, n.findErr
}

func send(t *testing.T, r *rows, n *network) (wire.SendSMSResult, error) {
	t.Helper()
	return runSend(t, sendsOf(r, n))
}

func sendsOf(r *rows, n *network) *activities.SendActivities {
	return &activities.SendActivities{Store: r, Carrier: n, Now: func() time.Time { return now }}
}

func runSend(t *testing.T, posts *activities.SendActivities) (wire.SendSMSResult, error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(posts)
	value, err := env.ExecuteActivity(posts.SendSMS, wire.SendSMSInput{OutboxID: "conv_1-t1-p1"})
	if err != nil {
		return wire.SendSMSResult{}, err
	}
	var out wire.SendSMSResult
	require.NoError(t, value.Get(&out))
	return out, nil
}

func ready() *rows {
	return &rows{claim: models.SendClaim{
		Post: true, To: "+12025550123",
		Outbox: models.Outbox{ID: "conv_1-t1-p1", Kind: models.KindReply, Body: "hello", Status: wire.OutboxSending, CreatedAt: now},
	}}
}

func TestSendAccepted(t *testing.T) {
	r, n := ready(), &network{}
	out, err := send(t, r, n)
	require.NoError(t, err)
	require.Equal(t, wire.SendSMSResult{Status: wire.OutboxQueued, AcceptedAt: now}, out)
	require.Equal(t, []models.Receipt{{ProviderSID: "SM1", Status: wire.OutboxQueued}}, r.accepted)
}

// A check-in is not posted once quiet hours have begun, however fresh it is, and a prompt
// that is of no use any more is not posted at all.
func TestSendTooLate(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before time.Duration
		sends  int
		want   wire.SendSMSResult
	}{
		{"in time", time.Second, 1, wire.SendSMSResult{Status: wire.OutboxQueued, AcceptedAt: now}},
		{"quiet hours begin now", 0, 0, wire.SendSMSResult{Status: wire.OutboxFailed, Code: "quiet_hours"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, n, until := ready(), &network{}, now.Add(tt.before)
			r.claim.Outbox.Kind, r.claim.Outbox.SendBefore = models.KindCheckIn, &until
			out, err := send(t, r, n)
			require.NoError(t, err)
			require.Equal(t, []any{tt.want, tt.sends}, []any{out, n.sends})
		})
	}
	useful := models.KindPrompt.Spec().UsefulFor
	for age, want := range map[time.Duration]wire.SendSMSResult{
		useful: {Status: wire.OutboxQueued, AcceptedAt: now}, useful + time.Second: {Status: wire.OutboxFailed, Code: "stale"},
	} {
		r, n := ready(), &network{}
		r.claim.Outbox.Kind, r.claim.Outbox.CreatedAt = models.KindPrompt, now.Add(-age)
		out, err := send(t, r, n)
		require.NoError(t, err)
		require.Equal(t, want, out, age)
		require.Equal(t, want.Code == "", n.sends == 1, age)
	}
}

func TestSendRefusedByACheckPostsNothing(t *testing.T) {
	r, n := ready(), &network{}
	r.claim.Post = false
	r.claim.Outbox.Status, r.claim.Outbox.ErrorCode = wire.OutboxCanceled, "removed"
	out, err := send(t, r, n)
	require.NoError(t, err)
	require.Equal(t, wire.SendSMSResult{Status: wire.OutboxCanceled, Code: "removed"}, out)
	require.Zero(t, n.sends)
}

// A text whose check could not be made is given back and tried again, one that the check
// refuses ends as the row says, and one behind a part that is on its way waits for it.
func TestSendChecksBeforeItWrites(t *testing.T) {
	away := errors.New("away")
	r, n := ready(), &network{}
	r.checkErr = away
	_, err := send(t, r, n)
	require.ErrorContains(t, err, "away")
	require.Equal(t, []int{1, 0}, []int{r.released, n.sends})
	r.giveErr = errors.New("still away")
	_, err = send(t, r, n)
	require.ErrorContains(t, err, "still away")

	r = ready()
	r.check = wire.OutboxCanceled
	out, err := send(t, r, n)
	require.NoError(t, err)
	require.Equal(t, wire.OutboxCanceled, out.Status)

	r = ready()
	r.claim.Early = true
	_, err = send(t, r, n)
	require.ErrorContains(t, err, "still on its way")
	require.Zero(t, n.sends)
}

// The carrier took the text and gave it the id of another: it is not posted again.
func TestSendUnderAnIDThatIsTaken(t *testing.T) {
	r, n := ready(), &network{}
	r.taken = []string{"SM1"}
	out, err := send(t, r, n)
	require.NoError(t, err)
	require.Equal(t, wire.OutboxUnknown, out.Status)
	require.Equal(t, wire.OutboxUnknown, r.failed[0].Status)
}

// TestSendOfUnknownFate: what counts is the carrier's clock, which is an hour
// behind ours here.
func TestSendOfUnknownFate(t *testing.T) {
	const age = time.Minute
	listed := now.Add(-time.Hour)
	first := func(ago time.Duration) *time.Time { at := listed.Add(-ago); return &at }
	for _, tt := range []struct {
		name    string
		kind    models.EntryKind
		missing *time.Time // since when the carrier's list has not shown it
		posts   int        // earlier posts that the carrier does not have
		n       network
		status  wire.OutboxStatus // empty: tried again later
		delay   time.Duration
		again   bool // posted once more
	}{
		{"the carrier has it: adopted", models.KindReply, nil, 0,
			network{found: []models.Receipt{{ProviderSID: "SM9", Status: wire.OutboxSent}}}, wire.OutboxSent, 0, false},
		{"the carrier cannot say: asked again", models.KindReply, first(time.Hour), 0, network{findErr: errors.New("unreachable")}, "", 10 * time.Second, false},
		{"not listed for the first time: asked again", models.KindReply, nil, 0, network{}, "", 10 * time.Second, false},
		{"its list may lag: asked again", models.KindReply, first(36 * time.Second), 0, network{}, "", 4 * time.Second, false},
		{"never taken: posted once more", models.KindReply, first(40 * time.Second), 0, network{}, "", time.Millisecond, true},
		{"the second time a little later", models.KindReply, first(40 * time.Second), 1, network{}, "", time.Minute, true},
		{"but not for ever", models.KindReply, first(40 * time.Second), 4, network{}, wire.OutboxUnknown, 0, false},
		{"a nudge may not come twice", models.KindReminder, first(40 * time.Second), 0, network{}, wire.OutboxUnknown, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, attempted := ready(), now.Add(-age)
			r.claim.Resumed, r.claim.Outbox.AttemptedAt, r.claim.Outbox.MissingSince = true, &attempted, tt.missing
			r.claim.Outbox.Kind, r.claim.Outbox.UnknownPosts = tt.kind, tt.posts
			tt.n.listed = listed
			out, err := send(t, r, &tt.n)
			require.Zero(t, tt.n.sends, "nothing is posted before it was looked up and claimed anew")
			require.Equal(t, age, tt.n.age)
			require.Equal(t, tt.again, r.missing == 1)
			require.Zero(t, r.released)
			if tt.missing == nil && tt.status == "" {
				require.Equal(t, []time.Time{listed}, r.noted)
			}
			if tt.status != "" {
				require.NoError(t, err)
				require.Equal(t, tt.status, out.Status)
				return
			}
			require.Error(t, err)
			var app *temporal.ApplicationError
			require.ErrorAs(t, err, &app)
			require.False(t, app.NonRetryable())
			require.Equal(t, tt.delay, app.NextRetryDelay())
		})
	}
}

// A carrier whose list cannot be read does not keep a text for ever.
func TestLookUpEndsWithTheUseOfTheText(t *testing.T) {
	r, attempted := ready(), now.Add(-13*time.Hour)
	r.claim.Resumed, r.claim.Outbox.AttemptedAt, r.claim.Outbox.CreatedAt = true, &attempted, attempted
	out, err := send(t, r, &network{findErr: &models.CarrierError{Class: models.CarrierAccount, Code: "20003"}})
	require.NoError(t, err)
	require.Equal(t, wire.OutboxUnknown, out.Status)
}

func TestSendDoesNotAdoptAnEqualTextOfAnotherRow(t *testing.T) {
	r, attempted, missing := ready(), now.Add(-time.Minute), now.Add(-time.Minute)
	r.claim.Resumed, r.claim.Outbox.AttemptedAt, r.claim.Outbox.MissingSince, r.taken = true, &attempted, &missing, []string{"SM1"}
	list := network{found: []models.Receipt{{ProviderSID: "SM1", Status: wire.OutboxSent}}, listed: now}
	_, err := send(t, r, &list)
	require.Error(t, err)
	require.Equal(t, 1, r.missing, "posted once more")

	list.found = append(list.found, models.Receipt{ProviderSID: "SM2", Status: wire.OutboxQueued})
	out, err := send(t, r, &list)
	require.NoError(t, err)
	require.Equal(t, wire.OutboxQueued, out.Status, "the one behind it is ours")
	require.Equal(t, "SM2", r.accepted[0].ProviderSID)
}

// Every kind that is sent, and every class of answer, has its row in the tables.
func TestPolicyTables(t *testing.T) {
	for _, kind := range []models.EntryKind{models.KindReply, models.KindGreeting, models.KindPrompt, models.KindReminder, models.KindFeedbackQuestion,
		models.KindFeedbackFollowup, models.KindCheckIn, models.KindOperator, models.KindNotice, models.KindConsent, models.KindHelp,
		models.KindSafety, models.KindResult, models.KindDebug} {
		r, n := ready(), &network{}
		r.claim.Outbox.Kind, r.claim.Outbox.CreatedAt = kind, now.Add(-29*time.Minute)
		out, err := send(t, r, n)
		require.NoError(t, err)
		require.Equal(t, wire.OutboxQueued, out.Status, kind)
	}
}

func TestSendErrorClasses(t *testing.T) {
	for _, tt := range []struct {
		class    models.CarrierClass
		final    bool
		released bool
		held     bool // the whole sender stops
		put      bool
		delay    time.Duration
	}{
		{class: models.CarrierRetry, released: true, delay: time.Second},
		{class: models.CarrierSlowDown, released: true, delay: 2 * time.Minute},
		{class: models.CarrierWindow, released: true, held: true, delay: time.Second},
		{class: models.CarrierRetryOnce, put: true, delay: 30 * time.Minute},
		{class: models.CarrierAmbiguous, delay: time.Second},
		{class: models.CarrierConsent, final: true},
		{class: models.CarrierBadNumber, final: true},
		{class: models.CarrierBlocked, final: true},
		{class: models.CarrierRegistration, released: true, held: true, delay: time.Second},
		{class: models.CarrierContent, final: true},
		{class: models.CarrierAccount, final: true, held: true},
		{class: models.CarrierStale, final: true},
	} {
		t.Run(string(tt.class), func(t *testing.T) {
			r := ready()
			out, err := send(t, r, &network{err: &models.CarrierError{Class: tt.class, Code: "30001", Message: "no"}})
			var held []models.Refusal
			if tt.held {
				held = []models.Refusal{{OutboxID: "conv_1-t1-p1", Class: tt.class, Code: "30001", Now: now}}
			}
			require.Equal(t, held, r.held)
			require.Equal(t, tt.put, r.put == 1)
			if tt.final {
				require.NoError(t, err)
				require.Equal(t, wire.SendSMSResult{Status: wire.OutboxFailed, Code: "30001"}, out)
				require.Len(t, r.failed, 1)
				require.Equal(t, tt.class, r.failed[0].Class)
				return
			}
			var app *temporal.ApplicationError
			require.ErrorAs(t, err, &app)
			require.False(t, app.NonRetryable())
			require.Equal(t, tt.delay, app.NextRetryDelay())
			require.Equal(t, tt.released, r.released == 1, "an unknown outcome stays in sending")
			require.Empty(t, r.failed)
		})
	}
}

func TestSendIsTriedOnceMore(t *testing.T) {
	for _, tt := range []struct {
		name  string
		kind  models.EntryKind
		age   time.Duration
		tries int
		put   bool
	}{
		{"an answer after half an hour", models.KindReply, 0, 0, true},
		{"once", models.KindReply, 30 * time.Minute, 1, false},
		{"a prompt that is still of use then", models.KindPrompt, 0, 0, true},
		{"a prompt that is not", models.KindPrompt, time.Second, 0, false},
		{"an answer of last night", models.KindReply, 11*time.Hour + 45*time.Minute, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := ready()
			r.claim.Outbox.Kind, r.claim.Outbox.LateTries, r.claim.Outbox.CreatedAt = tt.kind, tt.tries, now.Add(-tt.age)
			out, err := send(t, r, &network{err: &models.CarrierError{Class: models.CarrierRetryOnce, Code: "30003"}})
			require.Equal(t, tt.put, r.put == 1)
			require.Zero(t, r.released)
			if tt.put {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, wire.SendSMSResult{Status: wire.OutboxFailed, Code: "30003"}, out)
		})
	}
}

func TestSendWaitsWhileTheSenderIsStopped(t *testing.T) {
	for _, tt := range []struct {
		name string
		kind models.EntryKind
		age  time.Duration
		want time.Duration // 0: it ends as stale
	}{
		{"an answer", models.KindReply, time.Hour, 5 * time.Minute},
		{"a prompt", models.KindPrompt, time.Minute, 5 * time.Minute},
		{"a prompt near its end", models.KindPrompt, 29 * time.Minute, 61 * time.Second},
		{"a prompt at its end", models.KindPrompt, 30 * time.Minute, time.Second},
		{"a prompt past it", models.KindPrompt, 31 * time.Minute, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, n := ready(), &network{}
			r.claim.Post, r.claim.Wait = false, 5*time.Minute
			r.claim.Outbox.Status, r.claim.Outbox.Kind, r.claim.Outbox.CreatedAt = wire.OutboxReady, tt.kind, now.Add(-tt.age)
			out, err := send(t, r, n)
			require.Zero(t, n.sends)
			if tt.want == 0 {
				require.NoError(t, err)
				require.Equal(t, wire.SendSMSResult{Status: wire.OutboxFailed, Code: "stale"}, out)
				return
			}
			var app *temporal.ApplicationError
			require.ErrorAs(t, err, &app)
			require.False(t, app.NonRetryable())
			require.Equal(t, tt.want, app.NextRetryDelay())
		})
	}
}

// TestSendOfALaterTry: it was judged before, and a refusal by the answer of the
// create call ends it.
func TestSendOfALaterTry(t *testing.T) {
	r, n := ready(), &network{}
	row := &r.claim.Outbox
	row.ID, row.LateOf, row.LateTries, row.Kind, row.CreatedAt = "conv_1-t1-p1-r1", "conv_1-t1-p1", 1, models.KindPrompt, now.Add(-55*time.Minute)
	out, err := send(t, r, n)
	require.NoError(t, err)
	require.Equal(t, wire.OutboxQueued, out.Status)

	n.err = &models.CarrierError{Class: models.CarrierRetryOnce, Code: "30003"}
	out, err = send(t, r, n)
	require.NoError(t, err)
	require.Equal(t, wire.SendSMSResult{Status: wire.OutboxFailed, Code: "30003"}, out)
	require.Zero(t, r.put)
}
