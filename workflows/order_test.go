package workflows_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"coachline/internal/metrics"
	"coachline/models"
	"coachline/models/wire"
	"coachline/starter/relay"
)

// noticeEngine hands the relay's calls to the test environment.
type noticeEngine struct {
	relay.Engine
	w *world
}

func (e noticeEngine) ExecuteWorkflow(context.Context, client.StartWorkflowOptions, any, ...any) (client.WorkflowRun, error) {
	return nil, nil //nolint:nilnil // the workflow runs already
}

func (e noticeEngine) SignalWithStartWorkflow(_ context.Context, _, name string, arg any, _ client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	e.w.env.SignalWorkflow(name, arg)
	return nil, nil //nolint:nilnil // the relay does not look at it
}

func (e noticeEngine) UpdateWorkflow(_ context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	e.w.env.UpdateWorkflow(o.UpdateName, o.UpdateID, &updated{}, o.Args...)
	return nil, nil //nolint:nilnil // the relay does not look at it
}

// relayAll has the relay tell the workflow of everything that the store has
// committed, in its order.
func (w *world) relayAll() {
	quiet := slog.New(slog.DiscardHandler)
	counted, err := metrics.New(metrics.Config{Logger: quiet})
	require.NoError(w.t, err)
	r := relay.New(relay.Config{Store: relay.StoreOf(w.store), Engine: noticeEngine{w: w}, Metrics: counted,
		Logger: quiet, Now: func() time.Time { return w.env.Now().UTC() }})
	defer r.Stop(context.Background())
	require.NoError(w.t, r.Deliver(context.Background(), "conv_1"))
}

// commit stores a text now and tells no workflow of it.
func (w *world) commit(body string) models.AcceptedInbound {
	w.texts++
	got, err := w.store.Inbound.AcceptInbound(context.Background(), models.Inbound{
		ProviderSID: fmt.Sprintf("SM%032d", w.texts), From: phone, To: "+15017122661", Body: body, ReceivedAt: w.env.Now().UTC(),
	})
	require.NoError(w.t, err)
	return got
}

// hears stores texts at an offset, one after the other, and relays each.
func (w *world) hears(offset time.Duration, bodies ...string) {
	w.at(offset, func() {
		for _, body := range bodies {
			w.commit(body)
			w.relayAll()
		}
	})
}

// whileSending does something while the carrier has the first text of a kind.
func (w *world) whileSending(kind models.EntryKind, do func()) {
	done := false
	w.carrier.refuse = func(sms models.SMS) error {
		row, err := w.store.Outbox.Row(context.Background(), sms.OutboxID)
		require.NoError(w.t, err)
		if row.Kind == kind && !done {
			done = true
			do()
		}
		return nil
	}
}

func (w *world) setStatus(status wire.Status, waiting models.WaitingAction) {
	_, err := w.store.People.UpdateParticipant(context.Background(), models.ParticipantUpdate{
		ID: "conv_1", Patch: models.ParticipantPatch{Status: &status}, Waiting: waiting, Now: w.env.Now().UTC()})
	require.NoError(w.t, err)
}

func (w *world) replies() []string {
	var out []string
	for _, s := range w.carrier.of(models.KindReply) {
		out = append(out, s.Body)
	}
	return out
}

// The carrier takes its time with the confirmation of the STOP; START and a text
// come meanwhile.
func TestTextRightAfterStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hears(time.Minute, "STOP")
	w.whileSending(models.KindConsent, func() {
		for _, body := range []string{"START", "I am back"} {
			w.commit(body)
			w.relayAll()
		}
	})
	w.run(time.Hour)
	require.Equal(t, []string{echo("I am back")}, w.replies())
	require.Equal(t, wire.StatusActive, w.status().Status)
}

// A coordinator resumes, and a text comes, while the workflow is busy.
func TestTextRightAfterResume(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.at(time.Minute, func() { w.setStatus(wire.StatusPaused, ""); w.relayAll() })
	w.hears(2*time.Minute, "are you there?")
	w.at(3*time.Minute, func() { w.operatorSays("hold on") })
	w.whileSending(models.KindOperator, func() {
		w.setStatus(wire.StatusActive, models.WaitingRead)
		w.relayAll()
		w.commit("I am back")
		w.relayAll()
	})
	w.run(time.Hour)
	require.Equal(t, []string{echo("I am back")}, w.replies())
}

// An operator hands back, and a text comes, while the workflow is busy.
func TestTextRightAfterHandBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.at(time.Minute, func() {
		_, err := w.store.TakeOvers.TakeOver(context.Background(), models.TakeOver{ParticipantID: "conv_1", Until: w.env.Now().UTC().Add(time.Hour), Actor: "user:ada", Now: w.env.Now().UTC()})
		require.NoError(t, err)
		w.relayAll()
	})
	w.at(3*time.Minute, func() { w.operatorSays("hold on") })
	w.whileSending(models.KindOperator, func() {
		_, err := w.store.TakeOvers.HandBack(context.Background(), models.HandBack{ParticipantID: "conv_1", Actor: "user:ada", Now: w.env.Now().UTC()})
		require.NoError(t, err)
		w.relayAll()
		w.commit("I am back")
		w.relayAll()
	})
	w.run(time.Hour)
	require.Equal(t, []string{echo("I am back")}, w.replies())
}

// operatorSays sends a coordinator's message.
func (w *world) operatorSays(body string) {
	_, _, err := w.store.Outbox.QueueOperatorMessage(context.Background(), models.OperatorMessage{
		ParticipantID: "conv_1", Key: body, Body: body, Actor: "user:ada", Now: w.env.Now().UTC()})
	require.NoError(w.t, err)
	w.relayAll()
}
