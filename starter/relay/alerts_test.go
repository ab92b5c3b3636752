package relay

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// PendingAlerts and AlertTold make rows an Alerts too.
func (m *rows) PendingAlerts(_ context.Context, before time.Time, _ int) ([]models.Alert, error) {
	defer m.enter()()
	var out []models.Alert
	for _, a := range m.alerts {
		if a.ToldAt == nil && a.CreatedAt.Before(before) {
			out = append(out, a)
		}
	}
	return out, m.down
}

func (m *rows) OverdueLooks(_ context.Context, before time.Time, _ int) ([]models.DueLook, error) {
	defer m.enter()()
	var out []models.DueLook
	for _, a := range m.alerts {
		if a.Look == models.LookDue && a.CreatedAt.Before(before) {
			out = append(out, models.DueLook{AlertID: a.ID})
		}
	}
	return out, m.down
}

func (m *rows) SettleLook(_ context.Context, r models.LookResult) (bool, error) {
	defer m.enter()()
	for i := range m.alerts {
		if m.alerts[i].ID == r.AlertID {
			m.alerts[i].Look, m.alerts[i].ToldAt = r.Verdict.State, nil
		}
	}
	return true, m.down
}

// A weak sign that no turn has read once more counts as possible after two minutes, and
// the safety text goes out.
func TestOverdueLookCountsAsPossible(t *testing.T) {
	b := newBench(t)
	b.store.alerts = []models.Alert{{ID: "alarm-7", Look: models.LookDue, CreatedAt: b.now, ToldAt: &b.now}}
	b.now = b.now.Add(models.LookValidity)
	require.NoError(t, b.relay.sweepAlerts(context.Background()))
	require.Empty(t, b.engine.seen(), "its turn may still read it")
	b.now = b.now.Add(time.Second)
	require.NoError(t, b.relay.sweepAlerts(context.Background()))
	require.Equal(t, models.LookFailed, b.store.alerts[0].Look)
	require.Equal(t, []string{"activity:SendSafetyText"}, b.engine.seen())
}

func (m *rows) AlertTold(_ context.Context, told models.Alert, at time.Time) error {
	defer m.enter()()
	for i := range m.alerts {
		if m.alerts[i].ID == told.ID && m.alerts[i].Pages == told.Pages {
			m.alerts[i].ToldAt = &at
		}
	}
	return m.down
}

func (m *rows) Alert(_ context.Context, id string) (models.Alert, error) {
	defer m.enter()()
	for _, a := range m.alerts {
		if a.ID == id {
			return a, m.down
		}
	}
	return models.Alert{}, models.ErrNotFound
}

// A weak sign has no page begun. Another part of its message may make it grave at
// any instant, also while Temporal is told: then the page begins, and the safety
// text does not go out anew.
func TestWeakSignIsPagedWhenItBecomesGrave(t *testing.T) {
	b := newBench(t)
	b.store.alerts = []models.Alert{{ID: "alarm-7", CreatedAt: b.now}}
	b.now = b.now.Add(time.Minute)
	b.engine.fail(func(_ context.Context, call string) error {
		require.Equal(t, "activity:"+wire.ActivitySafetyText, call)
		b.store.alerts[0].Pages = true
		return nil
	})
	require.NoError(t, b.relay.sweepAlerts(context.Background()))
	b.engine.fail(nil)
	require.NoError(t, b.relay.sweepAlerts(context.Background()))
	require.NoError(t, b.relay.sweepAlerts(context.Background()))
	require.Equal(t, []string{"activity:SendSafetyText", "activity:SendSafetyText", "activity:SendPage"}, b.engine.seen())
	require.Equal(t, b.engine.activities[0].ID, b.engine.activities[1].ID)
}

// The page and the safety text wait for no workflow; what could not be started
// is started by a sweep, under the same ids.
func TestAlertsAreSweptUntilTold(t *testing.T) {
	b := newBench(t)
	b.store.alerts = []models.Alert{{ID: "alarm-7", Pages: true, CreatedAt: b.now}}
	require.NoError(t, b.relay.sweepAlerts(context.Background()))
	require.Empty(t, b.engine.seen(), "whoever wrote it may be telling")
	b.now = b.now.Add(time.Minute)
	b.engine.fail(func(_ context.Context, call string) error {
		if call == "activity:"+wire.ActivityPage {
			return errDown
		}
		return nil
	})
	require.ErrorIs(t, b.relay.sweepAlerts(context.Background()), errDown)
	b.engine.fail(nil)
	require.NoError(t, b.relay.sweepAlerts(context.Background()))
	require.NoError(t, b.relay.sweepAlerts(context.Background()))
	require.Equal(t, []string{"activity:SendSafetyText", "activity:SendPage", "activity:SendSafetyText", "activity:SendPage"}, b.engine.seen())
	require.Equal(t, b.engine.activities[0].ID, b.engine.activities[2].ID)
	page := b.engine.activities[3]
	require.Equal(t, "alarm-7-page", page.ID)
	require.Equal(t, wire.QueueSMS, page.TaskQueue)
	require.Equal(t, 72*time.Hour, page.ScheduleToCloseTimeout)
	require.Equal(t, wire.AlertInput{AlertID: "alarm-7"}, b.engine.inputs[3])
}

func TestLaterAlert(t *testing.T) {
	b := newBench(t)
	b.store.alerts = []models.Alert{{ID: "alarm-7", Pages: true}}
	b.relay.LaterAlert("alarm-7")
	b.relay.Stop(context.Background())
	require.Equal(t, []string{"activity:SendSafetyText", "activity:SendPage"}, b.engine.seen())
}

func (m *rows) UnacknowledgedAlerts(_ context.Context, raisedBefore time.Time, _ int) ([]models.Alert, error) {
	defer m.enter()()
	var out []models.Alert
	for _, a := range m.alerts {
		if a.Pages && a.AcknowledgedAt == nil && a.EscalatedAt == nil && !a.CreatedAt.After(raisedBefore) {
			out = append(out, a)
		}
	}
	return out, m.down
}

func (m *rows) AlertEscalated(_ context.Context, id string, at time.Time) error {
	defer m.enter()()
	for i := range m.alerts {
		if m.alerts[i].ID == id {
			m.alerts[i].EscalatedAt = &at
		}
	}
	return m.down
}

// An alert that no operator acknowledges in time pages a second time, under an id
// that cannot be used twice, and never a third time.
func TestUnacknowledgedAlertPagesOnceMore(t *testing.T) {
	b := newBench(t)
	b.store.alerts = []models.Alert{
		{ID: "alarm-7", Pages: true, CreatedAt: b.now},
		{ID: "alarm-8", Pages: true, CreatedAt: b.now, AcknowledgedAt: &b.now},
		{ID: "alarm-9", CreatedAt: b.now},
	}
	b.now = b.now.Add(20 * time.Minute)
	require.NoError(t, b.relay.sweepEscalations(context.Background()))
	require.Empty(t, b.engine.seen(), "the setting is off")
	b.relay.cfg.Escalation = 15 * time.Minute
	b.engine.fail(func(context.Context, string) error { return errDown })
	require.ErrorIs(t, b.relay.sweepEscalations(context.Background()), errDown)
	b.engine.fail(nil)
	require.NoError(t, b.relay.sweepEscalations(context.Background()))
	require.NoError(t, b.relay.sweepEscalations(context.Background()))
	require.Len(t, b.engine.activities, 2, "the lost one, and the one that was taken")
	require.Equal(t, "alarm-7-page-again", b.engine.activities[1].ID)
	require.Equal(t, wire.AlertInput{AlertID: "alarm-7", Again: true}, b.engine.inputs[1])
}
