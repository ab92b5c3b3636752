package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// A hold of a study stops the prompts of its people and of no others, also those
// that are written already, and the agenda and the list of holds say so.
func TestHoldOfAStudy(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		_, err := w.Studies.AddStudy(w.ctx, models.Study{ID: "walk", Name: "Walk", CreatedBy: "eve", CreatedAt: at(0)})
		require.NoError(t, err)
		_, err = w.Holds.CreateHold(w.ctx, models.Hold{Scope: models.HoldStudy, ScopeID: "none", CreatedBy: "eve", CreatedAt: at(1), Until: at(9)})
		var refused *models.FieldError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, "scope_id", refused.Field)

		hold := func(study string, from, until int) {
			_, err := w.Holds.CreateHold(w.ctx, models.Hold{Scope: models.HoldStudy, ScopeID: study, CreatedBy: "eve", CreatedAt: at(from), Until: at(until)})
			require.NoError(t, err)
		}
		hold("walk", 1, 1000)
		require.True(t, w.beginPrompt(1, 2, 2), "the hold is about another study")
		written := w.turn(2, promptPlan("2026-03-02"), 3)
		hold(models.DefaultStudy, 4, 100)
		claim, err := w.Outbox.ClaimSend(w.ctx, written, at(5))
		require.NoError(t, err)
		require.Equal(t, []any{wire.OutboxCanceled, models.MissedHold}, []any{claim.Outbox.Status, claim.Outbox.ErrorCode})
		require.False(t, w.beginPrompt(3, 6, 6))
		require.Equal(t, "missed held", w.promptReason(3))
		require.True(t, w.beginPrompt(4, 100, 100), "the hold is over")

		rows, err := w.Holds.List(w.ctx, models.HoldQuery{ActiveAt: at(6), ParticipantID: "p1"})
		require.NoError(t, err)
		require.Len(t, rows, 1)
		require.Equal(t, models.DefaultStudy, rows[0].ScopeID)

		require.NoError(t, w.Turns.SaveState(w.ctx, wire.SaveStateInput{ParticipantID: "p1", Mode: wire.ModeIntake, Now: at(6), Schedules: []wire.Schedule{
			{ID: "s1", Type: wire.ScheduleFixed, At: "09:00", Next: wire.Slot{Date: "2026-03-09", TargetAt: at(50), SendAt: at(50)}},
		}}))
		query := models.AgendaQuery{From: at(6), Until: at(90), Now: at(6), Limit: 10, StudyID: models.DefaultStudy}
		list, err := w.Reports.Agenda(w.ctx, query)
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.True(t, list[0].Held)
		query.StudyID = "walk"
		list, err = w.Reports.Agenda(w.ctx, query)
		require.NoError(t, err)
		require.Empty(t, list)
		counts, err := w.Reports.CountAgenda(w.ctx, query)
		require.NoError(t, err)
		require.Empty(t, counts)
	})
}
