package coach

import (
	"testing"
	"time"

	"coachline/models"

	"github.com/stretchr/testify/require"
)

func TestDueAutoFeedback(t *testing.T) {
	wait := setDue(models.DueFeedbackTimeout, "p1", instant(t, noon).Add(15*time.Minute))
	for _, c := range []struct {
		name   string
		change func(*Input)
		want   []models.Effect
	}{
		{"no answer", nil, []models.Effect{setMode(models.ModeFeedback), wait}},
		{"reminded already", func(s *Input) { s.State.Pending = nil }, []models.Effect{setMode(models.ModeFeedback), wait}},
		{"feedback already", func(s *Input) { s.State.Mode = models.ModeFeedback }, []models.Effect{wait}},
		{"no time-out", func(s *Input) { s.Rules.FeedbackTimeout = 0 }, []models.Effect{setMode(models.ModeFeedback)}},
		{"a text is waiting", func(s *Input) { *s = waiting(*s, 0) }, nil},
		{"voided", func(s *Input) { s.State.Pending.PromptID = "p2" }, nil},
		{"paused", func(s *Input) { s.State.Status = models.StatusPaused }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := at(t, noon)
			s.State.Pending = &models.PendingPrompt{PromptID: "p1"}
			if c.change != nil {
				c.change(&s)
			}
			require.Equal(t, c.want, decide(t, s, dueEvent(models.DueAutoFeedback, "p1")).Effects)
		})
	}
}

func TestDueFeedback(t *testing.T) {
	now := instant(t, noon)
	question := turn(models.TurnPlan{Kind: models.TurnFeedbackQuestion, PromptID: "p1"})
	followup := turn(models.TurnPlan{Kind: models.TurnFeedbackFollowup, PromptID: "p1"})
	evening, morning := "2026-01-15T22:00:00-05:00", instant(t, "2026-01-16T08:00:00-05:00")
	for _, c := range []struct {
		name, now string
		kind      models.DueKind
		change    func(*Input)
		want      []models.Effect
	}{
		{"question", noon, models.DueFeedbackTimeout, nil,
			[]models.Effect{setDue(models.DueFeedbackFollowup, "p1", now.Add(3*time.Hour)), question}},
		{"question without follow-up", noon, models.DueFeedbackTimeout, func(s *Input) { s.Rules.FeedbackFollowup = 0 }, []models.Effect{question}},
		{"follow-up is the last", noon, models.DueFeedbackFollowup, nil, []models.Effect{followup}},
		{"question at night", evening, models.DueFeedbackTimeout, nil, []models.Effect{setDue(models.DueFeedbackTimeout, "p1", morning)}},
		{"follow-up at night", evening, models.DueFeedbackFollowup, nil, []models.Effect{setDue(models.DueFeedbackFollowup, "p1", morning)}},
		{"a text is waiting", noon, models.DueFeedbackTimeout, func(s *Input) { *s = waiting(*s, 0) }, nil},
		{"back in intake", noon, models.DueFeedbackTimeout, func(s *Input) { s.State.Mode = models.ModeIntake }, nil},
		{"paused", noon, models.DueFeedbackFollowup, func(s *Input) { s.State.Status = models.StatusPaused }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := at(t, c.now)
			s.State.Mode = models.ModeFeedback
			if c.change != nil {
				c.change(&s)
			}
			require.Equal(t, c.want, decide(t, s, dueEvent(c.kind, "p1")).Effects)
		})
	}
}

func TestModeChange(t *testing.T) {
	timeout := setDue(models.DueFeedbackTimeout, "", instant(t, noon).Add(15*time.Minute))
	ofPrompt := setDue(models.DueFeedbackTimeout, "p1", instant(t, noon).Add(15*time.Minute))
	off := []models.Effect{clearDue(models.DueFeedbackTimeout), clearDue(models.DueFeedbackFollowup)}
	for _, c := range []struct {
		name     string
		from, to models.Mode
		change   func(*Input)
		want     []models.Effect
	}{
		{"to feedback", models.ModeIntake, models.ModeFeedback, nil, []models.Effect{setMode(models.ModeFeedback), timeout}},
		{"to feedback on a prompt", models.ModeIntake, models.ModeFeedback,
			func(s *Input) { s.State.Pending = &models.PendingPrompt{PromptID: "p1"} },
			[]models.Effect{setMode(models.ModeFeedback), ofPrompt}},
		{"to feedback while paused", models.ModeIntake, models.ModeFeedback,
			func(s *Input) { s.State.Status = models.StatusPaused }, []models.Effect{setMode(models.ModeFeedback)}},
		{"to intake", models.ModeFeedback, models.ModeIntake, func(s *Input) {
			s.State.Due = []models.Due{{Kind: models.DueFeedbackTimeout}, {Kind: models.DueFeedbackFollowup}}
		}, append([]models.Effect{setMode(models.ModeIntake)}, off...)},
		{"an unknown mode is stored as intake", "", models.ModeIntake, nil, []models.Effect{setMode(models.ModeIntake)}},
		{"the same mode cancels nothing", models.ModeFeedback, models.ModeFeedback,
			func(s *Input) { s.State.Due = []models.Due{{Kind: models.DueFeedbackTimeout}} }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := at(t, noon)
			s.State.Mode = c.from
			if c.change != nil {
				c.change(&s)
			}
			require.Equal(t, c.want, decide(t, s, models.Event{Kind: models.EventMode, Mode: c.to}).Effects)
			require.Equal(t, c.want, decide(t, s, dueEvent(models.DueDelayedTransition, string(c.to))).Effects)
		})
	}

	s := at(t, noon)
	s.State.Due = []models.Due{{Kind: models.DueDelayedTransition, Ref: string(models.ModeFeedback)}}
	require.Equal(t, []models.Effect{clearDue(models.DueDelayedTransition)},
		decide(t, s, models.Event{Kind: models.EventMode, Mode: models.ModeIntake}).Effects, "an operator's word cancels what was planned")
	require.Contains(t, decide(t, s, models.Event{Kind: models.EventMode, Mode: "COORDINATOR"}).Refused, "INTAKE, FEEDBACK")
	require.Empty(t, decide(t, s, dueEvent(models.DueDelayedTransition, "COORDINATOR")).Effects)
}

func TestTransitionAsk(t *testing.T) {
	s := at(t, noon)
	ask := func(mode models.Mode, delay time.Duration) models.Decision {
		return decide(t, s, models.Event{Kind: models.EventTransitionAsk, Mode: mode, Delay: delay})
	}

	got := ask(models.ModeFeedback, 0)
	require.Equal(t, []models.Effect{setDue(models.DueDelayedTransition, "FEEDBACK", s.Now)}, got.Effects, "applied between turns")
	require.JSONEq(t, `{"ok":true,"target_state":"FEEDBACK","applies":"after this turn"}`, got.Note)

	got = ask(models.ModeFeedback, 30*time.Second)
	require.Equal(t, []models.Effect{setDue(models.DueDelayedTransition, "FEEDBACK", s.Now.Add(30*time.Second))}, got.Effects)
	require.JSONEq(t, `{"ok":true,"target_state":"FEEDBACK","applies":"at 2026-01-15T12:00:30-05:00"}`, got.Note)

	s.State.Due = []models.Due{{Kind: models.DueDelayedTransition, Ref: "FEEDBACK", At: s.Now.Add(time.Hour)}}
	require.Equal(t, []models.Effect{clearDue(models.DueDelayedTransition), setDue(models.DueDelayedTransition, "INTAKE", s.Now)},
		ask(models.ModeIntake, 0).Effects, "the newest replaces the others")

	for _, refused := range []models.Decision{ask("COORDINATOR", 0), ask("", 0), ask(models.ModeIntake, -time.Minute)} {
		require.NotEmpty(t, refused.Refused)
		require.Empty(t, refused.Effects)
		require.Empty(t, refused.Note)
	}
}
