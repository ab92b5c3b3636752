package coach

import (
	"testing"
	"time"

	"coachline/models/wire"

	"github.com/stretchr/testify/require"
)

func TestDueAutoFeedback(t *testing.T) {
	wait := setDue(wire.DueFeedbackTimeout, "p1", instant(t, noon).Add(15*time.Minute))
	for _, c := range []struct {
		name   string
		change func(*Input)
		want   []wire.Effect
	}{
		{"no answer", nil, []wire.Effect{setMode(wire.ModeFeedback), wait}},
		{"reminded already", func(s *Input) { s.State.Pending = nil }, []wire.Effect{setMode(wire.ModeFeedback), wait}},
		{"feedback already", func(s *Input) { s.State.Mode = wire.ModeFeedback }, []wire.Effect{wait}},
		{"no time-out", func(s *Input) { s.Rules.FeedbackTimeout = 0 }, []wire.Effect{setMode(wire.ModeFeedback)}},
		{"a text is waiting", func(s *Input) { *s = waiting(*s, 0) }, nil},
		{"voided", func(s *Input) { s.State.Pending.PromptID = "p2" }, nil},
		{"paused", func(s *Input) { s.State.Status = wire.StatusPaused }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := at(t, noon)
			s.State.Pending = &wire.PendingPrompt{PromptID: "p1"}
			if c.change != nil {
				c.change(&s)
			}
			require.Equal(t, c.want, decide(t, s, dueEvent(wire.DueAutoFeedback, "p1")).Effects)
		})
	}
}

func TestDueFeedback(t *testing.T) {
	now := instant(t, noon)
	question := turn(wire.TurnPlan{Kind: wire.TurnFeedbackQuestion, PromptID: "p1"})
	followup := turn(wire.TurnPlan{Kind: wire.TurnFeedbackFollowup, PromptID: "p1"})
	evening, morning := "2026-01-15T22:00:00-05:00", instant(t, "2026-01-16T08:00:00-05:00")
	for _, c := range []struct {
		name, now string
		kind      wire.DueKind
		change    func(*Input)
		want      []wire.Effect
	}{
		{"question", noon, wire.DueFeedbackTimeout, nil,
			[]wire.Effect{setDue(wire.DueFeedbackFollowup, "p1", now.Add(3*time.Hour)), question}},
		{"question without follow-up", noon, wire.DueFeedbackTimeout, func(s *Input) { s.Rules.FeedbackFollowup = 0 }, []wire.Effect{question}},
		{"follow-up is the last", noon, wire.DueFeedbackFollowup, nil, []wire.Effect{followup}},
		{"question at night", evening, wire.DueFeedbackTimeout, nil, []wire.Effect{setDue(wire.DueFeedbackTimeout, "p1", morning)}},
		{"follow-up at night", evening, wire.DueFeedbackFollowup, nil, []wire.Effect{setDue(wire.DueFeedbackFollowup, "p1", morning)}},
		{"a text is waiting", noon, wire.DueFeedbackTimeout, func(s *Input) { *s = waiting(*s, 0) }, nil},
		{"back in intake", noon, wire.DueFeedbackTimeout, func(s *Input) { s.State.Mode = wire.ModeIntake }, nil},
		{"paused", noon, wire.DueFeedbackFollowup, func(s *Input) { s.State.Status = wire.StatusPaused }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := at(t, c.now)
			s.State.Mode = wire.ModeFeedback
			if c.change != nil {
				c.change(&s)
			}
			require.Equal(t, c.want, decide(t, s, dueEvent(c.kind, "p1")).Effects)
		})
	}
}

func TestModeChange(t *testing.T) {
	timeout := setDue(wire.DueFeedbackTimeout, "", instant(t, noon).Add(15*time.Minute))
	ofPrompt := setDue(wire.DueFeedbackTimeout, "p1", instant(t, noon).Add(15*time.Minute))
	off := []wire.Effect{clearDue(wire.DueFeedbackTimeout), clearDue(wire.DueFeedbackFollowup)}
	for _, c := range []struct {
		name     string
		from, to wire.Mode
		change   func(*Input)
		want     []wire.Effect
	}{
		{"to feedback", wire.ModeIntake, wire.ModeFeedback, nil, []wire.Effect{setMode(wire.ModeFeedback), timeout}},
		{"to feedback on a prompt", wire.ModeIntake, wire.ModeFeedback,
			func(s *Input) { s.State.Pending = &wire.PendingPrompt{PromptID: "p1"} },
			[]wire.Effect{setMode(wire.ModeFeedback), ofPrompt}},
		{"to feedback while paused", wire.ModeIntake, wire.ModeFeedback,
			func(s *Input) { s.State.Status = wire.StatusPaused }, []wire.Effect{setMode(wire.ModeFeedback)}},
		{"to intake", wire.ModeFeedback, wire.ModeIntake, func(s *Input) {
			s.State.Due = []wire.Due{{Kind: wire.DueFeedbackTimeout}, {Kind: wire.DueFeedbackFollowup}}
		}, append([]wire.Effect{setMode(wire.ModeIntake)}, off...)},
		{"an unknown mode is stored as intake", "", wire.ModeIntake, nil, []wire.Effect{setMode(wire.ModeIntake)}},
		{"the same mode cancels nothing", wire.ModeFeedback, wire.ModeFeedback,
			func(s *Input) { s.State.Due = []wire.Due{{Kind: wire.DueFeedbackTimeout}} }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := at(t, noon)
			s.State.Mode = c.from
			if c.change != nil {
				c.change(&s)
			}
			require.Equal(t, c.want, decide(t, s, wire.Event{Kind: wire.EventMode, Mode: c.to}).Effects)
			require.Equal(t, c.want, decide(t, s, dueEvent(wire.DueDelayedTransition, string(c.to))).Effects)
		})
	}

	s := at(t, noon)
	s.State.Due = []wire.Due{{Kind: wire.DueDelayedTransition, Ref: string(wire.ModeFeedback)}}
	require.Equal(t, []wire.Effect{clearDue(wire.DueDelayedTransition)},
		decide(t, s, wire.Event{Kind: wire.EventMode, Mode: wire.ModeIntake}).Effects, "an operator's word cancels what was planned")
	require.Contains(t, decide(t, s, wire.Event{Kind: wire.EventMode, Mode: "COORDINATOR"}).Refused, "INTAKE, FEEDBACK")
	require.Empty(t, decide(t, s, dueEvent(wire.DueDelayedTransition, "COORDINATOR")).Effects)
}

func TestTransitionAsk(t *testing.T) {
	s := at(t, noon)
	ask := func(mode wire.Mode, delay time.Duration) wire.Decision {
		return decide(t, s, wire.Event{Kind: wire.EventTransitionAsk, Mode: mode, Delay: delay})
	}

	got := ask(wire.ModeFeedback, 0)
	require.Equal(t, []wire.Effect{setDue(wire.DueDelayedTransition, "FEEDBACK", s.Now)}, got.Effects, "applied between turns")
	require.JSONEq(t, `{"ok":true,"target_state":"FEEDBACK","applies":"after this turn"}`, got.Note)

	got = ask(wire.ModeFeedback, 30*time.Second)
	require.Equal(t, []wire.Effect{setDue(wire.DueDelayedTransition, "FEEDBACK", s.Now.Add(30*time.Second))}, got.Effects)
	require.JSONEq(t, `{"ok":true,"target_state":"FEEDBACK","applies":"at 2026-01-15T12:00:30-05:00"}`, got.Note)

	s.State.Due = []wire.Due{{Kind: wire.DueDelayedTransition, Ref: "FEEDBACK", At: s.Now.Add(time.Hour)}}
	require.Equal(t, []wire.Effect{clearDue(wire.DueDelayedTransition), setDue(wire.DueDelayedTransition, "INTAKE", s.Now)},
		ask(wire.ModeIntake, 0).Effects, "the newest replaces the others")

	for _, refused := range []wire.Decision{ask("COORDINATOR", 0), ask("", 0), ask(wire.ModeIntake, -time.Minute)} {
		require.NotEmpty(t, refused.Refused)
		require.Empty(t, refused.Effects)
		require.Empty(t, refused.Note)
	}
}
