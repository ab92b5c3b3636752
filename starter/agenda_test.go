package starter

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/models"
	"coachline/models/wire"
)

func TestAgendaRoute(t *testing.T) {
	h, rows := startWithStore(t, nil)
	ann := h.ann()
	day := func(id string, after time.Duration) wire.Schedule {
		at := testNow.Add(after)
		return wire.Schedule{ID: id, Type: wire.ScheduleFixed, At: "08:00", Zone: "Europe/Berlin", Next: wire.Slot{SendAt: at, TargetAt: at}}
	}
	slot := func(after time.Duration, date string) wire.Slot {
		return wire.Slot{Date: date, TargetAt: testNow.Add(after)}
	}
	require.NoError(t, rows.Turns.SaveState(t.Context(), wire.SaveStateInput{ParticipantID: ann.ID, Now: testNow,
		Schedules: []wire.Schedule{day("s1", time.Hour), day("s2", 2*time.Hour), day("s3", 48*time.Hour)}, Missed: []wire.MissedPrompt{
			{ScheduleID: "s1", Slot: slot(-time.Hour, "2026-11-24"), Reason: "backed_off"}, {ScheduleID: "s1", Slot: slot(-49*time.Hour, "2026-11-22"), Reason: "daily_limit"},
		}}))
	h.do(call{method: "POST", path: holdsPath, body: `{"until":"2026-11-24T14:30:00Z","scope":"participant","scope_id":"` + ann.ID + `"}`})
	first := h.do(call{method: "GET", path: agendaPath + "?limit=1"})
	require.Equal(t, http.StatusOK, first.status, first.raw)
	page := result[api.Agenda](t, first)
	require.Equal(t, []any{2, testNow, testNow.Add(24 * time.Hour)}, []any{page.Total, page.From, page.Until})
	require.Equal(t, []models.PlannedHour{{At: testNow.Add(time.Hour), Prompts: 1}, {At: testNow.Add(2 * time.Hour), Prompts: 1}}, page.Hours)
	yesterday := []api.LeftOut{{ParticipantID: ann.ID, Name: ann.Name, Date: "2026-11-24", At: testNow.Add(-time.Hour), What: "prompt", Reason: "backed_off"}}
	require.Equal(t, yesterday, page.LeftOut)
	require.Len(t, page.Prompts, 1)
	require.Equal(t, []any{"s1", ann.Name, true, "Europe/Berlin"}, []any{page.Prompts[0].ScheduleID, page.Prompts[0].Name, page.Prompts[0].Held, page.Prompts[0].Timezone})
	require.Contains(t, first.raw, `"local":"2026-11-24T15:00:00+01:00"`)
	page = result[api.Agenda](t, h.do(call{method: "GET", path: agendaPath + "?limit=1&cursor=" + *page.NextCursor}))
	require.Len(t, page.Prompts, 1)
	require.Equal(t, []any{"s2", false}, []any{page.Prompts[0].ScheduleID, page.Prompts[0].Held})
	require.Nil(t, page.NextCursor)
	require.Empty(t, page.LeftOut, "on the first page only")
	page = result[api.Agenda](t, h.do(call{method: "GET", path: agendaPath + "?participant_id=another"}))
	require.Empty(t, page.Prompts)
	h.refused(call{method: "GET", path: agendaPath + "?cursor=x"}, http.StatusBadRequest, "cursor: must be")
	h.refused(call{method: "GET", path: agendaPath + "?until=2026-11-01T00:00:00Z"}, http.StatusBadRequest, "until: must be after from")
}
