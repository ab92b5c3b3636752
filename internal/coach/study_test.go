package coach_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/coach"
	"coachline/models"
)

// A study that is over starts nothing: prompts are recorded as missed, nothing
// else is planned, and a reply still goes out.
func TestStudyThatIsOverStartsNothing(t *testing.T) {
	now := time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)
	slot := models.Slot{Date: "2026-03-02", TargetAt: now, SendAt: now}
	state := models.ParticipantState{
		ParticipantID: "conv_a", Zone: "UTC", Status: models.StatusActive, Mode: models.ModeFeedback, Greeted: true, GreetingAt: now,
		Pending:   &models.PendingPrompt{PromptID: "p1", SentAt: now},
		Schedules: []models.Schedule{{ID: "s1", Type: models.ScheduleFixed, At: "15:00", Next: slot}},
	}
	rules := coach.Rules{CheckIn: time.Hour, CheckInCap: 1, ReminderDelay: time.Hour, FeedbackTimeout: time.Hour}
	starts := func(rules coach.Rules, state models.ParticipantState, ev models.Event) (kinds []models.TurnKind, missed []string) {
		decision, err := coach.Decide(coach.Input{State: state, Now: now, Rules: rules, Zones: time.LoadLocation}, ev)
		require.NoError(t, err)
		for _, effect := range decision.Effects {
			if effect.Kind == models.EffectStartTurn {
				kinds = append(kinds, effect.Turn.Kind)
			}
			if effect.Kind == models.EffectMissPrompt {
				missed = append(missed, effect.Missed.Reason)
			}
		}
		return kinds, missed
	}
	over := rules
	over.Silent = true
	for _, due := range []models.Due{
		{Kind: models.DueGreeting}, {Kind: models.DueDailyPrompt, Ref: "s1"}, {Kind: models.DueReminder, Ref: "p1"},
		{Kind: models.DueFeedbackTimeout, Ref: "p1"}, {Kind: models.DueCheckIn},
	} {
		asked := state
		if due.Kind == models.DueCheckIn {
			asked.Pending = nil
		}
		ev := models.Event{Kind: models.EventDue, Due: due}
		kinds, _ := starts(rules, asked, ev)
		require.Len(t, kinds, 1, "%s of a running study", due.Kind)
		kinds, missed := starts(over, asked, ev)
		require.Empty(t, kinds, due.Kind)
		if due.Kind == models.DueDailyPrompt {
			require.Equal(t, []string{coach.MissedStudyOver}, missed)
		}
	}
	kinds, _ := starts(over, state, models.Event{Kind: models.EventEnrolled})
	require.Empty(t, kinds)
	state.Inbox.Items = []models.InboxItem{{Seq: 1, MessageID: 1, ReceivedAt: now}}
	kinds, _ = starts(over, state, models.Event{Kind: models.EventTexts})
	require.Equal(t, []models.TurnKind{models.TurnReply}, kinds)

	quiet := rules
	quiet.NoReminders = true
	kinds, _ = starts(quiet, models.ParticipantState{
		ParticipantID: "conv_a", Zone: "UTC", Status: models.StatusActive, Pending: state.Pending,
	}, models.Event{Kind: models.EventDue, Due: models.Due{Kind: models.DueReminder, Ref: "p1"}})
	require.Empty(t, kinds, "the study has turned reminders off since")
}
