package coach_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/coach"
	"coachline/models/wire"
)

// A study that is over starts nothing: prompts are recorded as missed, nothing
// else is planned, and a reply still goes out.
func TestStudyThatIsOverStartsNothing(t *testing.T) {
	now := time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)
	slot := wire.Slot{Date: "2026-03-02", TargetAt: now, SendAt: now}
	state := wire.ParticipantState{
		ParticipantID: "conv_a", Zone: "UTC", Status: wire.StatusActive, Mode: wire.ModeFeedback, Greeted: true, GreetingAt: now,
		Pending:   &wire.PendingPrompt{PromptID: "p1", SentAt: now},
		Schedules: []wire.Schedule{{ID: "s1", Type: wire.ScheduleFixed, At: "15:00", Next: slot}},
	}
	rules := coach.Rules{CheckIn: time.Hour, CheckInCap: 1, ReminderDelay: time.Hour, FeedbackTimeout: time.Hour}
	starts := func(rules coach.Rules, state wire.ParticipantState, ev wire.Event) (kinds []wire.TurnKind, missed []string) {
		decision, err := coach.Decide(coach.Input{State: state, Now: now, Rules: rules, Zones: time.LoadLocation}, ev)
		require.NoError(t, err)
		for _, effect := range decision.Effects {
			if effect.Kind == wire.EffectStartTurn {
				kinds = append(kinds, effect.Turn.Kind)
			}
			if effect.Kind == wire.EffectMissPrompt {
				missed = append(missed, effect.Missed.Reason)
			}
		}
		return kinds, missed
	}
	over := rules
	over.Silent = true
	for _, due := range []wire.Due{
		{Kind: wire.DueGreeting}, {Kind: wire.DueDailyPrompt, Ref: "s1"}, {Kind: wire.DueReminder, Ref: "p1"},
		{Kind: wire.DueFeedbackTimeout, Ref: "p1"}, {Kind: wire.DueCheckIn},
	} {
		asked := state
		if due.Kind == wire.DueCheckIn {
			asked.Pending = nil
		}
		ev := wire.Event{Kind: wire.EventDue, Due: due}
		kinds, _ := starts(rules, asked, ev)
		require.Len(t, kinds, 1, "%s of a running study", due.Kind)
		kinds, missed := starts(over, asked, ev)
		require.Empty(t, kinds, due.Kind)
		if due.Kind == wire.DueDailyPrompt {
			require.Equal(t, []string{coach.MissedStudyOver}, missed)
		}
	}
	kinds, _ := starts(over, state, wire.Event{Kind: wire.EventEnrolled})
	require.Empty(t, kinds)
	state.Inbox.Items = []wire.InboxItem{{Seq: 1, MessageID: 1, ReceivedAt: now}}
	kinds, _ = starts(over, state, wire.Event{Kind: wire.EventTexts})
	require.Equal(t, []wire.TurnKind{wire.TurnReply}, kinds)

	quiet := rules
	quiet.NoReminders = true
	kinds, _ = starts(quiet, wire.ParticipantState{
		ParticipantID: "conv_a", Zone: "UTC", Status: wire.StatusActive, Pending: state.Pending,
	}, wire.Event{Kind: wire.EventDue, Due: wire.Due{Kind: wire.DueReminder, Ref: "p1"}})
	require.Empty(t, kinds, "the study has turned reminders off since")
}
