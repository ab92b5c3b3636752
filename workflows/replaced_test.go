package workflows_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"coachline/internal/seal"
	"coachline/models"
	"coachline/models/wire"
)

// TestSameTextInANewRun: the carrier's repetition of a text is no text,
// regardless of how the run ended that answered it.
func TestSameTextInANewRun(t *testing.T) {
	t.Parallel()
	n := newServerFixture(t, func(n *serverFixture) { n.limits.RunEvents = 1 })
	n.work(n.client, worker.Options{})
	again := func(t *testing.T, id string, in models.AcceptedInbound) {
		t.Helper()
		repeated := n.repeat(in.Inbound.ProviderSID, in.Inbound.From, "hello")
		require.True(t, repeated.Duplicate)
		require.Zero(t, repeated.NoticeID)
		require.NoError(t, n.relay.Deliver(n.ctx, id))
		// The relay died before it recorded what it had told.
		require.NoError(t, n.signal(id, in))
		n.text(id, in.Inbound.From, "and now?")
		n.settled(id, 2)
		require.Equal(t, 2, n.post.to(in.Inbound.From), "one reply a text")
		require.Empty(t, n.post.doubled())
		require.Equal(t, map[string]int{"hello": 1, "and now?": 1}, n.said(id, 10))
	}

	t.Run("17 continue-as-new", func(t *testing.T) {
		n.enrol("conv_ann", annNumber)
		in := n.text("conv_ann", annNumber, "hello")
		n.settled("conv_ann", 1)
		require.Eventually(t, func() bool { return len(n.runs("conv_ann")) > 1 }, patience, 20*time.Millisecond)
		again(t, "conv_ann", in)
	})
	t.Run("17 reset", func(t *testing.T) {
		n.enrol("conv_ben", benNumber)
		in := n.text("conv_ben", benNumber, "hello")
		n.settled("conv_ben", 1)
		n.reset("conv_ben")
		n.settled("conv_ben", 1)
		again(t, "conv_ben", in)
	})
	t.Run("18 terminated", func(t *testing.T) {
		n.enrol("conv_eve", "+12025550113")
		in := n.text("conv_eve", "+12025550113", "hello")
		n.settled("conv_eve", 1)
		require.NoError(t, n.client.TerminateWorkflow(n.ctx, models.WorkflowID("conv_eve"), "", "an operator's hand"))
		again18(t, n, in)
	})
}

// again18: nothing is there to signal until the next text begins a new
// workflow.
func again18(t *testing.T, n *serverFixture, in models.AcceptedInbound) {
	t.Helper()
	require.True(t, n.repeat(in.Inbound.ProviderSID, in.Inbound.From, "hello").Duplicate)
	require.NoError(t, n.relay.Deliver(n.ctx, "conv_eve"))
	require.Equal(t, 1, n.post.to(in.Inbound.From), "nobody is woken up by a repetition")
	n.text("conv_eve", in.Inbound.From, "and now?")
	n.settled("conv_eve", 2)
	require.NoError(t, n.signal("conv_eve", in))
	n.text("conv_eve", in.Inbound.From, "good")
	n.settled("conv_eve", 3)
	require.Equal(t, 3, n.post.to(in.Inbound.From))
	require.Empty(t, n.post.doubled())
	require.Equal(t, map[string]int{"hello": 1, "and now?": 1, "good": 1}, n.said("conv_eve", 10))
}

// reset takes the first run back to its first task; signals come again.
func (n *serverFixture) reset(id string) {
	n.t.Helper()
	runs := n.runs(id)
	first := runs[len(runs)-1]
	at := int64(0)
	for _, event := range first {
		if event.GetEventType() == enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			at = event.GetEventId()
			break
		}
	}
	require.NotZero(n.t, at)
	run := first[0].GetWorkflowExecutionStartedEventAttributes().GetOriginalExecutionRunId()
	_, err := n.client.ResetWorkflowExecution(n.ctx, &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: "default", WorkflowExecution: &common.WorkflowExecution{WorkflowId: models.WorkflowID(id), RunId: run},
		Reason: "test", WorkflowTaskFinishEventId: at, RequestId: "reset-" + id,
	})
	require.NoError(n.t, err)
}

// TestOperatorsCommands is case 47: the same request applied once, and a refused
// one leaves no event.
func TestOperatorsCommands(t *testing.T) {
	t.Parallel()
	n := newServerFixture(t, nil)
	n.work(n.client, worker.Options{})
	n.enrol("conv_ann", annNumber)
	ask := func(name, id string, args ...any) (wire.StatusView, error) {
		ctx, cancel := context.WithTimeout(n.ctx, patience)
		defer cancel()
		return n.ask(ctx, client.UpdateWorkflowOptions{WorkflowID: models.WorkflowID("conv_ann"), UpdateID: id,
			UpdateName: name, Args: args, WaitForStage: client.WorkflowUpdateStageCompleted})
	}
	count := func(kind enums.EventType) int {
		events := 0
		for _, event := range n.runs("conv_ann")[0] {
			if event.GetEventType() == kind {
				events++
			}
		}
		return events
	}

	paused, err := ask(wire.UpdatePause, "pause-1")
	require.NoError(t, err)
	require.Equal(t, wire.StatusPaused, paused.Status)
	resumed, err := ask(wire.UpdateResume, "resume-1")
	require.NoError(t, err)
	require.Equal(t, wire.StatusActive, resumed.Status)
	again, err := ask(wire.UpdatePause, "pause-1")
	require.NoError(t, err)
	require.Equal(t, paused, again, "the first answer")
	require.Equal(t, wire.StatusActive, n.status("conv_ann").Status, "and no second pause")
	require.Equal(t, 2, count(enums.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED))

	before := len(n.runs("conv_ann")[0])
	for _, bad := range []func() error{
		func() error {
			_, err := ask(wire.UpdateSetMode, "bad-1", wire.SetModeRequest{Mode: "LUNCH"})
			return err
		},
		func() error {
			_, err := ask(wire.UpdateSendMessage, "bad-2", wire.SendMessageRequest{})
			return err
		},
		func() error {
			_, err := ask(wire.UpdateParticipant, "bad-3", wire.ParticipantChanged{Status: "gone"})
			return err
		},
	} {
		require.Error(t, bad())
	}
	require.Len(t, n.runs("conv_ann")[0], before)
}

// TestKeysAreRotatedUnderARunningLife is case 51: what was sealed before is
// read, what comes is sealed with the new key, and the history replays.
func TestKeysAreRotatedUnderARunningLife(t *testing.T) {
	t.Parallel()
	n := newServerFixture(t, nil)
	stop := n.work(n.client, worker.Options{})
	n.enrol("conv_ann", annNumber)
	n.text("conv_ann", annNumber, "hello")
	n.settled("conv_ann", 1)
	stop()

	// An operator puts a new key in front of the one in use.
	material := make([]byte, 32)
	_, err := rand.Read(material)
	require.NoError(t, err)
	ring, err := seal.Parse("k2:" + base64.StdEncoding.EncodeToString(material) + "," + n.key)
	require.NoError(t, err)
	n.client = n.dial(n.address, ring)
	n.work(n.client, worker.Options{})
	require.NoError(t, n.signal("conv_ann", n.accept(annNumber, "still there?")))
	n.settled("conv_ann", 2)
	require.Equal(t, 2, n.post.to(annNumber))
	var readable []bool
	for _, event := range n.runs("conv_ann")[0] {
		for _, payload := range event.GetWorkflowExecutionSignaledEventAttributes().GetInput().GetPayloads() {
			_, err := n.ring.Codec().Decode([]*common.Payload{payload})
			readable = append(readable, err == nil)
			_, err = ring.Codec().Decode([]*common.Payload{payload})
			require.NoError(t, err)
		}
	}
	require.Equal(t, []bool{true, false}, readable, "for who has the old key only")
}
