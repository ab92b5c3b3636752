package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
)

// eleven is 11:00 in New York on the Monday of the tests.
var eleven = monday.Add(time.Hour)

func TestDailyPromptSilenceTakesEveryStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven))
	w.run(26 * time.Hour)

	sentAt := eleven.Add(-10 * time.Minute)
	require.Equal(t, []models.EntryKind{
		models.KindPrompt, models.KindFeedbackQuestion, models.KindFeedbackFollowup, models.KindReminder,
	}, w.carrier.kinds()[:min(4, len(w.carrier.kinds()))])
	got := w.carrier.sent
	require.WithinDuration(t, sentAt, got[0].At, time.Second)
	require.WithinDuration(t, sentAt.Add(20*time.Minute), got[1].At, time.Second, "5 min to feedback, 15 more to the question")
	require.WithinDuration(t, sentAt.Add(20*time.Minute+3*time.Hour), got[2].At, time.Second)
	require.WithinDuration(t, sentAt.Add(5*time.Hour), got[3].At, time.Second)
	require.Equal(t, wire.ModeFeedback, w.status().Mode)
	require.Len(t, w.carrier.of(models.KindPrompt), 2, "the next day's prompt at the same local time")
	require.WithinDuration(t, sentAt.Add(24*time.Hour), w.carrier.of(models.KindPrompt)[1].At, time.Second)
	require.Len(t, w.carrier.of(models.KindReminder), 1)
}

func TestReplyCancelsEverythingThatWaitedForIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven))
	w.text(52*time.Minute, "done!")
	w.run(20 * time.Hour)

	require.Equal(t, []models.EntryKind{models.KindPrompt, models.KindReply}, w.carrier.kinds())
	require.Equal(t, wire.ModeIntake, w.status().Mode, "an answer within five minutes: no automatic feedback")
	require.Nil(t, w.status().Pending)
	require.Contains(t, wholeText(w.model.requests[1]), "# Outstanding prompt", "the model knows what was sent")
}

func TestReplyInTheInstantOfTheReminder(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		offset time.Duration
		want   int
	}{
		{"a second before", -time.Second, 0},
		{"the same instant", 0, 0},
		{"a second after", time.Second, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven),
				withRules(func(r *coach.Rules) { r.AutoFeedbackDelay = 0 }))
			w.text(50*time.Minute+5*time.Hour+tt.offset, "here I am")
			w.run(8 * time.Hour)
			require.Len(t, w.carrier.of(models.KindReminder), tt.want)
			require.Len(t, w.carrier.of(models.KindReply), 1)
		})
	}
}

func TestReminderNotSentOnceTheReplyIsStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven),
		withRules(func(r *coach.Rules) { r.AutoFeedbackDelay = 0 }))
	// The text is in the database, and its signal is not yet delivered.
	var signal wire.InboxItem
	w.at(5*time.Hour+49*time.Minute, func() { signal = w.accept("done") })
	w.at(6*time.Hour, func() { w.env.SignalWorkflow(wire.SignalMessageReceived, signal) })
	w.run(8 * time.Hour)
	require.Empty(t, w.carrier.of(models.KindReminder))
	require.Len(t, w.carrier.of(models.KindReply), 1)
}

func TestNewPromptVoidsTheOldReminder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven),
		withRules(func(r *coach.Rules) { r.ReminderDelay = 30 * time.Hour; r.AutoFeedbackDelay = 0 }))
	w.run(40 * time.Hour)
	require.Len(t, w.carrier.of(models.KindPrompt), 2)
	require.Empty(t, w.carrier.of(models.KindReminder), "the first one's reminder fell due after the second prompt")
	require.Equal(t, "conv_1-sch-1-2026-03-03", w.status().Pending.PromptID)
}

func TestPromptMissedInAnOutage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		late  time.Duration
		wants []time.Time
	}{
		{"an hour late: sent at once, then the usual time", time.Hour, []time.Time{monday, monday.Add(23*time.Hour - 10*time.Minute)}},
		{"three hours late: recorded, next slot only", 3 * time.Hour, []time.Time{monday.Add(21*time.Hour - 10*time.Minute)}},
		{"three days and three hours late: one prompt, not three", 75 * time.Hour, []time.Time{monday.Add(21*time.Hour - 10*time.Minute)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			target := monday.Add(-tt.late)
			local := target.In(newYork(t))
			w := newWorld(t, withSchedule(local.Format("15:04"), local.Format(time.DateOnly), target),
				withRules(func(r *coach.Rules) { r.AutoFeedbackDelay, r.ReminderDelay = 0, 0 }))
			w.run(24 * time.Hour)
			var at []time.Time
			for _, s := range w.carrier.of(models.KindPrompt) {
				at = append(at, s.At)
			}
			require.Len(t, at, len(tt.wants))
			for i := range at {
				require.WithinDuration(t, tt.wants[i], at[i], 2*time.Second)
			}
		})
	}
}

func newYork(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	return zone
}

func TestDelayedTransition(t *testing.T) {
	t.Parallel()
	ask := func(target string, minutes float64) []models.ToolCall {
		return []models.ToolCall{call("transition_state", map[string]any{"target_state": target, "delay_minutes": minutes})}
	}
	script := scripted(map[string][]models.ToolCall{
		"later": ask("FEEDBACK", 60), "sooner": ask("FEEDBACK", 30), "half": ask("FEEDBACK", 0.5),
		"now": {call("transition_state", map[string]any{"target_state": "INTAKE"})},
	})
	quiet := withRules(func(r *coach.Rules) { r.FeedbackTimeout = 0 })
	start := func(t *testing.T) *world {
		w := newWorld(t, quiet)
		w.model.answer = script
		return w
	}
	modeAt := func(w *world, offset time.Duration, into *wire.Mode) {
		w.at(offset, func() { *into = w.status().Mode })
	}

	t.Run("applied at its instant", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		var before, after wire.Mode
		w.text(0, "later")
		modeAt(w, 59*time.Minute, &before)
		modeAt(w, 61*time.Minute, &after)
		w.run(2 * time.Hour)
		require.Equal(t, []wire.Mode{wire.ModeIntake, wire.ModeFeedback}, []wire.Mode{before, after})
	})
	t.Run("fractions count", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		var before, after wire.Mode
		w.text(0, "half")
		modeAt(w, 25*time.Second, &before)
		modeAt(w, 40*time.Second, &after)
		w.run(time.Hour)
		require.Equal(t, []wire.Mode{wire.ModeIntake, wire.ModeFeedback}, []wire.Mode{before, after})
	})
	t.Run("a later one replaces an earlier one", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		var due []wire.Due
		w.text(0, "later")
		w.text(time.Minute, "sooner")
		w.at(2*time.Minute, func() { due = w.status().Due })
		w.run(2 * time.Hour)
		require.Len(t, due, 1)
		require.WithinDuration(t, monday.Add(31*time.Minute), due[0].At, 5*time.Second)
	})
	t.Run("an immediate one cancels it", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		w.text(0, "later")
		w.text(time.Minute, "now")
		w.run(2 * time.Hour)
		require.Equal(t, wire.ModeIntake, w.status().Mode)
		require.Empty(t, w.status().Due)
	})
}

func TestZoneChangeMovesTheDueTimeAndNeverDoublesADay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven),
		withRules(func(r *coach.Rules) { r.AutoFeedbackDelay, r.ReminderDelay = 0, 0 }))
	// An hour after Monday's prompt the person flies west, where 11:00 is still
	// ahead.
	u := w.update(2*time.Hour, wire.UpdateParticipant, wire.ParticipantChanged{Zone: "America/Los_Angeles"})
	w.run(30 * time.Hour)
	require.NoError(t, u.rejected)
	require.True(t, u.done)
	prompts := w.carrier.of(models.KindPrompt)
	require.Len(t, prompts, 2)
	require.WithinDuration(t, eleven.Add(-10*time.Minute), prompts[0].At, time.Second)
	require.WithinDuration(t, eleven.Add(27*time.Hour-10*time.Minute), prompts[1].At, time.Second, "Tuesday 11:00 in Los Angeles")
}

// TestQuietBandEndsWhenTheZoneIsStated: the feedback question of a participant
// whose zone is assumed waits for the day in Honolulu, also after a change of
// something else; that of a participant who stated the zone does not.
func TestQuietBandEndsWhenTheZoneIsStated(t *testing.T) {
	t.Parallel()
	honolulu, err := time.LoadLocation("Pacific/Honolulu")
	require.NoError(t, err)
	for _, stated := range []bool{false, true} {
		w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven), withRules(func(r *coach.Rules) {
			r.ReminderDelay, r.Band = 0, []*time.Location{honolulu}
			r.Quiet, err = coach.ParseQuietHours("21:00-08:00")
			require.NoError(t, err)
		}), func(w *world, _ *coach.Rules) { w.state.ZoneAssumed = true })
		w.update(time.Minute, wire.UpdateParticipant, wire.ParticipantChanged{Zone: w.state.Zone, ZoneAssumed: !stated})
		w.run(12 * time.Hour)
		require.Len(t, w.carrier.of(models.KindPrompt), 1, "a chosen time is exempt")
		asked := w.carrier.of(models.KindFeedbackQuestion)
		require.Len(t, asked, 1)
		early := asked[0].At.In(honolulu).Hour() < 8
		require.Equal(t, stated, early)
	}
}
