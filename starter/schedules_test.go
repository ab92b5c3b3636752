package starter

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"coachline/internal/api"
	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
)

// An operator adds, changes, moves and removes daily prompts by the step of the
// coach's tool: the rules refuse with the field's name, a dry run changes nothing, and
// the audit has what was before and is after.
func TestScheduleRoutes(t *testing.T) {
	h := start(t, func(c *Config) { c.Defaults.Rules.Quiet = coach.QuietHours{From: 21 * 60, To: 8 * 60} })
	ann := h.enrol(`{"phone_number":"+12025550123","name":"Ann","timezone":"America/New_York"}`)
	at := testNow.Add(5 * time.Hour) // 13:00 in New York
	h.engine.status = wire.StatusView{Status: wire.StatusActive, Mode: wire.ModeIntake, Zone: "America/New_York",
		Due: []wire.Due{{Kind: wire.DueDailyPrompt, Ref: "s1", At: at}}}
	h.engine.schedules = []wire.Schedule{{ID: "s1", Type: wire.ScheduleFixed, At: "13:00", Next: wire.Slot{Date: "2026-11-24", TargetAt: at, SendAt: at}}}
	path := participantsPath + "/" + ann.ID + "/schedules"
	require.Len(t, result[[]api.Schedule](t, h.do(call{method: "GET", path: path})), 1)
	require.Equal(t, "13:00", result[api.Schedule](t, h.do(call{method: "GET", path: path + "/s1"})).At)

	audits := len(listRows[models.AuditRow](h, "id"))
	for _, tt := range []struct {
		method, path, body, message string
		status                      int
	}{
		{"POST", path, `{"type":"fixed","at":"22:30"}`, "at: the prompt would go out at 22:30 EST", http.StatusBadRequest},
		{"POST", path, `{"type":"fixed","at":"9:00"}`, "at: must be a time such as 08:00", http.StatusBadRequest},
		{"POST", path, `{"type":"random","from":"10:00"}`, "to is missing", http.StatusBadRequest},
		{"POST", path, `{"type":"fixed","at":"10:00","timezone":"Mars"}`, "timezone: ", http.StatusBadRequest},
		{"POST", path, `{"type":"fixed","at":"13:00"}`, "exists already", http.StatusConflict},
		{"PUT", path + "/s9", `{"type":"fixed","at":"13:00"}`, "schedule not found", http.StatusNotFound},
		{"DELETE", path + "/s9", ``, "schedule not found", http.StatusNotFound},
		{"GET", path + "/s9", ``, "schedule not found", http.StatusNotFound},
		{"POST", path + "/s1/move", `{"to":"2026-11-24T12:00:00Z"}`, "to: must be in the future", http.StatusBadRequest},
		{"POST", path + "/s1/move", `{"to":"2026-11-25T03:00:00Z"}`, "to: the prompt would go out at 22:00 EST, within the person's quiet hours", http.StatusBadRequest},
		{"POST", path + "/s1/move", `{"to":"2026-11-25T18:00:00Z"}`, "to: must be before the prompt that follows", http.StatusBadRequest},
	} {
		h.refused(call{method: tt.method, path: tt.path, body: tt.body}, tt.status, tt.message)
	}
	require.Len(t, listRows[models.AuditRow](h, "id"), audits)
	require.NotContains(t, h.engine.seen(), "update:"+wire.UpdateChangeSchedules)

	dry := h.do(call{method: "POST", path: path + "/s1/move", body: `{"to":"2026-11-24T20:00:00Z","dry_run":true}`})
	require.Equal(t, http.StatusOK, dry.status, dry.raw)
	require.Contains(t, dry.raw, "Nothing was moved: the prompt would go out at 2026-11-24T20:00:00Z")
	tried := h.do(call{method: "POST", path: path, body: `{"type":"fixed","at":"15:00","dry_run":true}`})
	require.Equal(t, http.StatusOK, tried.status, tried.raw)
	require.Empty(t, tried.header.Get("Location"))
	require.Len(t, listRows[models.AuditRow](h, "id"), audits)
	require.NotContains(t, h.engine.seen(), "update:"+wire.UpdateChangeSchedules)

	moved := h.do(call{method: "POST", path: path + "/s1/move", body: `{"to":"2026-11-24T20:00:00Z"}`})
	require.Equal(t, http.StatusOK, moved.status, moved.raw)
	require.Equal(t, "2026-11-24T20:00:00Z", result[api.Schedule](t, moved).NextAt.Format(time.RFC3339))
	row := h.audits("schedule_move")[0]
	require.Equal(t, []string{"schedule_move", "s1"}, []string{row.Action, row.Detail})
	require.Equal(t, []string{"2026-11-24T18:00:00Z", "2026-11-24T20:00:00Z"}, []string{row.Before["next_at"], row.After["next_at"]})
	update := h.engine.updates[len(h.engine.updates)-1]
	require.Equal(t, wire.UpdateChangeSchedules, update.UpdateName)
	require.Equal(t, wire.ScheduleAsk{Action: wire.ScheduleMove, ID: "s1", ByOperator: true, MoveTo: testNow.Add(7 * time.Hour)}, update.Args[0])

	added := h.do(call{method: "POST", path: path, body: `{"type":"random","from":"10:00","to":"12:00"}`})
	require.Equal(t, http.StatusCreated, added.status, added.raw)
	require.Equal(t, path+"/"+result[api.Schedule](t, added).ID, added.header.Get("Location"))
	changed := h.do(call{method: "PUT", path: path + "/s1", body: `{"type":"fixed","at":"16:00"}`})
	require.Equal(t, http.StatusOK, changed.status, changed.raw)
	removed := h.do(call{method: "DELETE", path: path + "/s1"})
	require.Equal(t, http.StatusOK, removed.status, removed.raw)

	h.engine.rejected = temporal.NewApplicationError("to: the prompt of that date has gone out", wire.ErrTypeRefused)
	h.refused(call{method: "POST", path: path + "/s1/move", body: `{"to":"2026-11-24T21:00:00Z"}`}, http.StatusConflict, "to: the prompt of that date has gone out")
	require.Len(t, h.audits("schedule_move_failed"), 1)
	h.change(ann.ID, map[string]any{"status": wire.StatusOptedOut})
	h.refused(call{method: "DELETE", path: path + "/s1"}, http.StatusConflict, "the participant is opted_out")
}

// A daily time that is nearer than prompts are prepared ahead is asked about: without an
// answer nothing is changed, and the answer says whether today has a prompt.
func TestPromptAtOnceIsAskedAbout(t *testing.T) {
	h := start(t, func(c *Config) { c.Defaults.Rules.PrepTime = 10 * time.Minute })
	ann := h.enrol(`{"phone_number":"+12025550123","name":"Ann","timezone":"America/New_York"}`)
	h.engine.status = wire.StatusView{Status: wire.StatusActive, Mode: wire.ModeIntake, Zone: "America/New_York"}
	h.engine.schedules = []wire.Schedule{{ID: "s1", Type: wire.ScheduleFixed, At: "20:00"}}
	path := participantsPath + "/" + ann.ID + "/schedules"
	near, far, today, tomorrow := `"type":"fixed","at":"08:05"`, `"type":"fixed","at":"08:15"`, testNow, testNow.Add(24*time.Hour)
	for _, tt := range []struct {
		name, times, first string
		want               time.Time // zero: it is asked
	}{
		{"near", near, ``, time.Time{}},
		{"near, tried", near, `,"dry_run":true`, time.Time{}},
		{"near, now", near, `,"first":"now"`, today},
		{"near, tomorrow", near, `,"first":"tomorrow"`, tomorrow.Add(-5 * time.Minute)},
		{"far", far, ``, today.Add(5 * time.Minute)},
		{"far, now", far, `,"first":"now"`, today.Add(5 * time.Minute)},
		{"far, tomorrow", far, `,"first":"tomorrow"`, tomorrow.Add(5 * time.Minute)},
		{"over for today", `"type":"fixed","at":"07:00"`, `,"first":"tomorrow"`, tomorrow.Add(-70 * time.Minute)},
		{"a window", `"type":"random","from":"08:01","to":"08:02"`, ``, today.Add(time.Minute)},
		{"a window, tomorrow", `"type":"random","from":"08:01","to":"08:02"`, `,"first":"tomorrow"`, tomorrow.Add(time.Minute)},
	} {
		for _, ask := range []call{{method: "POST", path: path}, {method: "PUT", path: path + "/s1"}, {method: "PATCH", path: path + "/s1"}} {
			t.Run(tt.name+", "+ask.method, func(t *testing.T) {
				if ask.method == "PATCH" && strings.Contains(tt.times, "from") {
					tt.times += `,"at":null`
				}
				ask.body = "{" + tt.times + tt.first + "}"
				if tt.want.IsZero() {
					h.refused(ask, http.StatusConflict, `first: 08:05 is so near that today's prompt would go out at once; "now" sends it, "tomorrow" begins with tomorrow's`)
					require.NotContains(t, h.engine.seen(), "update:"+wire.UpdateChangeSchedules)
					return
				}
				done := h.do(ask)
				require.Less(t, done.status, 300, done.raw)
				require.Equal(t, tt.want.Format(time.RFC3339), result[api.Schedule](t, done).NextAt.Format(time.RFC3339))
			})
		}
	}
	h.engine.status.Status = wire.StatusPaused
	paused := h.do(call{method: "POST", path: path, body: "{" + near + "}"})
	require.Equal(t, http.StatusCreated, paused.status, "nobody who is paused is sent a prompt at once")
	h.refused(call{method: "POST", path: path, body: "{" + near + `,"first":"later"}`}, http.StatusBadRequest, "first")
}
