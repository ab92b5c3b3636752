package starter

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
	"coachline/models/wire"
)

func TestHoldRoutes(t *testing.T) {
	h, rows := startWithStore(t, nil)
	created := h.do(call{method: "POST", path: holdsPath, body: `{"until":"2026-11-26T08:00:00Z","reason":"Thanksgiving"}`})
	require.Equal(t, http.StatusCreated, created.status, created.raw)
	hold := result[models.Hold](t, created)
	require.Equal(t, models.Hold{ID: 1, Scope: models.HoldAll, Reason: "Thanksgiving", Active: true,
		Until: time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC), CreatedAt: testNow, CreatedBy: auth.Operator}, hold)

	h.do(call{method: "POST", path: holdsPath, body: `{"until":"2026-11-25T08:00:00Z","scope":"all"}`})
	page := result[api.HoldPage](t, h.do(call{method: "GET", path: holdsPath + "?limit=1"}))
	require.Len(t, page.Holds, 1)
	require.Equal(t, int64(2), page.Holds[0].ID)
	require.NotNil(t, page.NextCursor)
	page = result[api.HoldPage](t, h.do(call{method: "GET", path: holdsPath + "?active=true&limit=1&cursor=" + *page.NextCursor}))
	require.Equal(t, []models.Hold{hold}, page.Holds)
	require.Nil(t, page.NextCursor)

	released := h.do(call{method: "DELETE", path: holdsPath + "/2"})
	require.Equal(t, http.StatusOK, released.status, released.raw)
	require.False(t, result[models.Hold](t, released).Active)
	h.refused(call{method: "DELETE", path: holdsPath + "/2"}, http.StatusNotFound, "hold not found, or already over")
	active, err := rows.Holds.List(t.Context(), models.HoldQuery{ActiveAt: testNow})
	require.NoError(t, err)
	require.Len(t, active, 1)

	for body, message := range map[string]string{
		`{}`:                               "until: is required",
		`{"until":"2026-11-24T12:59:59Z"}`: "until: must be in the future",
		`{"until":"2027-11-26T00:00:00Z"}`: "until: must be at most 366 days",
		`{"until":"2026-11-26T08:00:00Z","scope":"study"}`:                         "scope",
		`{"until":"2026-11-26T08:00:00Z","scope":"participant","scope_id":"none"}`: "scope_id: is not the id of an enrolled participant",
		`{"until":"2026-11-26T08:00:00Z","scope_id":"someone"}`:                    "scope_id: must be empty",
	} {
		h.refused(call{method: "POST", path: holdsPath, body: body}, http.StatusBadRequest, message)
	}
	h.refused(call{method: "GET", path: holdsPath, header: map[string]string{"Authorization": ""}}, http.StatusUnauthorized, "")
}

// The state says until when prompts are held and which of them are missed for it.
func TestStateShowsTheHold(t *testing.T) {
	h, _ := startWithStore(t, nil)
	ann := h.ann()
	h.engine.status = wire.StatusView{Status: wire.StatusActive, Mode: wire.ModeIntake, Zone: "Europe/Berlin"}
	day := func(id string, after time.Duration) wire.Schedule {
		return wire.Schedule{ID: id, Type: wire.ScheduleFixed, At: "08:00", Next: wire.Slot{SendAt: testNow.Add(after), TargetAt: testNow.Add(after)}}
	}
	h.engine.schedules = []wire.Schedule{day("s1", time.Hour), day("s2", 48*time.Hour)}
	path := participantsPath + "/" + ann.ID + "/state"
	view := result[api.State](t, h.do(call{method: "GET", path: path}))
	require.Nil(t, view.Hold)
	require.False(t, view.Schedules[0].Held)
	h.do(call{method: "POST", path: holdsPath, body: `{"until":"2026-11-25T13:00:00Z"}`})
	view = result[api.State](t, h.do(call{method: "GET", path: path}))
	require.Equal(t, &api.ActiveHold{ID: 1, Scope: models.HoldAll, Until: testNow.Add(24 * time.Hour)}, view.Hold)
	require.True(t, view.Schedules[0].Held)
	require.False(t, view.Schedules[1].Held, "after the hold")
}

// A hold of one person shows in their state and in no other's.
func TestHoldOfOneParticipant(t *testing.T) {
	h, _ := startWithStore(t, nil)
	ann := h.ann()
	h.engine.status = wire.StatusView{Status: wire.StatusActive, Mode: wire.ModeIntake, Zone: "Europe/Berlin"}
	body := `{"phone_number":"+15558675399","name":"Bea"}`
	bea := result[api.Participant](t, h.do(call{method: "POST", path: participantsPath, body: body}))
	got := h.do(call{method: "POST", path: holdsPath, body: `{"until":"2026-11-25T13:00:00Z","scope":"participant","scope_id":"` + bea.ID + `"}`})
	require.Equal(t, http.StatusCreated, got.status, got.raw)
	hold := result[models.Hold](t, got)
	require.Equal(t, []any{models.HoldParticipant, bea.ID}, []any{hold.Scope, hold.ScopeID})
	state := func(id string) *api.ActiveHold {
		return result[api.State](t, h.do(call{method: "GET", path: participantsPath + "/" + id + "/state"})).Hold
	}
	require.Nil(t, state(ann.ID))
	require.Equal(t, &api.ActiveHold{ID: hold.ID, Scope: models.HoldParticipant, Until: hold.Until}, state(bea.ID))
	list := func(id string) []models.Hold {
		return result[api.HoldPage](t, h.do(call{method: "GET", path: holdsPath + "?participant_id=" + id})).Holds
	}
	require.Empty(t, list(ann.ID))
	require.Len(t, list(bea.ID), 1)
}

// A hold of a study shows in the state of its people.
func TestHoldOfOneStudy(t *testing.T) {
	h, _ := startWithStore(t, nil)
	ann := h.ann()
	h.engine.status = wire.StatusView{Status: wire.StatusActive, Mode: wire.ModeIntake, Zone: "Europe/Berlin"}
	h.do(call{method: "POST", path: studiesPath, body: `{"id":"walk","name":"Walk"}`})
	state := func() *api.ActiveHold {
		return result[api.State](t, h.do(call{method: "GET", path: participantsPath + "/" + ann.ID + "/state"})).Hold
	}
	got := h.do(call{method: "POST", path: holdsPath, body: `{"until":"2026-11-25T13:00:00Z","scope":"study","scope_id":"walk"}`})
	require.Equal(t, http.StatusCreated, got.status, got.raw)
	require.Nil(t, state())
	got = h.do(call{method: "POST", path: holdsPath, body: `{"until":"2026-11-25T13:00:00Z","scope":"study","scope_id":"default"}`})
	require.Equal(t, http.StatusCreated, got.status, got.raw)
	require.Equal(t, models.HoldStudy, state().Scope)
	h.refused(call{method: "POST", path: holdsPath, body: `{"until":"2026-11-25T13:00:00Z","scope":"study","scope_id":"none"}`}, http.StatusBadRequest, `scope_id: no study "none"`)
}
