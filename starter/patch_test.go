package starter

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"coachline/internal/prices"
	"coachline/models"
	"coachline/models/wire"
)

// priceList has a price for texts to and from North America.
func priceList(t *testing.T) *prices.List {
	t.Helper()
	list, err := prices.Parse([]byte(`{"currency": "USD", "destinations": {"+1": {"outbound": 0.01, "inbound": 0.02}}}`))
	require.NoError(t, err)
	return list
}

// startWithPrices serves a real store with users and prices.
func startWithPrices(t *testing.T) *harness {
	t.Helper()
	list := priceList(t)
	return startWithAccess(t, func(c *Config) { c.Prices = list })
}

// TestEveryPutHasAPatch: what can be changed by PUT can be changed by a merge patch,
// by the same callers. The PUT of budgets names its budget in the body.
func TestEveryPutHasAPatch(t *testing.T) {
	h := startWithPrices(t)
	paths, checked := h.document().paths, 0
	for path, item := range paths {
		put, found := item.(map[string]any)["put"].(map[string]any)
		if !found {
			continue
		}
		if path == budgetsPath {
			path = budgetPath
		}
		patch, found := paths[path].(map[string]any)["patch"].(map[string]any)
		require.True(t, found, path)
		require.NotEmpty(t, patch["operationId"], path)
		for _, same := range []string{"x-permission", "security", "tags"} {
			require.Equal(t, put[same], patch[same], "%s of %s", same, path)
		}
		require.Contains(t, patch["responses"], "412", path)
		require.Contains(t, patch["responses"], "415", path)
		require.Contains(t, fmt.Sprint(patch["parameters"]), "name:If-Match", path)
		content := patch["requestBody"].(map[string]any)["content"].(map[string]any)
		for _, kind := range []string{"application/json", mergePatchType} {
			require.Equal(t, false, content[kind].(map[string]any)["schema"].(map[string]any)["additionalProperties"], path)
		}
		checked++
	}
	require.Equal(t, 6, checked)
}

// patchable is a resource with what a patch may and may not do to it.
type patchable struct {
	name, path string
	// set is a patch, clears one with null, and cleared what the answer says after it.
	set, shown, clears, cleared string
	// refused are patches and what is said about them.
	refused map[string]string
}

func patchables(t *testing.T, h *harness) []patchable {
	t.Helper()
	made := func(method, path, body string) reply {
		got := h.do(call{method: method, path: path, body: body})
		require.Less(t, got.status, 300, got.raw)
		return got
	}
	ann := h.enrol(`{"phone_number":"+12025550123","name":"Ann","timezone":"America/New_York"}`)
	made("POST", studiesPath, `{"id":"sleep-1","name":"Sleep","planned":50,"settings":{"programme":"Sleep well","require_consent":true}}`)
	hook := result[models.Webhook](t, made("POST", webhooksPath, `{"url":"https://hooks.example.org/a","events":["participant.enrolled"]}`))
	user := result[models.User](t, made("POST", usersPath, `{"login":"ida","name":"Ida","role":"coach","password":"correct horse battery"}`))
	budget := result[models.Budget](t, made("PUT", budgetsPath, `{"period":"month","micros":25000000,"warn_percent":50}`))
	return []patchable{
		{"participant", participantsPath + "/" + ann.ID, `{"background":"Runs"}`, `"background":"Runs"`, `{"background":null,"locale":null,"tester":null}`, `"background":""`,
			map[string]string{`{"nick":"A"}`: "nick: unknown field", `{"phone_number":null}`: "phone_number: cannot be null", `{"status":"gone"}`: "status: must be one of"}},
		{"study", studiesPath + "/sleep-1", `{"settings":{"close_out":"Bye"},"ends_at":"2027-01-01T00:00:00Z"}`, `"programme":"Sleep well","require_consent":true,"close_out":"Bye"`,
			`{"settings":{"programme":null},"ends_at":null,"planned":null}`, `"settings":{"require_consent":true,"close_out":"Bye"},"planned":0,"created`,
			map[string]string{`{"settings":{"programm":"x"}}`: "settings.programm: unknown field", `{"name":null}`: "name: cannot be null", `{"nick":null}`: "nick: unknown field"}},
		{"webhook", webhooksPath + "/" + hook.ID, `{"state":"disabled"}`, `"events":["participant.enrolled"],"state":"disabled"`, `{"events":null}`, `"events":[]`,
			map[string]string{`{"secret":"x"}`: "secret: unknown field", `{"url":null}`: "url: cannot be null"}},
		{"user", usersPath + "/" + user.ID, `{"subject":"sub-1","disabled":true}`, `"subject":"sub-1"`, `{"subject":null,"disabled":null}`, `"has_password":true,"disabled":false`,
			map[string]string{`{"login":"x"}`: "login: unknown field", `{"password":null}`: "password: cannot be null", `{"name":""}`: "name: must not be empty"}},
		{"budget", fmt.Sprint(budgetsPath, "/", budget.ID), `{"micros":3}`, `"micros":3,"warn_percent":50`, `{"warn_percent":null}`, `"micros":3,"warn_percent":80`,
			map[string]string{`{"scope":"study"}`: "scope: unknown field", `{"micros":null}`: "micros: cannot be null", `{"micros":0}`: "micros: must be at least"}},
	}
}

func TestPatch(t *testing.T) {
	h := startWithPrices(t)
	for _, tt := range patchables(t, h) {
		t.Run(tt.name, func(t *testing.T) {
			h.t = t
			patch := func(body string) call {
				return call{method: "PATCH", path: tt.path, body: body, header: map[string]string{"Content-Type": mergePatchType}}
			}
			before := h.do(call{method: "GET", path: tt.path}).header.Get("ETag")
			set := h.do(patch(tt.set))
			require.Equal(t, http.StatusOK, set.status, set.raw)
			require.Contains(t, set.raw, tt.shown)
			after := h.do(call{method: "GET", path: tt.path})
			require.Contains(t, after.raw, tt.shown)
			if tag := set.header.Get("ETag"); tag != "" {
				require.Equal(t, tag, after.header.Get("ETag"))
			}
			for body, message := range tt.refused {
				h.refused(patch(body), http.StatusBadRequest, message)
			}
			for body, message := range map[string]string{`[]`: "body: must be a JSON object", `null`: "body: must be a JSON object", `{`: "body: is not valid JSON", "{\"a\":\"\xff\"}": "body: is not valid UTF-8"} {
				h.refused(patch(body), http.StatusBadRequest, message)
			}
			other := patch(tt.set)
			other.header["Content-Type"] = "application/json-patch+json"
			h.refused(other, http.StatusUnsupportedMediaType, "Content-Type: must be "+mergePatchType)
			stale := patch(tt.clears)
			stale.header["If-Match"] = before
			h.refused(stale, http.StatusPreconditionFailed, "If-Match: ")
			require.Equal(t, after.raw, h.do(call{method: "GET", path: tt.path}).raw, "a refusal changes nothing")

			fresh := patch(tt.clears)
			fresh.header["If-Match"], fresh.header["Content-Type"] = after.header.Get("ETag"), "application/json; charset=utf-8"
			cleared := h.do(fresh)
			require.Equal(t, http.StatusOK, cleared.status, cleared.raw)
			require.Contains(t, cleared.raw, tt.cleared)
			missing := patch(tt.set)
			missing.path = tt.path[:len(tt.path)-1] + "99"
			h.refused(missing, http.StatusNotFound, "not found")
		})
	}
}

// Patches of different fields at the same time both hold.
func TestPatchesAtTheSameTime(t *testing.T) {
	h := startWithPrices(t)
	for _, tt := range patchables(t, h) {
		both := map[string][2]string{
			"participant": {`{"gender":"f"}`, `{"ethnicity":"x"}`}, "study": {`{"settings":{"close_out":"Bye"}}`, `{"settings":{"model":"m"}}`},
			"webhook": {`{"state":"disabled"}`, `{"events":null}`}, "user": {`{"disabled":true}`, `{"name":"Eve"}`}, "budget": {`{"micros":7}`, `{"warn_percent":60}`},
		}[tt.name]
		var group sync.WaitGroup
		for _, body := range both {
			group.Go(func() {
				require.Equal(t, http.StatusOK, h.do(call{method: "PATCH", path: tt.path, body: body}).status, tt.name)
			})
		}
		group.Wait()
		raw := h.do(call{method: "GET", path: tt.path}).raw
		want := map[string][2]string{
			"participant": {`"gender":"f"`, `"ethnicity":"x"`}, "study": {`"close_out":"Bye"`, `"model":"m"`},
			"webhook": {`"state":"disabled"`, `"events":[]`}, "user": {`"disabled":true`, `"name":"Eve"`}, "budget": {`"micros":7`, `"warn_percent":60`},
		}[tt.name]
		require.Contains(t, raw, want[0], tt.name)
		require.Contains(t, raw, want[1], tt.name)
	}
}

// A patch that lands between the reading and the writing of another is kept; where
// the other names its version, that one is refused.
func TestPatchBetweenReadAndWrite(t *testing.T) {
	h := start(t, nil)
	h.do(call{method: "POST", path: studiesPath, body: `{"id":"sleep-1","name":"Sleep"}`})
	path := studiesPath + "/sleep-1"
	meanwhile := func(body string) {
		h.between("FROM studies WHERE id =", func() {
			require.Equal(t, http.StatusOK, h.do(call{method: "PATCH", path: path, body: body}).status)
		})
	}
	meanwhile(`{"settings":{"close_out":"Bye"}}`)
	got := h.do(call{method: "PATCH", path: path, body: `{"settings":{"programme":"Sleep well"}}`})
	require.Contains(t, got.raw, `"settings":{"programme":"Sleep well","close_out":"Bye"}`)
	require.Equal(t, `"3"`, got.header.Get("ETag"))

	meanwhile(`{"name":"Sleep more"}`)
	h.refused(call{method: "PATCH", path: path, body: `{"settings":{"programme":"X"}}`, header: map[string]string{"If-Match": `"3"`}}, http.StatusPreconditionFailed, "If-Match")
	require.Contains(t, h.do(call{method: "GET", path: path}).raw, `"programme":"Sleep well"`)
}

// A patch of a daily prompt keeps the fields that it does not name, and the workflow
// refuses one that was made from other times.
func TestPatchSchedule(t *testing.T) {
	h := start(t, nil)
	ann := h.enrol(`{"phone_number":"+12025550123","name":"Ann","timezone":"America/New_York"}`)
	at := testNow.Add(5 * time.Hour)
	h.engine.status = wire.StatusView{Status: wire.StatusActive, Mode: wire.ModeIntake, Zone: "America/New_York"}
	was := wire.Schedule{ID: "s1", Type: wire.ScheduleFixed, At: "18:00", Zone: "Europe/Berlin", Next: wire.Slot{Date: "2026-11-24", TargetAt: at, SendAt: at}}
	h.engine.schedules = []wire.Schedule{was}
	path := participantsPath + "/" + ann.ID + "/schedules/s1"
	patch := func(body string) call { return call{method: "PATCH", path: path, body: body} }
	asked := func() wire.ScheduleAsk {
		return h.engine.updates[len(h.engine.updates)-1].Args[0].(wire.ScheduleAsk)
	}
	base := wire.ScheduleAsk{Action: wire.ScheduleReplace, ID: "s1", ByOperator: true, Type: wire.ScheduleFixed, Based: &was}

	h.refused(patch(`{"hour":9}`), http.StatusBadRequest, "hour: unknown field")
	h.refused(patch(`{"type":null}`), http.StatusBadRequest, "type: cannot be null")
	h.refused(patch(`{"at":"9:00"}`), http.StatusBadRequest, "at: must be a time such as 08:00")
	h.refused(patch(`{"type":"random","from":"10:00","to":"12:00"}`), http.StatusBadRequest, "a random schedule has")
	require.Empty(t, h.engine.updates)

	require.Equal(t, http.StatusOK, h.do(patch(`{"at":"19:00"}`)).status)
	want := base
	want.At, want.Zone = "19:00", "Europe/Berlin"
	require.Equal(t, want, asked())
	require.Equal(t, http.StatusOK, h.do(patch(`{"timezone":null}`)).status)
	want.At, want.Zone = "18:00", ""
	require.Equal(t, want, asked())
	require.Equal(t, http.StatusOK, h.do(patch(`{"type":"random","at":null,"from":"10:00","to":"12:00"}`)).status)
	require.Equal(t, wire.ScheduleRandom, asked().Type)

	stale := patch(`{"at":"20:00"}`)
	stale.header = map[string]string{"If-Match": `"0123"`}
	h.refused(stale, http.StatusPreconditionFailed, "If-Match: ")
	stale.header["If-Match"] = h.do(call{method: "GET", path: path}).header.Get("ETag")
	require.NotEmpty(t, stale.header["If-Match"])
	require.Equal(t, http.StatusOK, h.do(stale).status)

	h.engine.rejected = temporal.NewApplicationError(wire.ScheduleChanged, wire.ErrTypeRefused)
	h.refused(stale, http.StatusPreconditionFailed, "If-Match: the schedule has changed")
	tries := len(h.engine.updates)
	h.refused(patch(`{"at":"20:00"}`), http.StatusConflict, "being changed by others")
	require.Len(t, h.engine.updates, tries+maxChangeTries)
	require.NotEmpty(t, h.audits("schedule_replace_failed"))
}
