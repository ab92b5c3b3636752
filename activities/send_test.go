package activities_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"coachline/activities"
	"coachline/models"
)

var now = time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)

// rows is the part of the store that sending needs, for one outbox row.
type rows struct {
	claim    models.SendClaim
	released int
	accepted []models.Receipt
	failed   []models.SendFailure
}

func (r *rows) ClaimSend(context.Context, string, time.Time) (models.SendClaim, error) {
	return r.claim, nil
}

func (r *rows) ReleaseSend(context.Context, string, time.Time) error {
	r.released++
	return nil
}

func (r *rows) RecordAccepted(_ context.Context, _ string, receipt models.Receipt, _ time.Time) error {
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
	found   *models.Receipt
	findErr error
	since   time.Time
}

func (n *network) Send(context.Context, models.SMS) (models.Receipt, error) {
	n.sends++
	return models.Receipt{ProviderSID: "SM1", Status: models.OutboxQueued}, n.err
}

func (n *network) Find(_ context.Context, _ models.SMS, since time.Time) (models.Receipt, bool, error) {
	n.since = since
	if n.found == nil {
		return models.Receipt{}, false, n.findErr
	}
	return *n.found, true, n.findErr
}

func send(t *testing.T, r *rows, n *network) (models.SendSMSResult, error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	posts := &activities.Posts{Store: r, Carrier: n, Now: func() time.Time { return now }}
	env.RegisterActivity(posts)
	value, err := env.ExecuteActivity(posts.SendSMS, models.SendSMSInput{OutboxID: "conv_1-t1-p1"})
	if err != nil {
		return models.SendSMSResult{}, err
	}
	var out models.SendSMSResult
	require.NoError(t, value.Get(&out))
	return out, nil
}

func ready() *rows {
	return &rows{claim: models.SendClaim{
		Post: true, To: "+12025550123",
		Outbox: models.Outbox{ID: "conv_1-t1-p1", Body: "hello", Status: models.OutboxSending, CreatedAt: now},
	}}
}

func TestSendAccepted(t *testing.T) {
	r, n := ready(), &network{}
	out, err := send(t, r, n)
	require.NoError(t, err)
	require.Equal(t, models.SendSMSResult{Status: models.OutboxQueued, AcceptedAt: now}, out)
	require.Equal(t, []models.Receipt{{ProviderSID: "SM1", Status: models.OutboxQueued}}, r.accepted)
}

func TestSendRefusedByTheGatePostsNothing(t *testing.T) {
	r, n := ready(), &network{}
	r.claim.Post = false
	r.claim.Outbox.Status, r.claim.Outbox.ErrorCode = models.OutboxCanceled, "removed"
	out, err := send(t, r, n)
	require.NoError(t, err)
	require.Equal(t, models.SendSMSResult{Status: models.OutboxCanceled, Code: "removed"}, out)
	require.Zero(t, n.sends)
}

func TestSendAfterAnUnknownOutcomeLooksFirst(t *testing.T) {
	attempted := now.Add(-time.Minute)
	for _, tt := range []struct {
		name  string
		n     network
		sends int
		err   bool
	}{
		{"the carrier has it: adopted", network{found: &models.Receipt{ProviderSID: "SM9", Status: models.OutboxSent}}, 0, false},
		{"the carrier does not: posted", network{}, 1, false},
		{"the carrier cannot say: neither", network{findErr: errors.New("unreachable")}, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := ready()
			r.claim.Resumed, r.claim.Outbox.AttemptedAt = true, &attempted
			_, err := send(t, r, &tt.n)
			require.Equal(t, tt.err, err != nil)
			require.Equal(t, tt.sends, tt.n.sends)
			require.True(t, tt.n.since.Before(attempted), "clocks differ")
			if tt.n.found != nil {
				require.Equal(t, []models.Receipt{*tt.n.found}, r.accepted)
			}
		})
	}
}

func TestSendErrorClasses(t *testing.T) {
	for _, tt := range []struct {
		class    models.CarrierClass
		final    bool
		released bool
		optedOut bool
		delay    time.Duration
	}{
		{class: models.CarrierRetry, released: true},
		{class: models.CarrierSlowDown, released: true, delay: 2 * time.Minute},
		{class: models.CarrierWindow, released: true, delay: 2 * time.Minute},
		{class: models.CarrierRetryOnce, released: true, delay: 2 * time.Minute},
		{class: models.CarrierAmbiguous},
		{class: models.CarrierConsent, final: true, optedOut: true},
		{class: models.CarrierBadNumber, final: true},
		{class: models.CarrierBlocked, final: true},
		{class: models.CarrierRegistration, final: true},
		{class: models.CarrierContent, final: true},
		{class: models.CarrierAccount, final: true},
		{class: models.CarrierStale, final: true},
	} {
		t.Run(string(tt.class), func(t *testing.T) {
			r := ready()
			out, err := send(t, r, &network{err: &models.CarrierError{Class: tt.class, Code: "30001", Message: "no"}})
			if tt.final {
				require.NoError(t, err)
				require.Equal(t, models.SendSMSResult{Status: models.OutboxFailed, Code: "30001"}, out)
				require.Len(t, r.failed, 1)
				require.Equal(t, tt.optedOut, r.failed[0].OptedOut)
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
