package starter

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"gorm.io/gorm"

	"coachline/internal/api"
	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
)

func TestEnrol(t *testing.T) {
	h := start(t, nil)
	got := h.do(call{method: "POST", path: participantsPath, body: `{"phone_number":"+1 (555) 867-5310","name":" Ann ","background":"Student"}`})
	require.Equal(t, http.StatusCreated, got.status, got.raw)
	require.Equal(t, `"1"`, got.header.Get("ETag"))
	require.Equal(t, "ok", got.body.Status)
	require.Equal(t, "Conversation participant enrolled successfully", got.body.Message)
	view := result[api.Participant](t, got)
	require.Regexp(t, `^conv_[0-9a-f]{24}$`, view.ID)
	require.Equal(t, api.Participant{
		ID: view.ID, Phone: herNumber, PersonShown: models.PersonShown{Name: "Ann", Background: "Student"}, Timezone: "America/New_York", ZoneAssumed: true,
		Study: models.DefaultStudy, Channel: wire.ChannelSMS, Status: wire.StatusActive, Mode: wire.ModeIntake,
		EnrolledAt: testNow, GreetingAt: &testNow, CreatedAt: testNow, UpdatedAt: testNow, Version: 1,
	}, view)

	require.Equal(t, []string{"start"}, h.engine.seen())
	options := h.engine.starts[0]
	require.Equal(t, "participant-"+view.ID, options.ID)
	require.Equal(t, wire.QueueCoach, options.TaskQueue)
	require.Equal(t, enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING, options.WorkflowIDConflictPolicy)
	require.Equal(t, enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE, options.WorkflowIDReusePolicy)
	require.Equal(t, 4, options.TypedSearchAttributes.Size())
	require.Equal(t, "Coaching since 2026-11-24", options.StaticSummary)
	require.Equal(t, wire.ParticipantState{
		ParticipantID: view.ID, Zone: "America/New_York", ZoneAssumed: true, Status: wire.StatusActive, Mode: wire.ModeIntake,
		Notices: wire.AppliedNotices{Counted: true}, GreetingAt: testNow, AttributesShown: true,
	}, h.engine.states[0])
	require.Zero(t, h.undelivered())

	h.refused(call{method: "POST", path: participantsPath, body: `{"phone_number":"15558675310"}`}, http.StatusConflict, "phone_number: already enrolled")
}

// TestEnrolSaysWhenTheGreetingGoesOut: the answer, the row and the workflow have
// the same instant. It is 08:00 in New York, and 05:00 in Los Angeles.
func TestEnrolSaysWhenTheGreetingGoesOut(t *testing.T) {
	quiet, err := coach.ParseQuietHours("21:00-08:00")
	require.NoError(t, err)
	h := start(t, func(c *Config) { c.Defaults.Rules = coach.Rules{Quiet: quiet} })
	for i, tc := range []struct {
		more   string
		want   time.Time
		signup bool
	}{
		{`,"timezone":"America/New_York"`, testNow, false},
		{`,"timezone":"America/Los_Angeles"`, testNow.Add(3 * time.Hour), false},
		{`,"timezone":"America/Los_Angeles","signup":true`, testNow, true},
	} {
		body := fmt.Sprintf(`{"phone_number":"+1202555010%d"%s}`, i, tc.more)
		got := h.do(call{method: "POST", path: participantsPath, body: body})
		require.Equal(t, http.StatusCreated, got.status, got.raw)
		require.Contains(t, got.raw, `"greeting_at":"`+tc.want.Format(time.RFC3339)+`"`)
		view := result[api.Participant](t, got)
		require.Equal(t, tc.signup, view.Signup)
		require.Equal(t, tc.want, h.engine.states[i].GreetingAt)
		require.Equal(t, tc.signup, h.engine.states[i].SignedUp)
		again := result[api.Participant](t, h.do(call{method: "GET", path: participantsPath + "/" + view.ID}))
		require.Equal(t, tc.want, again.GreetingAt.UTC())
	}
}

// TestEnrolIsRepeated: a key makes one enrolment of equal requests.
func TestEnrolIsRepeated(t *testing.T) {
	h, _ := startWithStore(t, nil)
	ask := func(body string) call {
		return call{method: "POST", path: participantsPath, body: body, header: map[string]string{"Idempotency-Key": "import-7"}}
	}
	first := h.do(ask(`{"phone_number":"+15558675310","name":"Ann"}`))
	require.Equal(t, http.StatusCreated, first.status, first.raw)
	again := h.do(ask(`{"name":"Ann", "phone_number":"+15558675310"}`))
	require.Equal(t, http.StatusCreated, again.status, again.raw)
	require.Equal(t, result[api.Participant](t, first), result[api.Participant](t, again))
	require.Len(t, h.engine.starts, 1)
	h.refused(ask(`{"phone_number":"+15558675311","name":"Ann"}`), http.StatusConflict, "Idempotency-Key: already used for another request")
	h.refused(call{method: "POST", path: participantsPath, body: `{"phone_number":"+15558675310","name":"Ann"}`}, http.StatusConflict, "already enrolled as conv_")
}

func TestEnrolWithoutTemporal(t *testing.T) {
	h := start(t, nil)
	h.engine.fail(func(context.Context, string) error { return errDown })
	view := h.ann()
	require.Equal(t, "Europe/Berlin", view.Timezone)
	require.False(t, view.ZoneAssumed)
	require.Equal(t, 1, h.undelivered())
}

func TestEnrolRefuses(t *testing.T) {
	h := start(t, nil)
	long := strings.Repeat("ä", 101)
	for _, tc := range []struct{ name, body, want string }{
		{"no phone", `{"name":"Ann"}`, "phone_number: is required"},
		{"letters", `{"phone_number":"1-800-flowers"}`, "phone_number"},
		{"wrong type", `{"phone_number":15558675310}`, "phone_number: must be a text"},
		{"unknown field", `{"phone_number":"+15558675310","nickname":"A"}`, "nickname: unknown field"},
		{"field in another case", `{"phone_number":"+15558675310","Name":"A"}`, "Name: unknown field"},
		{"unknown zone", `{"phone_number":"+15558675310","timezone":"Mars/Base"}`, "timezone: unknown zone"},
		{"zone without a place", `{"phone_number":"+15558675310","timezone":"EST"}`, "timezone: names no place, whose clock changes would count; use America/New_York"},
		{"offset as zone", `{"phone_number":"+15558675310","timezone":"Etc/GMT+5"}`, "timezone: names no place"},
		{"empty zone", `{"phone_number":"+15558675310","timezone":""}`, "timezone: must be an IANA zone name"},
		{"local zone", `{"phone_number":"+15558675310","timezone":"Local"}`, "timezone: must be an IANA zone name"},
		{"zone as path", `{"phone_number":"+15558675310","timezone":"../etc/passwd"}`, "timezone: unknown zone"},
		{"long name", `{"phone_number":"+15558675310","name":"` + long + `"}`, "name: must have at most 100"},
		{"long background", `{"phone_number":"+15558675310","background":"` + strings.Repeat("x", 2001) + `"}`, "background: must have at most 2000"},
		{"unknown channel", `{"phone_number":"+15558675310","channel":"fax"}`, "channel: must be one of"},
		{"debug without tester", `{"phone_number":"+15558675310","debug":true}`, "debug: only a tester"},
		{"not JSON", `{"phone_number":`, "body: is not valid JSON"},
		{"two values", `{"phone_number":"+15558675310"} {}`, "body: is not valid JSON"},
		{"not an object", `[]`, "body: must be an object"},
		{"nothing", ``, "request body is required"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h.t = t
			h.refused(call{method: "POST", path: participantsPath, body: tc.body}, http.StatusBadRequest, tc.want)
		})
	}
	require.Empty(t, listRows[models.Participant](h, "id"))
	require.Empty(t, h.engine.seen())
}

func TestListPages(t *testing.T) {
	h := start(t, nil)
	for _, phone := range []string{"+15550000001", "+15550000002", "+15550000003"} {
		h.enrol(`{"phone_number":"` + phone + `"}`)
	}
	first := h.do(call{method: "GET", path: participantsPath + "?limit=2"})
	page := result[api.ParticipantPage](t, first)
	require.Len(t, page.Participants, 2)
	require.Equal(t, page.Participants[1].ID, *page.NextCursor)
	last := h.do(call{method: "GET", path: participantsPath + "?limit=1&cursor=" + *page.NextCursor})
	require.Contains(t, last.raw, `"next_cursor":null`)
	require.Len(t, result[api.ParticipantPage](t, last).Participants, 1)
	none := h.do(call{method: "GET", path: participantsPath + "?status=paused"})
	require.JSONEq(t, `{"participants":[],"next_cursor":null}`, string(none.body.Result))
	h.refused(call{method: "GET", path: participantsPath + "?limit=0"}, http.StatusBadRequest, "limit: must be at least 1")
	h.refused(call{method: "GET", path: participantsPath + "?limit=201"}, http.StatusBadRequest, "limit: must be at most 200")
	h.refused(call{method: "GET", path: participantsPath + "?status=gone"}, http.StatusBadRequest, "status: must be one of")
}

func TestUnknownParticipant(t *testing.T) {
	h := start(t, nil)
	for _, c := range []call{
		{method: "GET", path: participantsPath + "/conv_x"},
		{method: "PUT", path: participantsPath + "/conv_x", body: `{"name":"A"}`},
		{method: "DELETE", path: participantsPath + "/conv_x"},
		{method: "GET", path: participantsPath + "/conv_x/history"},
		{method: "GET", path: participantsPath + "/conv_x/state"},
		{method: "POST", path: participantsPath + "/conv_x/mode", body: `{"target_state":"INTAKE"}`},
		{method: "POST", path: participantsPath + "/conv_x/messages", body: `{"body":"Hi"}`},
	} {
		h.refused(c, http.StatusNotFound, "participant not found")
	}
	require.Empty(t, listRows[models.AuditRow](h, "id"))
}

func TestChange(t *testing.T) {
	h := start(t, nil)
	id := h.ann().ID
	path := participantsPath + "/" + id
	got := h.do(call{method: "PUT", path: path, body: `{"name":"Anna"}`, header: map[string]string{"If-Match": `"1"`}})
	require.Equal(t, http.StatusOK, got.status, got.raw)
	require.Equal(t, `"2"`, got.header.Get("ETag"))
	require.Equal(t, "Anna", result[api.Participant](t, got).Name)

	h.refused(call{method: "PUT", path: path, body: `{"name":"B"}`, header: map[string]string{"If-Match": `"1"`}}, http.StatusPreconditionFailed, "If-Match")
	h.refused(call{method: "PUT", path: path, body: `{"name":"B"}`, header: map[string]string{"If-Match": "new"}}, http.StatusBadRequest, "If-Match")
	h.refused(call{method: "PUT", path: path, body: `{"timezone":"Mars/Base"}`}, http.StatusBadRequest, "timezone: unknown zone")
	h.refused(call{method: "PUT", path: path, body: `{"phone":"+15550000009"}`}, http.StatusBadRequest, "phone: unknown field")
	h.refused(call{method: "PUT", path: path, body: `{"debug":true}`}, http.StatusBadRequest, "debug: only a tester")

	same := h.do(call{method: "PUT", path: path, body: `{"status":"active"}`})
	require.Equal(t, `"2"`, same.header.Get("ETag"))

	h.between("FROM participants", func() { h.change(id, map[string]any{"version": gorm.Expr("version + 1")}) })
	paused := h.do(call{method: "PUT", path: path, body: `{"status":"paused","timezone":"Asia/Tokyo"}`})
	require.Equal(t, http.StatusOK, paused.status, paused.raw)
	require.Equal(t, []string{"start", "update:Pause", "update:UpdateParticipant"}, h.engine.seen())
	update := h.engine.updates[1]
	require.Equal(t, "n3", update.UpdateID)
	require.Equal(t, client.WorkflowUpdateStageAccepted, update.WaitForStage)
	require.Equal(t, []any{wire.ParticipantChanged{Zone: "Asia/Tokyo", Status: wire.StatusPaused}}, update.Args)

	// A person who said by another way that they want no more texts.
	out := h.do(call{method: "PUT", path: path, body: `{"status":"opted_out"}`})
	require.Equal(t, http.StatusOK, out.status, out.raw)
	require.Equal(t, wire.StatusOptedOut, result[api.Participant](t, out).Status)
	h.refused(call{method: "PUT", path: path, body: `{"status":"active"}`}, http.StatusConflict, "status: the participant opted out; only the participant can come back")
}

func TestRemove(t *testing.T) {
	h := start(t, nil)
	path := participantsPath + "/" + h.ann().ID
	got := h.do(call{method: "DELETE", path: path})
	require.Equal(t, http.StatusOK, got.status)
	require.NotEmpty(t, got.body.Message)
	require.Equal(t, []string{"start", "update:Unenroll"}, h.engine.seen())
	h.refused(call{method: "DELETE", path: path}, http.StatusNotFound, "participant not found")
	h.ann()
}

// A locale whose messages nothing screens is refused, wherever it is set.
func TestLocaleWithoutScreening(t *testing.T) {
	h := start(t, nil)
	const want = "locale: must be a locale such as es-MX in a language that is screened for crisis and opt-out: de, en, es, fr, pt"
	ann := h.ann()
	for _, locale := range []string{"it", "ja-JP", "english", "!"} {
		body := `"locale":"` + locale + `"`
		h.refused(call{method: "POST", path: participantsPath, body: `{"phone_number":"` + hisNumber + `",` + body + `}`}, http.StatusBadRequest, want)
		h.refused(call{method: "PUT", path: participantsPath + "/" + ann.ID, body: `{` + body + `}`}, http.StatusBadRequest, want)
	}
	for _, locale := range []string{"", "pt-BR", "de", "fr-CA"} {
		got := h.do(call{method: "PUT", path: participantsPath + "/" + ann.ID, body: `{"locale":"` + locale + `"}`})
		require.Equal(t, http.StatusOK, got.status, got.raw)
	}
}
