package relay

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"google.golang.org/protobuf/types/known/timestamppb"

	"coachline/models"
	"coachline/models/wire"
)

func closed(workflowID, runID string, at time.Time) *workflow.WorkflowExecutionInfo {
	return &workflow.WorkflowExecutionInfo{
		Execution: &common.WorkflowExecution{WorkflowId: workflowID, RunId: runID}, CloseTime: timestamppb.New(at),
	}
}

func (b *bench) restore(after time.Duration) error {
	b.now = b.now.Add(after)
	return b.relay.restoreTerminated(context.Background())
}

// A workflow that begins anew in a pause ends it by itself.
func TestSecondStateEndsThePause(t *testing.T) {
	until := testNow.Add(time.Hour)
	p := models.Participant{ID: "a", Timezone: "UTC", Status: wire.StatusPaused, Mode: wire.ModeIntake, PausedUntil: &until}
	state := secondState(p)
	require.Equal(t, []wire.Due{{Kind: wire.DuePauseEnd, At: until}}, state.Due)
	require.False(t, state.AttributesShown, "what is due next is yet to be shown")
	p.Status = wire.StatusActive
	require.Empty(t, secondState(p).Due)
}

// TestTerminatedParticipantsAreRestored: each terminated run is followed by one
// start, unless the participant was removed.
func TestTerminatedParticipantsAreRestored(t *testing.T) {
	b := newBench(t)
	b.add("a")
	b.add("b")
	b.add("gone")
	b.store.removed["gone"] = true
	b.engine.closed = []*workflow.WorkflowExecutionInfo{
		closed("participant-a", "run-1", testNow), closed("other", "run-2", testNow),
		closed("participant-gone", "run-3", testNow), closed("participant-b", "run-4", testNow),
	}
	require.NoError(t, b.restore(time.Minute))
	require.Equal(t, []string{"list", "list", "list", "list", "start", "start"}, b.engine.seen(), "four pages, two participants")
	start := b.engine.starts[0]
	require.Equal(t, models.WorkflowID("a"), start.ID)
	require.Equal(t, enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY, start.WorkflowIDReusePolicy)
	require.Equal(t, enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING, start.WorkflowIDConflictPolicy)
	require.True(t, b.engine.states[0].Restore)
	require.True(t, b.engine.states[0].Greeted)
	require.Equal(t, wire.ModeFeedback, b.engine.states[0].Mode)
	require.Equal(t, "WorkflowType = 'Participant' AND ExecutionStatus IN ('Terminated', 'Failed', 'TimedOut', 'Canceled') "+
		"AND CloseTime <= '2026-11-24T13:00:50Z'", b.engine.queries[0])

	require.NoError(t, b.restore(time.Second))
	require.Len(t, b.engine.queries, 4, "not at every sweep")
	require.NoError(t, b.restore(restoreInterval))
	require.Len(t, b.engine.starts, 2, "a run is restored once")
	require.Contains(t, b.engine.queries[4], "AND CloseTime >= '2026-11-24T12:56:00Z'")

	b.engine.closed = append(b.engine.closed, closed("participant-a", "run-5", b.now))
	require.NoError(t, b.restore(restoreInterval))
	require.Len(t, b.engine.starts, 3, "terminated again")
}

// TestRestoringIsTriedAgain: the span is searched again until all of it is
// restored, and what was restored is left alone.
func TestRestoringIsTriedAgain(t *testing.T) {
	b := newBench(t)
	b.add("a")
	b.add("b")
	b.engine.closed = []*workflow.WorkflowExecutionInfo{closed("participant-a", "run-1", testNow), closed("participant-b", "run-2", testNow)}
	starts := 0
	b.engine.fail(func(_ context.Context, call string) error {
		if call == "start" {
			if starts++; starts == 1 {
				return errDown
			}
		}
		return nil
	})
	require.ErrorIs(t, b.restore(time.Minute), errDown)
	require.NoError(t, b.restore(restoreInterval))
	require.Equal(t, []string{models.WorkflowID("a"), models.WorkflowID("b"), models.WorkflowID("a")},
		[]string{b.engine.starts[0].ID, b.engine.starts[1].ID, b.engine.starts[2].ID})
	require.NotContains(t, b.engine.queries[len(b.engine.queries)-1], ">=", "the whole span again")
	b.engine.fail(func(context.Context, string) error { return errDown })
	require.ErrorIs(t, b.restore(restoreInterval), errDown, "Temporal is away")
}

// TestOutageDelaysNobody: after an outage of Temporal the next sweep delivers,
// however long it was; a participant whose delivery fails otherwise waits.
func TestOutageDelaysNobody(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want int
	}{
		"Temporal is away":        {fmt.Errorf("calling: %w", serviceerror.NewUnavailable("connection refused")), 1},
		"one participant's fault": {errDown, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.add("a", models.NoticeStart)
			b.engine.fail(func(context.Context, string) error { return tt.err })
			for range 10 {
				b.sweep(t, maxBackoff)
			}
			b.engine.fail(nil)
			before := len(b.engine.seen())
			b.sweep(t, defaultInterval)
			require.Len(t, b.engine.seen(), before+tt.want)
		})
	}
}
