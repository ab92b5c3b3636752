package activities_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"coachline/activities"
	"coachline/models"
	"coachline/models/wire"
)

// ledger lists unsettled rows page by page and keeps what was reported.
type ledger struct {
	activities.Outbox
	rows    []models.Outbox
	asked   []models.UnsettledQuery
	reports map[string]models.StatusCallback
}

func (l *ledger) Unsettled(_ context.Context, q models.UnsettledQuery) ([]models.Outbox, error) {
	l.asked = append(l.asked, q)
	var page []models.Outbox
	for _, row := range l.rows {
		if row.ID > q.AfterID && len(page) < q.Limit {
			page = append(page, row)
		}
	}
	return page, nil
}

func (l *ledger) AcceptStatus(_ context.Context, cb models.StatusCallback) (bool, error) {
	l.reports[cb.OutboxID] = cb
	return true, nil
}

// fixedReports answers by provider id.
type fixedReports map[string]wire.OutboxStatus

func (o fixedReports) Fetch(_ context.Context, sid string) (models.StatusCallback, error) {
	switch status, ok := o[sid]; {
	case !ok:
		return models.StatusCallback{}, &models.CarrierError{Class: models.CarrierAccount, Status: 404}
	case status == "":
		return models.StatusCallback{}, &models.CarrierError{Class: models.CarrierRetry}
	default:
		return models.StatusCallback{ProviderSID: sid, Status: status, ErrorCode: "30003"}, nil
	}
}

func reconcile(t *testing.T, l *ledger, o fixedReports) (wire.ReconcileResult, error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	r := &activities.ReconcileActivities{Store: l, Carrier: o, Now: func() time.Time { return now }}
	env.RegisterActivity(r)
	value, err := env.ExecuteActivity(r.Reconcile)
	if err != nil {
		return wire.ReconcileResult{}, err
	}
	var sum wire.ReconcileResult
	require.NoError(t, value.Get(&sum))
	return sum, nil
}

func TestReconcileSettlesWhatWasNeverReported(t *testing.T) {
	l := &ledger{reports: map[string]models.StatusCallback{}}
	o := fixedReports{}
	for i := range 250 {
		sid := fmt.Sprintf("SM%03d", i)
		l.rows = append(l.rows, models.Outbox{ID: fmt.Sprintf("row-%03d", i), ProviderSID: sid, Status: wire.OutboxSent})
		o[sid] = wire.OutboxSent
	}
	o["SM007"], o["SM200"] = wire.OutboxDelivered, wire.OutboxUndelivered
	delete(o, "SM100") // the carrier has forgotten it
	sum, err := reconcile(t, l, o)
	require.NoError(t, err)
	require.Equal(t, wire.ReconcileResult{Checked: 250, Settled: 2}, sum)
	require.Len(t, l.reports, 2)
	require.Equal(t, wire.OutboxUndelivered, l.reports["row-200"].Status)
	require.Equal(t, "30003", l.reports["row-200"].ErrorCode)
	require.Equal(t, now.Add(-time.Hour), l.asked[0].Before)
	require.Len(t, l.asked, 3)
}

func TestReconcileTriesAgainWhenTheCarrierIsAway(t *testing.T) {
	l := &ledger{rows: []models.Outbox{{ID: "a", ProviderSID: "SM1"}}, reports: map[string]models.StatusCallback{}}
	_, err := reconcile(t, l, fixedReports{"SM1": ""})
	require.Error(t, err)
	var carrier *models.CarrierError
	require.False(t, errors.As(err, &carrier) && carrier.Class == models.CarrierAccount)
	require.Empty(t, l.reports)
}
