package relay

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"coachline/internal/dbtest"
	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

// world is a real database beside a Temporal and a carrier that die on order.
type world struct {
	t     *testing.T
	rows  *store.Store
	now   time.Time
	calls int
	// killAt is the call at which the process dies, before the call has an effect,
	// or after it; 0: never.
	killAt    int
	after     bool
	runs      map[string]Execution // by run id
	atCarrier map[string]bool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	ring, err := seal.Parse("k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	require.NoError(t, err)
	rows, err := store.Open(t.Context(), store.Config{URL: dbtest.SQLite(t), Sealer: ring})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })
	w := &world{t: t, rows: rows, now: testNow, atCarrier: map[string]bool{"SM-1": true, "SM-2": true}, runs: map[string]Execution{
		"r1": {WorkflowID: models.WorkflowID("p1"), RunID: "r1"},
		"r2": {WorkflowID: models.WorkflowID("p1"), RunID: "r2", Running: true},
		"r3": {WorkflowID: models.SubagentWorkflowID("p1-t1-s1-c0"), RunID: "r3", Running: true},
	}}
	_, err = rows.People.Enroll(t.Context(), models.Participant{ID: "p1", Phone: "+15558675310", PersonTexts: models.PersonTexts[string]{Name: "Ada"}, Timezone: "UTC", EnrolledAt: testNow}, "operator")
	require.NoError(t, err)
	for sid := range w.atCarrier {
		_, err := rows.Inbound.AcceptInbound(t.Context(), models.Inbound{ProviderSID: sid, From: "+15558675310", To: "+15017122661", Body: "hello", ReceivedAt: testNow})
		require.NoError(t, err)
	}
	return w
}

// step does one call, or dies before or after it.
func (w *world) step(do func() error) error {
	w.calls++
	if w.calls == w.killAt && !w.after {
		return errDown
	}
	if err := do(); err != nil {
		return err
	}
	if w.calls == w.killAt {
		return errDown
	}
	return nil
}

// The rows of the world die on order; reads go through.
type dyingRows struct {
	*store.Erasures
	w *world
}

func (d dyingRows) EndErasureStep(ctx context.Context, step models.ErasureStep) error {
	return d.w.step(func() error { return d.Erasures.EndErasureStep(ctx, step) })
}

func (d dyingRows) NoteExecutions(ctx context.Context, id string, count int) error {
	return d.w.step(func() error { return d.Erasures.NoteExecutions(ctx, id, count) })
}

func (d dyingRows) EraseRows(ctx context.Context, id string, now time.Time) error {
	return d.w.step(func() error { return d.Erasures.EraseRows(ctx, id, now) })
}

func (d dyingRows) FinishErasure(ctx context.Context, id string, now time.Time) error {
	return d.w.step(func() error { return d.Erasures.FinishErasure(ctx, id, now) })
}

func (w *world) IsRunning(context.Context, string) (bool, error) {
	return w.runs["r2"].Running, nil
}

func (w *world) Executions(context.Context, string) ([]Execution, error) {
	var all []Execution
	for _, run := range w.runs {
		all = append(all, run)
	}
	return all, nil
}

func (w *world) Terminate(_ context.Context, run Execution) error {
	return w.step(func() error {
		run.Running = false
		w.runs[run.RunID] = run
		return nil
	})
}

func (w *world) Delete(_ context.Context, run Execution) error {
	return w.step(func() error {
		require.False(w.t, w.runs[run.RunID].Running, "deleted while it runs")
		delete(w.runs, run.RunID)
		return nil
	})
}

// carrierEngine runs the activity at once.
type carrierEngine struct {
	*engine
	w *world
}

func (e carrierEngine) ExecuteActivity(ctx context.Context, o client.StartActivityOptions, name any, args ...any) (client.ActivityHandle, error) {
	require.Equal(e.w.t, wire.ActivityEraseCopies, name)
	require.Equal(e.w.t, "erase-p1", o.ID)
	id := args[0].(wire.EraseCopiesInput).ParticipantID
	copies, err := e.w.rows.Erasures.CarrierCopies(ctx, id, 1)
	require.NoError(e.w.t, err)
	return nil, e.w.step(func() error {
		delete(e.w.atCarrier, copies[0].ProviderSID)
		return e.w.rows.Erasures.CopyErased(ctx, id, copies[0])
	})
}

// process is a starter that has just begun.
func (w *world) process() *Relay {
	r := New(Config{
		Store: Store{Erasures: dyingRows{w.rows.Erasures, w}}, Histories: w, Engine: carrierEngine{&engine{}, w},
		Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return w.now },
	})
	w.t.Cleanup(func() { r.Stop(context.Background()) })
	return r
}

// sweep carries on until nothing is pending; a process that died is followed by
// another one.
func (w *world) sweep() models.Erasure {
	w.t.Helper()
	r := w.process()
	for range 40 {
		before := w.calls
		require.NoError(w.t, r.sweepErasures(w.t.Context()))
		if w.killAt > before && w.killAt <= w.calls {
			r = w.process()
		}
		w.now = w.now.Add(2 * time.Second)
		e, err := w.rows.Erasures.Erasure(w.t.Context(), "p1")
		require.NoError(w.t, err)
		if e.State == models.ErasureDone {
			return e
		}
	}
	w.t.Fatal("the erasure does not end")
	return models.Erasure{}
}

func (w *world) begin() {
	w.t.Helper()
	_, err := w.rows.Erasures.BeginErasure(w.t.Context(), models.ErasureRequest{ParticipantID: "p1", Actor: "user:eve", Now: w.now})
	require.NoError(w.t, err)
}

// TestErasureSurvivesEveryDeath kills the process before and after each call that
// changes something; the next one ends the erasure with the same receipt.
func TestErasureSurvivesEveryDeath(t *testing.T) {
	whole := newWorld(t)
	whole.begin()
	whole.now = testNow.Add(erasureGrace)
	want := whole.sweep()
	require.Equal(t, int64(3), want.Executions)
	require.Equal(t, int64(2), want.CarrierMessages)
	require.Greater(t, whole.calls, 8)
	for at := 1; at <= whole.calls; at++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprint(at, after), func(t *testing.T) {
				w := newWorld(t)
				w.killAt, w.after = at, after
				w.begin()
				w.now = testNow.Add(erasureGrace)
				got := w.sweep()
				require.Empty(t, w.runs)
				require.Empty(t, w.atCarrier)
				require.True(t, maps.Equal(want.Rows, got.Rows), got.Rows)
				require.Equal(t, want.CarrierMessages, got.CarrierMessages)
				require.Equal(t, want.Executions, got.Executions)
			})
		}
	}
}

// TestErasureLetsTheWorkflowEnd: within the grace nothing is terminated while the
// workflow runs or was not told.
func TestErasureLetsTheWorkflowEnd(t *testing.T) {
	w := newWorld(t)
	w.begin()
	r := w.process()
	require.NoError(t, r.sweepErasures(t.Context()))
	_, untold, err := w.rows.Notices.Untold(t.Context(), "p1")
	require.NoError(t, err)
	var ids []int64
	for _, n := range untold {
		ids = append(ids, n.ID)
	}
	require.NoError(t, w.rows.Notices.NoticesDelivered(t.Context(), ids, w.now))
	require.NoError(t, r.sweepErasures(t.Context()))
	require.Zero(t, w.calls, "the workflow runs")
	run := w.runs["r2"]
	run.Running = false
	w.runs["r2"] = run
	require.Equal(t, int64(3), w.sweep().Executions)
}

// TestRetention: people who were removed long ago are erased, once.
func TestRetention(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.rows.People.RemoveParticipant(t.Context(), "p1", "operator", w.now))
	r := w.process()
	r.cfg.Retention = 24 * time.Hour
	w.now = w.now.Add(24 * time.Hour)
	require.NoError(t, r.sweepErasures(t.Context()))
	_, err := w.rows.Erasures.Erasure(t.Context(), "p1")
	require.ErrorIs(t, err, models.ErrNotFound)
	w.now = w.now.Add(retentionInterval)
	require.NoError(t, r.sweepErasures(t.Context()))
	w.now = w.now.Add(erasureGrace)
	require.Equal(t, RetentionActor, w.sweep().RequestedBy)
	rows, err := w.rows.Audit.AuditRows(t.Context(), models.AuditQuery{AuditFilter: models.AuditFilter{Actor: RetentionActor}})
	require.NoError(t, err)
	require.Len(t, rows, 2)
}

// What strangers texted is emptied when it is older than the retention.
func TestStrangersAreForgotten(t *testing.T) {
	w := newWorld(t)
	_, err := w.rows.Inbound.AcceptInbound(t.Context(), models.Inbound{ProviderSID: "SM9", From: "+15558670001", Body: "who is this", ReceivedAt: w.now})
	require.NoError(t, err)
	r := w.process()
	r.cfg.StrangerRetention = 24 * time.Hour
	left := func() int64 {
		var count int64
		require.NoError(t, w.rows.Database().Reader(t.Context()).Model(&models.Inbound{}).Where("participant_id = '' AND body <> ''").Count(&count).Error)
		return count
	}
	require.NoError(t, r.sweepErasures(t.Context()))
	require.Equal(t, int64(1), left())
	w.now = w.now.Add(24*time.Hour + time.Minute)
	require.NoError(t, r.sweepErasures(t.Context()))
	require.Zero(t, left())
}

// TestFailedErasureWaits and holds up no other.
func TestFailedErasureWaits(t *testing.T) {
	w := newWorld(t)
	w.begin()
	w.now = testNow.Add(erasureGrace)
	w.killAt = 1
	r := w.process()
	require.NoError(t, r.sweepErasures(t.Context()))
	require.NoError(t, r.sweepErasures(t.Context()))
	require.Equal(t, 1, w.calls)
	w.now = w.now.Add(erasurePause)
	require.NoError(t, r.sweepErasures(t.Context()))
	require.Equal(t, 2, w.calls)
}
