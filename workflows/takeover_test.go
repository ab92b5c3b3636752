package workflows_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/interceptor"

	"coachline/models"
	"coachline/models/wire"
)

// relayNotice tells the workflow of the participant's newest notice about a
// take-over, as the relay does.
func (w *world) relayNotice() *updated {
	w.t.Helper()
	u := &updated{}
	_, notices, err := w.store.Notices.Untold(context.Background(), "conv_1")
	require.NoError(w.t, err)
	notices = slices.DeleteFunc(notices, func(n models.Notice) bool { return n.Kind == models.NoticeMessage })
	last := notices[len(notices)-1]
	switch id := wire.NoticeUpdateID(last.ID); last.Kind {
	case models.NoticeTakeOver:
		until, err := time.Parse(time.RFC3339, last.Ref)
		require.NoError(w.t, err)
		w.env.UpdateWorkflow(wire.UpdateTakeOver, id, u, wire.TakeOverRequest{Until: until})
	case models.NoticeHandBack:
		items, err := w.store.Notices.ResumedMessages(context.Background(), last.ID)
		require.NoError(w.t, err)
		w.env.UpdateWorkflow(wire.UpdateHandBack, id, u, wire.HandBackRequest{Answer: last.Ref == string(models.WaitingAnswer), Items: items})
	case models.NoticePause:
		var request wire.PauseRequest
		if last.Ref != "" {
			request.Until, err = time.Parse(time.RFC3339, last.Ref)
			require.NoError(w.t, err)
		}
		w.env.UpdateWorkflow(wire.UpdatePause, id, u, request)
	case models.NoticeResume:
		items, err := w.store.Notices.ResumedMessages(context.Background(), last.ID)
		require.NoError(w.t, err)
		w.env.UpdateWorkflow(wire.UpdateResume, id, u, wire.ResumeRequest{Items: items})
	default:
		w.t.Errorf("notice of kind %s", last.Kind)
	}
	return u
}

func (w *world) takeOverNow(span time.Duration) {
	w.t.Helper()
	now := w.env.Now().UTC()
	_, err := w.store.TakeOvers.TakeOver(context.Background(), models.TakeOver{ParticipantID: "conv_1", Until: now.Add(span), Actor: "user:ada", Now: now})
	require.NoError(w.t, err)
	w.relayNotice()
}

func (w *world) takeOver(offset, span time.Duration) {
	w.at(offset, func() { w.takeOverNow(span) })
}

func (w *world) handBack(offset time.Duration, choice models.WaitingAction) {
	w.at(offset, func() {
		_, err := w.store.TakeOvers.HandBack(context.Background(), models.HandBack{
			ParticipantID: "conv_1", Waiting: choice, Note: "her mother is ill", Actor: "user:ada", Now: w.env.Now().UTC()})
		require.NoError(w.t, err)
		w.relayNotice()
	})
}

// statusAt asks for the status at an offset.
func (w *world) statusAt(offset time.Duration) *wire.StatusView {
	view := &wire.StatusView{}
	w.at(offset, func() {
		value, err := w.env.QueryWorkflow(wire.QueryStatus)
		require.NoError(w.t, err)
		require.NoError(w.t, value.Get(view))
	})
	return view
}

// While an operator writes, what the person texts waits; handing back answers it,
// and the model is told what was said meanwhile.
func TestTakeOverHoldsRepliesUntilHandedBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.takeOver(10*time.Minute, 4*time.Hour)
	w.text(20*time.Minute, "are you there?")
	during := w.statusAt(30 * time.Minute)
	w.handBack(time.Hour, models.WaitingAnswer)
	after := w.statusAt(2 * time.Hour)
	w.run(3 * time.Hour)
	require.Equal(t, monday.Add(4*time.Hour+10*time.Minute), during.TakenOverUntil)
	require.Contains(t, during.Due, wire.Due{Kind: wire.DueTakeOverEnd, At: during.TakenOverUntil})
	require.Zero(t, after.TakenOverUntil)
	require.Empty(t, after.Due)
	replies := w.carrier.of(models.KindReply)
	require.Len(t, replies, 1)
	require.WithinDuration(t, monday.Add(time.Hour), replies[0].At, 2*time.Second)
	asked := w.model.requests[0].Messages
	require.Equal(t, "are you there?", lastUser(w.model.requests[0]))
	require.Contains(t, asked[len(asked)-2].Content, "[note from the team, not delivered: the person never got this message] her mother is ill")
}

// A reply under way is held: nothing of it is sent, and its texts are answered
// after the take-over.
func TestTakeOverDuringAModelCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.text(time.Minute, "hello")
	w.model.answer = func(req models.ChatRequest) (models.ChatResponse, error) {
		if len(w.model.requests) == 1 {
			now := w.env.Now().UTC()
			_, err := w.store.TakeOvers.TakeOver(context.Background(), models.TakeOver{ParticipantID: "conv_1", Until: now.Add(time.Hour), Actor: "user:ada", Now: now})
			require.NoError(t, err)
		}
		return say(echo(lastUser(req))), nil
	}
	w.at(2*time.Minute, func() { w.relayNotice() })
	w.handBack(30*time.Minute, models.WaitingAnswer)
	w.run(2 * time.Hour)
	replies := w.carrier.of(models.KindReply)
	require.Len(t, replies, 1)
	require.WithinDuration(t, monday.Add(30*time.Minute), replies[0].At, 2*time.Second)
}

// takeOverUntold has an operator take over without the workflow hearing of it.
func (w *world) takeOverUntold(offset, span time.Duration) {
	w.at(offset, func() {
		now := w.env.Now().UTC()
		_, err := w.store.TakeOvers.TakeOver(context.Background(), models.TakeOver{ParticipantID: "conv_1", Until: now.Add(span), Actor: "user:ada", Now: now})
		require.NoError(w.t, err)
	})
}

// waitingAt reads the texts that wait for an operator at an offset.
func (w *world) waitingAt(offset time.Duration) *[]string {
	texts := &[]string{}
	w.at(offset, func() {
		waiting, err := w.store.People.WaitingMessages(context.Background(), "conv_1")
		require.NoError(w.t, err)
		for _, message := range waiting {
			*texts = append(*texts, message.Text)
		}
	})
	return texts
}

// The tables know of a take-over before the workflow: a turn that begins between
// asks no model and sends nothing, its text waits and is answered once after the
// take-over. So does a turn whose beginning is lost with its worker and repeated.
func TestTurnBeginsBeforeTheWorkflowHearsOfATakeOver(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		lost bool
	}{{"the first beginning is heard of", false}, {"the first beginning is lost", true}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if tt.lost {
				options := workerOptions
				options.Interceptors = []interceptor.WorkerInterceptor{&attemptLoser{
					name: "CallModel", from: monday.Add(2 * time.Minute), until: monday.Add(2*time.Minute + 3*time.Second), now: w.env.Now,
				}}
				w.env.SetWorkerOptions(options)
			}
			w.takeOverUntold(time.Minute, 4*time.Hour)
			w.text(2*time.Minute, "are you there?")
			ended := w.statusAt(5 * time.Minute)
			waiting := w.waitingAt(5 * time.Minute)
			asked := -1
			w.at(5*time.Minute, func() { asked = w.model.count() })
			w.at(10*time.Minute, func() { w.relayNotice() })
			w.handBack(time.Hour, models.WaitingAnswer)
			left := w.waitingAt(2 * time.Hour)
			w.run(3 * time.Hour)
			require.Zero(t, asked)
			require.False(t, ended.InTurn)
			require.Equal(t, []string{"are you there?"}, *waiting)
			replies := w.carrier.of(models.KindReply)
			require.Len(t, replies, 1)
			require.WithinDuration(t, monday.Add(time.Hour), replies[0].At, 2*time.Second)
			require.Empty(t, *left)
		})
	}
}

// A prompt whose turn begins between is missed for that reason, and the next one
// stands.
func TestPromptBeginsBeforeTheWorkflowHearsOfATakeOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven))
	w.takeOverUntold(time.Minute, 4*time.Hour)
	after := w.statusAt(2 * time.Hour)
	w.run(3 * time.Hour)
	require.Empty(t, w.carrier.of(models.KindPrompt))
	require.Zero(t, w.model.count())
	var missed []models.Prompt
	require.NoError(t, w.store.Database().Reader(context.Background()).Find(&missed).Error)
	require.Len(t, missed, 1)
	require.Equal(t, []any{models.PromptMissed, models.MissedTakenOver}, []any{missed[0].State, missed[0].Reason})
	require.Equal(t, []wire.Due{{Kind: wire.DueDailyPrompt, Ref: "sch-1", At: eleven.Add(24*time.Hour - 10*time.Minute)}}, after.Due)
}

// The end of a take-over is due by itself; an operator who puts it off moves it.
func TestTakeOverExpiresByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.takeOver(10*time.Minute, time.Hour)
	w.text(20*time.Minute, "are you there?")
	w.at(30*time.Minute, func() {
		now := w.env.Now().UTC()
		_, err := w.store.TakeOvers.TakeOver(context.Background(), models.TakeOver{ParticipantID: "conv_1", Until: now.Add(time.Hour), Actor: "user:ada", Now: now})
		require.NoError(t, err, "the workflow does not hear of it in time")
	})
	put := w.statusAt(80 * time.Minute)
	w.at(91*time.Minute, func() { w.relayNotice() })
	w.run(3 * time.Hour)
	require.Equal(t, monday.Add(90*time.Minute), put.Due[0].At)
	replies := w.carrier.of(models.KindReply)
	require.Len(t, replies, 1)
	require.WithinDuration(t, monday.Add(91*time.Minute), replies[0].At, 2*time.Second)
}

// Prompts that fall due are missed for that reason, and the next day has its own.
func TestTakeOverMissesPrompts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.state.Schedules = []wire.Schedule{{ID: "s1", Type: wire.ScheduleFixed, At: "12:00",
		Next: wire.Slot{Date: "2026-03-02", TargetAt: monday.Add(2 * time.Hour), SendAt: monday.Add(110 * time.Minute)}}}
	w.state.Due = []wire.Due{{Kind: wire.DueDailyPrompt, Ref: "s1", At: monday.Add(110 * time.Minute)}}
	w.takeOver(time.Hour, 4*time.Hour)
	after := w.statusAt(3 * time.Hour)
	w.run(4 * time.Hour)
	require.Empty(t, w.carrier.of(models.KindPrompt))
	kinds := map[wire.DueKind]int{}
	for _, due := range after.Due {
		kinds[due.Kind]++
	}
	require.Equal(t, map[wire.DueKind]int{wire.DueTakeOverEnd: 1, wire.DueDailyPrompt: 1}, kinds)
}

// Continue-as-new carries a take-over and its due time along.
func TestTakeOverSurvivesContinueAsNew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.at(15*time.Minute, func() { w.env.SetContinueAsNewSuggested(true) })
	w.takeOver(10*time.Minute, 4*time.Hour)
	w.text(20*time.Minute, "hello")
	w.run(3 * time.Hour)
	state := w.continued()
	require.Equal(t, monday.Add(4*time.Hour+10*time.Minute), state.TakenOverUntil)
	require.Contains(t, state.Due, wire.Due{Kind: wire.DueTakeOverEnd, At: state.TakenOverUntil})
	require.Empty(t, w.carrier.of(models.KindReply))
}

// A workflow that takes the place of a terminated one goes on with the take-over.
func TestTakeOverSurvivesTermination(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.store.TakeOvers.TakeOver(context.Background(), models.TakeOver{ParticipantID: "conv_1", Until: monday.Add(time.Hour), Actor: "user:ada", Now: monday})
	require.NoError(t, err)
	w.state.Restore, w.state.TakenOverUntil = true, monday.Add(time.Hour)
	w.text(20*time.Minute, "hello")
	during := w.statusAt(30 * time.Minute)
	w.at(61*time.Minute, func() { w.relayNotice() })
	w.run(2 * time.Hour)
	require.Contains(t, during.Due, wire.Due{Kind: wire.DueTakeOverEnd, At: monday.Add(time.Hour)})
	require.Len(t, w.carrier.of(models.KindReply), 1)
}

// Pausing and resuming leave a take-over alone; removing the person ends all.
func TestTakeOverWithPauseAndRemoval(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.takeOver(10*time.Minute, 4*time.Hour)
	w.update(20*time.Minute, wire.UpdatePause)
	paused := w.statusAt(25 * time.Minute)
	w.update(30*time.Minute, wire.UpdateResume, wire.ResumeRequest{})
	w.text(40*time.Minute, "hello")
	w.update(time.Hour, wire.UpdateUnenroll)
	w.run(2 * time.Hour)
	require.NoError(t, w.env.GetWorkflowError())
	require.NotZero(t, paused.TakenOverUntil)
	require.Empty(t, w.carrier.of(models.KindReply))
}

// An update without an end is refused before the history holds it.
func TestTakeOverNeedsAnEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	refused := w.update(10*time.Minute, wire.UpdateTakeOver, wire.TakeOverRequest{})
	w.run(time.Hour)
	require.ErrorContains(t, refused.rejected, "until: is required")
}
