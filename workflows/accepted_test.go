package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"

	"coachline/activities"
	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// TestZoneChangedAMinuteBefore is case 32: the person moves one minute before
// the chosen time. One prompt that day at most, by the new zone's clock.
func TestZoneChangedAMinuteBefore(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, zone string
		want       []time.Duration // after Monday 11:00 in New York
	}{
		{"west, the time is still ahead", "America/Los_Angeles", []time.Duration{3 * time.Hour, 27 * time.Hour}},
		{"an hour west", "America/Chicago", []time.Duration{time.Hour, 25 * time.Hour}},
		{"the same clock", "America/Toronto", []time.Duration{0, 24 * time.Hour}},
		{"an hour east, the time has passed", "America/Halifax", []time.Duration{23 * time.Hour}},
		{"far east, the time has passed", "Europe/Berlin", []time.Duration{18 * time.Hour}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(_ *world, r *coach.Rules) { *r = coach.Rules{PromptGrace: 2 * time.Hour} },
				withSchedule("11:00", "2026-03-02", eleven))
			u := w.update(59*time.Minute, wire.UpdateParticipant, wire.ParticipantChanged{Zone: tt.zone})
			w.run(29 * time.Hour)
			require.True(t, u.done)
			place, err := time.LoadLocation(tt.zone)
			require.NoError(t, err)
			days := map[string]bool{}
			var got []time.Duration
			for _, s := range w.carrier.of(models.KindPrompt) {
				got = append(got, s.At.Sub(eleven).Round(time.Minute))
				day := s.At.In(place).Format(time.DateOnly)
				require.False(t, days[day], "two prompts on %s", day)
				days[day] = true
			}
			require.Equal(t, tt.want, got)
		})
	}
}

// TestWorkersClockAhead is case 33: the machine of the worker is ten minutes
// ahead. When things fall due is the server's time alone.
func TestWorkersClockAhead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven))
	ahead := func() time.Time { return w.env.Now().Add(10 * time.Minute) }
	library, err := prompts.Load("")
	require.NoError(t, err)
	posts := &activities.SendActivities{Store: w.store.Outbox, Carrier: w.carrier, Now: ahead}
	turns := &activities.TurnLoader{Store: w.store.Turns, Outbox: w.store.Outbox, Recent: activities.NewRecent(), Prompts: library, Programme: "Test", Limits: w.limits}
	again := activity.RegisterOptions{DisableAlreadyRegisteredCheck: true}
	w.env.RegisterActivityWithOptions(posts, again)
	w.env.RegisterActivityWithOptions(&activities.TurnEnd{Turns: turns, Posts: posts, Keeper: keepsNothing{}, After: w, Rules: w.rules}, again)
	w.run(26 * time.Hour)
	prompted := w.carrier.of(models.KindPrompt)
	require.Len(t, prompted, 2)
	for i, want := range []time.Time{eleven.Add(-10 * time.Minute), eleven.Add(24*time.Hour - 10*time.Minute)} {
		require.False(t, prompted[i].At.Before(want), "early by %s", want.Sub(prompted[i].At))
		require.WithinDuration(t, want, prompted[i].At, time.Second)
	}
}

// keepsNothing remembers no turn.
type keepsNothing struct{}

func (keepsNothing) Worth(models.TurnContext) bool                      { return false }
func (keepsNothing) Remember(context.Context, models.TurnContext) error { return nil }

// TestModelAsksToWait is case 39: the next attempt comes when the model's
// server said, not by our own interval.
func TestModelAsksToWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withRules(func(r *coach.Rules) { r.Debounce = 0 }))
	var asked []time.Time
	w.model.answer = func(models.ChatRequest) (models.ChatResponse, error) {
		asked = append(asked, w.env.Now())
		if len(asked) == 1 {
			return models.ChatResponse{}, &models.ModelError{Class: models.ModelBusy, Status: 429, RetryAfter: 7 * time.Second, Message: "slow down"}
		}
		return say("here"), nil
	}
	w.text(0, "hello")
	w.run(time.Minute)
	require.Len(t, asked, 2)
	require.Equal(t, 7*time.Second, asked[1].Sub(asked[0]))
	require.Equal(t, []models.EntryKind{models.KindReply}, w.carrier.kinds())
}

// workflowQueue is the queue of workflows in the SDK's test environment.
const workflowQueue = "default-test-taskqueue"

// TestTimeLimits is the durable half of case 41 and of case 3: how long an
// attempt, a silence and a dead worker may last. (The attempt itself gives up
// on a model after 60 seconds; package llm shows it.)
func TestTimeLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven))
	var mu sync.Mutex
	seen := map[string]activity.Info{}
	w.env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		mu.Lock()
		defer mu.Unlock()
		if name := info.ActivityType.Name; !info.IsLocalActivity && seen[name].ActivityID == "" {
			seen[name] = *info
		}
	})
	w.model.answer = scripted(map[string][]models.ToolCall{"walk": {call("save_user_profile", map[string]any{"habit_domain": "walk"})}})
	w.text(time.Minute, "a walk")
	w.run(2 * time.Hour)
	for name, want := range map[string]struct{ call, beat time.Duration }{
		"CallModel": {16 * time.Minute, 4 * time.Second},
		"SendTurn":  {30 * time.Second, 4 * time.Second},
		"RunTool":   {16 * time.Minute, 4 * time.Second},
	} {
		got, ok := seen[name]
		require.True(t, ok, name)
		require.Equal(t, want.call, got.StartToCloseTimeout, name)
		require.Equal(t, want.beat, got.HeartbeatTimeout, name)
	}
	for _, name := range []string{"CallModel", "SendTurn", "RunTool"} {
		require.Equal(t, workflowQueue, seen[name].TaskQueue, "%s is handed out with the workflow task only on the workflow's own queue", name)
	}
}

// TestModelNeverAnswers is the rest of case 41: the fixed text stands in after
// three minutes, a greeting's after one.
func TestModelNeverAnswers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		greeted bool
		want    time.Duration
	}{{"reply", true, 3 * time.Minute}, {"greeting", false, time.Minute}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(w *world, r *coach.Rules) { w.state.Greeted, r.Debounce = tt.greeted, 0 })
			w.model.answer = func(models.ChatRequest) (models.ChatResponse, error) {
				return models.ChatResponse{}, &models.ModelError{Class: models.ModelBusy, Message: "no answer in time"}
			}
			if tt.greeted {
				w.text(0, "hello")
			}
			w.run(10 * time.Minute)
			require.Len(t, w.carrier.sent, 1)
			require.LessOrEqual(t, w.carrier.sent[0].At.Sub(monday), tt.want+time.Second)
			require.Greater(t, w.carrier.sent[0].At.Sub(monday), tt.want/2)
		})
	}
}

// TestNoRunIsOlderThanAWeek: new code reaches every participant who writes
// (case 44), and one who does not keeps a short history.
func TestNoRunIsOlderThanAWeek(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven))
	w.at(6*day, func() { w.env.SetCurrentHistoryLength(500) })
	w.run(20 * day)
	next := w.continued()
	require.WithinDuration(t, monday.Add(7*day), w.env.Now(), day+time.Hour)
	require.Equal(t, wire.DueDailyPrompt, next.Due[0].Kind)
	require.Empty(t, next.Plans)
}

// TestARunIsContinuedBetweenTurns: what is planned when a run has grown long is
// done by the next one, each thing once.
func TestARunIsContinuedBetweenTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withRules(func(r *coach.Rules) { r.Debounce = 0 }))
	var rows []string
	for i := range 3 {
		row, _, err := w.store.Outbox.QueueOperatorMessage(context.Background(), models.OperatorMessage{
			ParticipantID: "conv_1", Body: fmt.Sprint("letter ", i), Key: fmt.Sprint("k", i), Actor: "op", Now: monday})
		require.NoError(t, err)
		rows = append(rows, row.ID)
	}
	w.at(time.Second, func() {
		for _, id := range rows {
			w.env.UpdateWorkflow(wire.UpdateSendMessage, "u-"+id, &updated{}, wire.SendMessageRequest{OutboxID: id})
		}
		w.env.SetContinueAsNewSuggested(true)
	})
	w.run(time.Hour)
	next := w.continued()
	require.Len(t, w.carrier.sent, 1, "a run does at least one turn")
	require.Equal(t, []wire.TurnPlan{
		{Kind: wire.TurnOperator, OutboxID: rows[1]}, {Kind: wire.TurnOperator, OutboxID: rows[2]}}, next.Plans)
	require.Empty(t, next.Commands, "their senders were answered")
	require.Equal(t, 1, next.Turn)
}

// TestWorstCarriedState is case 26: what is carried fits in 64 KB, and every
// due time is armed at the same instant.
func TestWorstCarriedState(t *testing.T) {
	t.Parallel()
	state := wire.ParticipantState{ParticipantID: "conv_" + strings.Repeat("f", 20), Zone: "America/Argentina/ComodRivadavia",
		Status: wire.StatusActive, Mode: wire.ModeFeedback, Greeted: true, Turn: 1 << 20, HasNews: true}
	prompt := state.ParticipantID + "-sch-t100000-s8c4-2026-03-02"
	state.Pending = &wire.PendingPrompt{PromptID: prompt, SentAt: monday}
	for i := range 400 { // two days' worth of the starter's limit, every second one still on its way
		require.True(t, state.Inbox.Take(wire.InboxItem{MessageID: 1<<40 + int64(i), Seq: int64(2*i + 2), ReceivedAt: monday.Add(time.Duration(i) * time.Millisecond)}))
	}
	// No two are due so soon after each other that one would change another.
	due := func(kind wire.DueKind, ref string) {
		state.Due = append(state.Due, wire.Due{Kind: kind, Ref: ref, At: monday.Add(time.Duration(len(state.Due)+100)*time.Hour + 123456789)})
	}
	for i := range 5 {
		id := fmt.Sprintf("sch-t100000-s8c%d", i)
		state.Schedules = append(state.Schedules, wire.Schedule{ID: id, Type: wire.ScheduleRandom, From: "09:00", To: "17:00",
			Zone: state.Zone, LastDate: "2026-03-02", Next: wire.Slot{Date: "2026-03-03", TargetAt: monday, SendAt: monday}})
		due(wire.DueDailyPrompt, id)
		state.Plans = append(state.Plans, wire.TurnPlan{Kind: wire.TurnPrompt, PromptID: prompt, ScheduleID: id, Slot: state.Schedules[i].Next})
	}
	for i := range 50 {
		state.Plans = append(state.Plans, wire.TurnPlan{Kind: wire.TurnOperator, OutboxID: fmt.Sprintf("%s-op-%064d", state.ParticipantID, i)})
	}
	for _, kind := range []wire.DueKind{wire.DueReminder, wire.DueAutoFeedback, wire.DueFeedbackTimeout, wire.DueFeedbackFollowup, wire.DueDelayedTransition, wire.DueDebounce} {
		due(kind, prompt)
	}
	text, err := json.Marshal(state)
	require.NoError(t, err)
	t.Logf("%d bytes", len(text))
	require.LessOrEqual(t, len(text), 64<<10)
	var carried wire.ParticipantState
	require.NoError(t, json.Unmarshal(text, &carried))
	require.Equal(t, state, carried)

	w := newWorld(t, func(w *world, _ *coach.Rules) { w.state.Due = carried.Due })
	var armed []time.Duration
	w.env.SetOnTimerScheduledListener(func(_ string, after time.Duration) { armed = append(armed, after) })
	var view wire.StatusView
	w.at(time.Minute, func() { view = w.status() })
	w.run(2 * time.Minute)
	require.Equal(t, state.Due, view.Due)
	require.Contains(t, armed, state.Due[0].At.Sub(monday), "to the nanosecond")
}
