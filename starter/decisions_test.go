package starter

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"coachline/internal/api"
	"coachline/models"
	"coachline/models/wire"
)

func TestDecisionRoute(t *testing.T) {
	h, rows := startWithStore(t, nil)
	h.do(call{method: "POST", path: studiesPath, body: `{"id":"walk-1","name":"Walk","settings":{"decision_points":{"policy":"coin","options":[` +
		`{"name":"send","probability":0.5,"send":true},{"name":"none","probability":0.5}]}}}`})
	h.do(call{method: "PUT", path: studiesPath + "/walk-1", body: `{"state":"recruiting"}`})
	enrolled := h.do(call{method: "POST", path: participantsPath, body: `{"phone_number":"` + herNumber + `","study":"walk-1"}`})
	require.Equal(t, http.StatusCreated, enrolled.status, enrolled.raw)
	person := result[api.Participant](t, enrolled)
	for day := range 3 {
		at := person.EnrolledAt.AddDate(0, 0, day)
		slot := wire.Slot{Date: at.Format(time.DateOnly), TargetAt: at, SendAt: at}
		require.NoError(t, rows.Turns.SaveState(t.Context(), wire.SaveStateInput{
			ParticipantID: person.ID, Now: at.Add(-24 * time.Hour), Missed: []wire.MissedPrompt{{ScheduleID: "s1", Slot: slot, Reason: "quiet_hours"}},
		}))
	}
	path := studiesPath + "/walk-1/decisions"
	first := result[api.DecisionPage](t, h.do(call{method: "GET", path: path + "?limit=2"}))
	require.Len(t, first.Decisions, 2)
	require.NotNil(t, first.NextCursor)
	second := result[api.DecisionPage](t, h.do(call{method: "GET", path: path + "?limit=2&cursor=" + *first.NextCursor}))
	require.Len(t, second.Decisions, 1)
	require.Nil(t, second.NextCursor)
	got := second.Decisions[0]
	require.Equal(t, person.ID, got.UserID)
	require.Equal(t, int64(3), got.Time)
	require.Zero(t, got.Availability)
	require.Equal(t, "quiet_hours", got.Reason)
	require.InDelta(t, 0.5, got.RandProb, 1e-9)
	require.NotNil(t, first.Decisions[0].Outcome)
	require.Zero(t, *first.Decisions[0].Outcome)
	require.Nil(t, got.Outcome, "its four hours are not over")
	check := result[models.AllocationCheck](t, h.do(call{method: "GET", path: studiesPath + "/walk-1/allocations/check"}))
	require.True(t, check.OK)
	require.Equal(t, &models.DecisionCheck{OK: true, People: 1, Rows: 3}, check.Decisions)
	require.NoError(t, rows.Database().Write(t.Context(), func(tx *gorm.DB) error { return tx.Exec("DELETE FROM decision_heads").Error }))
	check = result[models.AllocationCheck](t, h.do(call{method: "GET", path: studiesPath + "/walk-1/allocations/check"}))
	require.False(t, check.OK)
	require.Equal(t, &models.DecisionCheck{ParticipantID: person.ID, BadRow: 1, Problem: "nothing was kept of the person's rows"}, check.Decisions)
	h.refused(call{method: "GET", path: studiesPath + "/none/decisions"}, http.StatusNotFound, "study not found")
}
