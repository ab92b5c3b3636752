package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"coachline/models"
	"coachline/models/wire"
)

const (
	annNumber = "+12025550111"
	benNumber = "+12025550112"
)

// A thousand texts in a second are at most three turns and three events a
// text, and no other participant waits (case 21). A slow machine may take more
// than a second and pause for Debounce in between, which ends a burst.
func TestThousandTextsInASecond(t *testing.T) {
	t.Parallel()
	n := newServerFixture(t, func(n *serverFixture) { n.rules.Debounce, n.rules.DebounceMax = 2*time.Second, 15*time.Second })
	n.work(n.client, worker.Options{})
	n.enrol("conv_ann", annNumber)
	n.enrol("conv_ben", benNumber)
	texts := make([]models.AcceptedInbound, 1000)
	for i := range texts {
		texts[i] = n.accept(annNumber, fmt.Sprint("text ", i))
	}

	began := time.Now()
	jobs := make(chan models.AcceptedInbound)
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for in := range jobs {
				if err := n.signal("conv_ann", in); err != nil {
					t.Errorf("signal %d: %v", in.Inbound.Seq, err)
				}
			}
		})
	}
	for i, in := range texts {
		jobs <- in
		if i == len(texts)/2 {
			group.Go(func() { n.text("conv_ben", benNumber, "hello, are you there?") })
		}
	}
	close(jobs)
	group.Wait()
	took := time.Since(began)
	t.Logf("a thousand signals in %s", took.Round(time.Millisecond))

	view := n.settled("conv_ann", 1000)
	require.LessOrEqual(t, view.Turns, 3+int(took/n.rules.Debounce))
	require.Equal(t, view.Turns, n.post.to(annNumber), "one reply a turn")
	said := n.said("conv_ann", 2000)
	require.Len(t, said, 1000)
	for body, times := range said {
		require.Equal(t, 1, times, body)
	}
	events := 0
	for _, run := range n.runs("conv_ann") {
		events += len(run)
		for _, event := range run {
			require.NotEqual(t, enums.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT, event.GetEventType())
		}
	}
	t.Logf("%d turns, %d events", view.Turns, events)
	require.LessOrEqual(t, events, 3*1000)
	n.settled("conv_ben", 1)
	require.Equal(t, 1, n.post.to(benNumber))
	require.Less(t, n.post.last(benNumber).Sub(began), n.post.last(annNumber).Sub(began)+time.Second, "Ben does not wait for the burst")
}

// Texts without a pause, with a run that may hold 200 events only: no text is
// lost or answered twice, however often the run is continued (case 23), and
// every operator's command is answered once with the state that it made (24).
// Each sender waits for the answer to its command after a few texts, so that a
// slow machine gets them more slowly.
func TestUnderConstantFire(t *testing.T) {
	t.Parallel()
	const senders, steps, burst = 8, 50, 2
	const texts, commands = senders * steps * burst, senders * steps
	n := newServerFixture(t, func(n *serverFixture) {
		n.rules.Debounce, n.rules.DebounceMax = 100*time.Millisecond, 400*time.Millisecond
		n.limits.RunEvents = 200
	})
	n.work(n.client, worker.Options{})
	n.enrol("conv_ann", annNumber)
	var group sync.WaitGroup
	for i := range senders {
		group.Go(func() {
			for step := range steps {
				for range burst {
					n.fire()
				}
				n.command(fmt.Sprintf("c%d-%d", i, step), i, step)
			}
		})
	}
	group.Wait()
	view := n.settled("conv_ann", texts)

	runs := n.runs("conv_ann")
	said := n.said("conv_ann", 20_000)
	events := 0
	for _, run := range runs {
		events += len(run)
	}
	t.Logf("%d texts, %d commands, %d events in %d runs, %d turns", texts, commands, events, len(runs), view.Turns)
	require.Len(t, said, texts, "lost")
	for body, times := range said {
		require.Equal(t, 1, times, body)
	}
	require.Greater(t, events, texts+2*commands)
	require.GreaterOrEqual(t, len(runs), events/600, "a run ends soon after its 200 events")
	for i := range n.status("conv_ann").Turns {
		turn := models.TurnID("conv_ann", i+1)
		if got, err := n.store.Turns.TurnContext(n.ctx, turn, 1); err == nil && got.Turn.Kind == wire.TurnReply {
			require.Equal(t, 1, n.post.times(models.OutboxID(turn, 1)), "%s was not answered", turn)
		}
	}
	n.letters.Range(func(id, _ any) bool {
		require.Eventually(t, func() bool { return n.post.times(id.(string)) == 1 }, patience, 20*time.Millisecond, id)
		return true
	})
	require.Empty(t, n.post.doubled())
}

// command sends one operator's command and looks at its answer.
func (n *serverFixture) command(id string, who, step int) {
	options := client.UpdateWorkflowOptions{WorkflowID: models.WorkflowID("conv_ann"), UpdateID: id, WaitForStage: client.WorkflowUpdateStageCompleted}
	mode := wire.ModeIntake
	if who%2 == 0 {
		mode = wire.ModeFeedback
	}
	options.UpdateName, options.Args = wire.UpdateSetMode, []any{wire.SetModeRequest{Mode: mode}}
	letter := step%4 == 3
	if letter {
		row, _, err := n.store.Outbox.QueueOperatorMessage(n.ctx, models.OperatorMessage{ParticipantID: "conv_ann", Body: "letter " + id, Key: id, Actor: "op", Now: time.Now()})
		if err != nil {
			n.t.Errorf("letter %s: %v", id, err)
			return
		}
		n.letters.Store(row.ID, true)
		options.UpdateName, options.Args = wire.UpdateSendMessage, []any{wire.SendMessageRequest{OutboxID: row.ID}}
	}
	ctx, cancel := context.WithTimeout(n.ctx, patience)
	defer cancel()
	view, err := n.ask(ctx, options)
	switch {
	case err != nil:
		n.t.Errorf("command %s: %v", id, err)
	case !letter && view.Mode != mode:
		n.t.Errorf("command %s asked for %s and was told %s", id, mode, view.Mode)
	}
}

// ask sends a command until it is answered. A command that reaches the server
// while the run is continued is refused before it is accepted, and is sent again
// under its id, as the relay does.
func (n *serverFixture) ask(ctx context.Context, options client.UpdateWorkflowOptions) (wire.StatusView, error) {
	for {
		var view wire.StatusView
		handle, err := n.client.UpdateWorkflow(ctx, options)
		if err == nil {
			err = handle.Get(ctx, &view)
		}
		var notNow *serviceerror.WorkflowNotReady
		if !errors.As(err, &notNow) {
			return view, err
		}
	}
}

// fire sends Ann's next text: a stored row and its signal. What the server
// refuses to take at once is signaled again, as the relay does.
func (n *serverFixture) fire() {
	in := n.accept(annNumber, fmt.Sprint("text ", n.fired.Add(1)))
	if err := n.signal("conv_ann", in); err != nil {
		n.t.Errorf("signal %d: %v", in.Inbound.Seq, err)
	}
}
