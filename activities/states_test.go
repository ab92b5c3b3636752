package activities_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/activities"
	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
)

// TestStateHoursHoldPrompts: a check-in that is due on a Sunday morning waits until noon for
// a person with a number of Texas, and until 8 for one of Georgia.
func TestStateHoursHoldPrompts(t *testing.T) {
	w := newStoreFixture(t)
	quiet, err := coach.ParseQuietHours("21:00-08:00")
	require.NoError(t, err)
	sunday := time.Date(2026, 6, 7, 3, 0, 0, 0, time.UTC)
	rules := coach.Rules{Quiet: quiet, CheckIn: time.Hour, CheckInCap: 3}
	for phone, opens := range map[string]int{"+15127350123": 12, "+14043350123": 8} {
		id := "conv" + phone[1:]
		_, err := w.people.People.Enroll(t.Context(), models.Participant{ID: id, Phone: phone, Timezone: "UTC", EnrolledAt: now}, "operator")
		require.NoError(t, err)
		decisions := &activities.DecisionActivities{Rules: rules, Zones: time.LoadLocation, States: activities.NewStates(w.people.People)}
		decision, err := decisions.Decide(t.Context(), wire.DecideInput{
			State: wire.ParticipantState{ParticipantID: id, Zone: "UTC", Status: wire.StatusActive, Mode: wire.ModeFeedback, Greeted: true},
			Event: wire.Event{Kind: wire.EventDue, Due: wire.Due{Kind: wire.DueCheckIn, At: sunday}}, Now: sunday,
		})
		require.NoError(t, err)
		at := time.Time{}
		for _, effect := range decision.Effects {
			if effect.Due.Kind == wire.DueCheckIn {
				at = effect.Due.At
			}
		}
		require.Equal(t, opens, at.UTC().Hour(), "%v", decision.Effects)
	}
}
