package starter

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"coachline/internal/api"
	"coachline/internal/coach"
	"coachline/models"
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
		ID: view.ID, Phone: herNumber, Name: "Ann", Background: "Student", Timezone: "America/New_York", ZoneAssumed: true,
		Channel: models.ChannelSMS, Status: models.StatusActive, Mode: models.ModeIntake,
		EnrolledAt: testNow, GreetingAt: &testNow, CreatedAt: testNow, UpdatedAt: testNow, Version: 1,
	}, view)

	require.Equal(t, []string{"start"}, h.engine.seen())
	options := h.engine.starts[0]
	require.Equal(t, "participant-"+view.ID, options.ID)
	require.Equal(t, models.QueueCoach, options.TaskQueue)
	require.Equal(t, enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING, options.WorkflowIDConflictPolicy)
	require.Equal(t, enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE, options.WorkflowIDReusePolicy)
	require.Equal(t, 3, options.TypedSearchAttributes.Size())
	require.Equal(t, "Coaching since 2026-11-24", options.StaticSummary)
	require.Equal(t, models.ParticipantState{
		ParticipantID: view.ID, Zone: "America/New_York", ZoneAssumed: true, Status: models.StatusActive, Mode: models.ModeIntake,
		Notices: models.AppliedNotices{Counted: true}, GreetingAt: testNow,
	}, h.engine.states[0])
	require.Zero(t, h.store.undelivered())

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
	require.Equal(t, 1, h.store.undelivered())
}

func TestEnrolRefuses(t *testing.T) {
	h := start(t, nil)
	long := strings.Repeat("ä", 101)
	for _, tc := range []struct{ name, body, want string }{
		{"no phone", `{"name":"Ann"}`, "phone_number: is required"},
		{"letters", `{"phone_number":"1-800-flowers"}`, "phone_number"},
		{"wrong type", `{"phone_number":15558675310}`, "phone_number: expected string"},
		{"unknown field", `{"phone_number":"+15558675310","nickname":"A"}`, "nickname: unknown field"},
		{"field in another case", `{"phone_number":"+15558675310","Name":"A"}`, "Name: unknown field"},
		{"unknown zone", `{"phone_number":"+15558675310","timezone":"Mars/Base"}`, "timezone: unknown zone"},
		{"zone without a place", `{"phone_number":"+15558675310","timezone":"EST"}`, "timezone: names no place, whose clock changes would count; use America/New_York"},
		{"offset as zone", `{"phone_number":"+15558675310","timezone":"Etc/GMT+5"}`, "timezone: names no place"},
		{"empty zone", `{"phone_number":"+15558675310","timezone":""}`, "timezone: must be an IANA zone name"},
		{"local zone", `{"phone_number":"+15558675310","timezone":"Local"}`, "timezone: must be an IANA zone name"},
		{"zone as path", `{"phone_number":"+15558675310","timezone":"../etc/passwd"}`, "timezone: unknown zone"},
		{"long name", `{"phone_number":"+15558675310","name":"` + long + `"}`, "name: expected length <= 100"},
		{"long background", `{"phone_number":"+15558675310","background":"` + strings.Repeat("x", 2001) + `"}`, "background: expected length <= 2000"},
		{"unknown channel", `{"phone_number":"+15558675310","channel":"fax"}`, "channel: expected value to be one of"},
		{"debug without tester", `{"phone_number":"+15558675310","debug":true}`, "debug: only a tester"},
		{"not JSON", `{"phone_number":`, "body: is not valid JSON"},
		{"two values", `{"phone_number":"+15558675310"} {}`, "body: is not valid JSON"},
		{"not an object", `[]`, "body: expected object"},
		{"nothing", ``, "request body is required"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h.t = t
			h.refused(call{method: "POST", path: participantsPath, body: tc.body}, http.StatusBadRequest, tc.want)
		})
	}
	require.Empty(t, h.store.participants)
	require.Empty(t, h.engine.seen())
}

func TestLimitsOfARequest(t *testing.T) {
	h := start(t, nil)
	h.requireRefused(h.call(call{method: "POST", path: participantsPath, body: `{"name":"` + strings.Repeat("x", maxAPIBody) + `"}`}),
		http.StatusRequestEntityTooLarge, "body: larger than 1048576 bytes")
	h.refused(call{method: "POST", path: participantsPath, body: `phone_number=1`, header: map[string]string{"Content-Type": "text/plain"}},
		http.StatusUnsupportedMediaType, "body: unknown content type")
	got := h.refused(call{method: "PATCH", path: participantsPath}, http.StatusMethodNotAllowed, "method not allowed")
	require.Equal(t, "GET, HEAD, POST", got.header.Get("Allow"))
	h.refused(call{method: "GET", path: "/nowhere"}, http.StatusNotFound, "no such route")
	h.refused(call{method: "GET", path: "/docs"}, http.StatusNotFound, "no such route")
	h.refused(call{method: "GET", path: "/openapi.yaml"}, http.StatusNotFound, "no such route")
	h.store.fail(errDown)
	got = h.refused(call{method: "GET", path: participantsPath}, http.StatusServiceUnavailable, "try again later")
	require.NotContains(t, got.raw, errDown.Error())
}

func TestGuard(t *testing.T) {
	h := start(t, nil)
	for _, value := range []string{"", "Bearer", "Bearer wrong", "Basic " + testToken, testToken} {
		got := h.refused(call{method: "GET", path: participantsPath, header: map[string]string{"Authorization": value}},
			http.StatusUnauthorized, "bearer token")
		require.Equal(t, "Bearer", got.header.Get("WWW-Authenticate"))
	}
	require.Equal(t, http.StatusOK, h.do(call{method: "GET", path: participantsPath, header: map[string]string{"Authorization": "bearer " + testToken}}).status)
	for _, open := range []string{"/livez", "/readyz", "/version", "/openapi.json"} {
		require.Equal(t, http.StatusOK, h.do(call{method: "GET", path: open, header: map[string]string{"Authorization": ""}}).status, open)
	}
}

func TestGuardWithoutToken(t *testing.T) {
	h := start(t, func(c *Config) { c.HTTP.APIToken = "" })
	require.Equal(t, http.StatusOK, h.do(call{method: "GET", path: participantsPath, header: map[string]string{"Authorization": ""}}).status)
	h.refused(call{method: "POST", path: participantsPath, body: `{"phone_number":"+15558675310"}`,
		header: map[string]string{"Sec-Fetch-Site": "cross-site"}}, http.StatusForbidden, "local requests")

	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+h.server.Addr()+participantsPath, http.NoBody)
	require.NoError(t, err)
	req.Host = "rebound.example.org"
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusForbidden, res.StatusCode)
}

func TestNewRefuses(t *testing.T) {
	cfg := Config{HTTP: HTTPConfig{Addr: "0.0.0.0:0"}, Store: newFakeStore(), Turns: &past{}, Memory: &past{}, Temporal: &engine{}, Carrier: CarrierConfig{Verifier: signed{}}}
	_, err := New(context.Background(), cfg)
	require.ErrorContains(t, err, "COACH_API_TOKEN")
	cfg.Carrier.Verifier = nil
	_, err = New(context.Background(), cfg)
	require.ErrorContains(t, err, "signature verifier")
}

func TestGivenListener(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	h := start(t, func(c *Config) { c.HTTP.Listener = listener })
	require.Equal(t, listener.Addr().String(), h.server.Addr())
	require.Equal(t, http.StatusOK, h.do(call{method: "GET", path: "/livez"}).status)
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
	h.refused(call{method: "GET", path: participantsPath + "?limit=0"}, http.StatusBadRequest, "limit: expected number >= 1")
	h.refused(call{method: "GET", path: participantsPath + "?limit=201"}, http.StatusBadRequest, "limit: expected number <= 200")
	h.refused(call{method: "GET", path: participantsPath + "?status=gone"}, http.StatusBadRequest, "status: expected value to be one of")
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
	require.Empty(t, h.store.audits)
}

func TestChange(t *testing.T) {
	h := start(t, nil)
	path := participantsPath + "/" + h.ann().ID
	got := h.do(call{method: "PUT", path: path, body: `{"name":"Anna"}`, header: map[string]string{"If-Match": `"1"`}})
	require.Equal(t, http.StatusOK, got.status, got.raw)
	require.Equal(t, `"2"`, got.header.Get("ETag"))
	require.Equal(t, "Anna", result[api.Participant](t, got).Name)

	h.refused(call{method: "PUT", path: path, body: `{"name":"B"}`, header: map[string]string{"If-Match": `"1"`}}, http.StatusPreconditionFailed, "If-Match")
	h.refused(call{method: "PUT", path: path, body: `{"name":"B"}`, header: map[string]string{"If-Match": "new"}}, http.StatusBadRequest, "If-Match")
	h.refused(call{method: "PUT", path: path, body: `{"timezone":"Mars/Base"}`}, http.StatusBadRequest, "timezone: unknown zone")
	h.refused(call{method: "PUT", path: path, body: `{"phone":"+15550000009"}`}, http.StatusBadRequest, "phone: unknown field")
	h.refused(call{method: "PUT", path: path, body: `{"debug":true}`}, http.StatusBadRequest, "debug: only a tester")
	h.refused(call{method: "PUT", path: path, body: `{"status":"opted_out"}`}, http.StatusConflict, "status: only the participant can opt out")

	same := h.do(call{method: "PUT", path: path, body: `{"status":"active"}`})
	require.Equal(t, `"2"`, same.header.Get("ETag"))

	h.store.staleOnce = true
	paused := h.do(call{method: "PUT", path: path, body: `{"status":"paused","timezone":"Asia/Tokyo"}`})
	require.Equal(t, http.StatusOK, paused.status, paused.raw)
	require.Equal(t, []string{"start", "update:UpdateParticipant", "update:Pause"}, h.engine.seen())
	update := h.engine.updates[0]
	require.Equal(t, "n2", update.UpdateID)
	require.Equal(t, client.WorkflowUpdateStageAccepted, update.WaitForStage)
	require.Equal(t, []any{models.ParticipantChanged{Zone: "Asia/Tokyo", Status: models.StatusPaused}}, update.Args)
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

func TestHistory(t *testing.T) {
	h := start(t, nil)
	path := participantsPath + "/" + h.ann().ID + "/history"
	require.Equal(t, "[]", string(h.do(call{method: "GET", path: path}).body.Result))
	h.store.history = []models.HistoryEntry{
		{Role: models.RoleAssistant, Kind: models.KindGreeting, Text: "Hi", At: testNow, Channel: models.ChannelSMS, Delivery: models.OutboxDelivered, TurnID: "conv_1-t1"},
		{Role: models.RoleUser, Kind: models.KindMessage, Text: "Hello", At: testNow.Add(time.Minute), Channel: models.ChannelChat},
	}
	all := h.do(call{method: "GET", path: path})
	require.JSONEq(t, `[{"role":"assistant","kind":"greeting","text":"Hi","at":"2026-11-24T13:00:00Z","channel":"sms","delivery":"delivered","turn_id":"conv_1-t1"},
		{"role":"user","kind":"message","text":"Hello","at":"2026-11-24T13:01:00Z","channel":"chat"}]`, string(all.body.Result))
	newer := result[[]api.HistoryEntry](t, h.do(call{method: "GET", path: path + "?after=2026-11-24T13:00:00Z"}))
	require.Equal(t, []api.HistoryEntry{api.HistoryEntry(h.store.history[1])}, newer)
	h.refused(call{method: "GET", path: path + "?after=2026-11-24T13:00:00Z&before=2026-11-24T13:00:00Z"}, http.StatusBadRequest, "not together")
	h.refused(call{method: "GET", path: participantsPath + "/nobody/history?after=2026-11-24T13:00:00Z"}, http.StatusNotFound, "participant not found")
	require.Len(t, result[[]api.HistoryEntry](t, h.do(call{method: "GET", path: path + "?limit=1"})), 1)
	older := h.do(call{method: "GET", path: path + "?before=" + url.QueryEscape("2026-11-24T14:00:30+01:00")})
	require.Equal(t, "Hi", result[[]api.HistoryEntry](t, older)[0].Text)
	h.refused(call{method: "GET", path: path + "?before=yesterday"}, http.StatusBadRequest, "before: ")
	h.refused(call{method: "GET", path: path + "?limit=501"}, http.StatusBadRequest, "limit: expected number <= 500")
}

func TestMessages(t *testing.T) {
	h := start(t, nil)
	ann := h.ann()
	path := participantsPath + "/" + ann.ID + "/messages"
	send := func(body, key string) call {
		return call{method: "POST", path: path, body: body, header: map[string]string{"Idempotency-Key": key}}
	}
	first := h.do(send(`{"body":"See you"}`, "k1"))
	require.Equal(t, http.StatusAccepted, first.status, first.raw)
	require.Equal(t, api.QueuedMessage{ID: ann.ID + "-op-k1", Status: models.OutboxReady}, result[api.QueuedMessage](t, first))
	require.Equal(t, http.StatusOK, h.do(send(`{"body":"See you"}`, "k1")).status)
	h.refused(send(`{"body":"Other"}`, "k1"), http.StatusConflict, "Idempotency-Key")
	require.Equal(t, []string{"start", "update:SendMessage"}, h.engine.seen())
	require.Equal(t, []any{models.SendMessageRequest{OutboxID: ann.ID + "-op-k1"}}, h.engine.updates[0].Args)

	require.Equal(t, http.StatusAccepted, h.do(send(`{"body":"A"}`, "")).status)
	require.Equal(t, http.StatusAccepted, h.do(send(`{"body":"A"}`, "")).status)
	for _, status := range []int{http.StatusAccepted, http.StatusOK} {
		require.Equal(t, status, h.do(send(`{"body":"It’s 8–9"}`, "k2")).status, "the key finds what was stored")
	}
	require.Equal(t, "It's 8-9", h.store.outbox["k2"].Body, "GSM-7 is cheaper")
	h.refused(send(`{"body":""}`, ""), http.StatusBadRequest, "body: expected length >= 1")
	h.refused(send(`{"body":" \n"}`, ""), http.StatusBadRequest, "body: must not be blank")
	h.refused(send(`{"body":"`+strings.Repeat("x", 1601)+`"}`, ""), http.StatusBadRequest, "body: expected length <= 1600")
	h.refused(send(`{"text":"A"}`, ""), http.StatusBadRequest, "body: is required")

	p := h.store.participants[ann.ID]
	p.Status = models.StatusOptedOut
	h.store.participants[ann.ID] = p
	h.refused(send(`{"body":"A"}`, ""), http.StatusConflict, "opted out")
}

func TestState(t *testing.T) {
	h := start(t, nil)
	path := participantsPath + "/" + h.ann().ID + "/state"
	sent := testNow.Add(-time.Hour)
	h.store.profile = models.Profile{HabitDomain: "walking", Tone: models.Tone{Tags: []string{"concise"}}, SuccessCount: 2, TotalPrompts: 5}
	h.engine.status = models.StatusView{
		Mode: models.ModeFeedback, Status: models.StatusActive, Zone: "Europe/Berlin",
		Due:     []models.Due{{Kind: models.DueDailyPrompt, At: testNow.Add(2 * time.Hour), Ref: "s1"}},
		Pending: &models.PendingPrompt{PromptID: "p1", SentAt: sent},
	}
	h.engine.schedules = []models.Schedule{{ID: "s1", Type: models.ScheduleFixed, At: "08:00", Next: models.Slot{
		Date: "2026-11-25", TargetAt: testNow.Add(90 * time.Minute), SendAt: testNow.Add(80 * time.Minute)}}}
	got := h.do(call{method: "GET", path: path})
	require.Equal(t, http.StatusOK, got.status, got.raw)
	require.JSONEq(t, `{"mode":"FEEDBACK","status":"active","version":1,"waiting_messages":0,"last_channel":"sms",
		"profile":{"habit_domain":"walking","motivational_frame":"","preferred_time":"","prompt_anchor":"","additional_info":"",
			"last_successful_prompt":"","last_barrier":"","last_motivator":"","last_tweak":"","last_habit_prompt":"",
			"tone_tags":["concise"],"last_prompt_sent_at":null},
		"counters":{"success_count":2,"total_prompts":5},
		"schedules":[{"id":"s1","type":"fixed","at":"08:00","timezone":"Europe/Berlin",
			"next_at":"2026-11-24T15:00:00Z","target_at":"2026-11-24T14:30:00Z"}],
		"due":[{"kind":"daily_prompt","at":"2026-11-24T15:00:00Z","ref":"s1"}],
		"pending_prompt":{"prompt_id":"p1","sent_at":"2026-11-24T12:00:00Z"}}`, string(got.body.Result))

	for _, status := range []models.Status{models.StatusPaused, models.StatusOptedOut} {
		h.engine.status.Status, h.engine.status.Due = status, nil
		got = h.do(call{method: "GET", path: path})
		require.Contains(t, got.raw, `"next_at":null,"target_at":null`, "no prompt goes out to people who are %s", status)
	}

	h.engine.fail(func(context.Context, string) error { return context.DeadlineExceeded })
	h.refused(call{method: "GET", path: path}, http.StatusServiceUnavailable, "asking the participant's workflow failed")
}

func TestMode(t *testing.T) {
	h := start(t, nil)
	ann := h.ann()
	post := call{method: "POST", path: participantsPath + "/" + ann.ID + "/mode", body: `{"target_state":"FEEDBACK","reason":"study plan"}`}
	h.engine.status = models.StatusView{Mode: models.ModeFeedback}
	got := h.do(post)
	require.Equal(t, http.StatusOK, got.status, got.raw)
	require.JSONEq(t, `{"target_state":"FEEDBACK","mode":"FEEDBACK"}`, string(got.body.Result))
	update := h.engine.updates[0]
	require.Equal(t, models.UpdateSetMode, update.UpdateName)
	require.Equal(t, client.WorkflowUpdateStageAccepted, update.WaitForStage)
	require.Equal(t, []any{models.SetModeRequest{Mode: models.ModeFeedback}}, update.Args)
	require.Equal(t, []models.Audit{{ParticipantID: ann.ID, Actor: actor, Action: "set_mode", Detail: "FEEDBACK", Reason: "study plan", At: testNow}}, h.store.audits)

	h.engine.rejected = client.NewWorkflowUpdateServiceTimeoutOrCanceledError(context.DeadlineExceeded)
	later := h.do(post)
	require.Equal(t, http.StatusOK, later.status, later.raw)
	require.Equal(t, "Accepted; applied when the running turn ends", later.body.Message)
	require.JSONEq(t, `{"target_state":"FEEDBACK","mode":"INTAKE"}`, string(later.body.Result))

	h.engine.rejected = temporal.NewApplicationError("the participant is paused", "InvalidInput")
	h.refused(post, http.StatusConflict, "target_state: the participant is paused")
	require.Equal(t, "set_mode_failed", h.store.audits[3].Action)
	h.engine.fail(func(context.Context, string) error {
		return client.NewWorkflowUpdateServiceTimeoutOrCanceledError(context.DeadlineExceeded)
	})
	h.refused(post, http.StatusServiceUnavailable, "setting the mode failed")
	post.body = `{"target_state":"COORDINATOR"}`
	h.refused(post, http.StatusBadRequest, "target_state: expected value to be one of")
}

func TestOps(t *testing.T) {
	h := start(t, nil)
	require.Contains(t, h.figures(), "\ncoachline_notices_waiting ")
	require.JSONEq(t, `{"status":"ok","result":{"version":"v0-test"}}`, h.do(call{method: "GET", path: "/version"}).raw)
	require.JSONEq(t, `{"database":"ok","temporal":"ok"}`, string(h.do(call{method: "GET", path: "/readyz"}).body.Result))
	h.engine.fail(func(context.Context, string) error { return errDown })
	h.refused(call{method: "GET", path: "/readyz"}, http.StatusServiceUnavailable, "database ok, temporal unreachable")
	h.store.fail(errDown)
	h.refused(call{method: "GET", path: "/readyz"}, http.StatusServiceUnavailable, "database unreachable, temporal unreachable")
	require.Equal(t, http.StatusOK, h.do(call{method: "GET", path: "/livez"}).status)
}

func TestOpenAPI(t *testing.T) {
	h := start(t, nil)
	got := h.do(call{method: "GET", path: "/openapi.json"})
	require.Equal(t, "application/openapi+json", got.header.Get("Content-Type"))
	var doc struct {
		OpenAPI string `json:"openapi"`
		Paths   map[string]map[string]struct {
			Security  []map[string][]string      `json:"security"`
			Responses map[string]json.RawMessage `json:"responses"`
		} `json:"paths"`
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	require.NoError(t, json.Unmarshal([]byte(got.raw), &doc))
	require.Equal(t, "3.1.0", doc.OpenAPI)
	want := map[string]string{
		"post /conversation/participants":                        "201 400 401 403 409 413 415 429 500 503",
		"get /conversation/participants":                         "200 400 401 403 429 500 503",
		"get /conversation/participants/{id}":                    "200 400 401 403 404 429 500 503",
		"put /conversation/participants/{id}":                    "200 400 401 403 404 409 412 413 415 429 500 503",
		"delete /conversation/participants/{id}":                 "200 400 401 403 404 412 429 500 503",
		"get /conversation/participants/{id}/history":            "200 400 401 403 404 429 500 503",
		"get /conversation/participants/{id}/state":              "200 400 401 403 404 429 500 503",
		"get /attention":                                         "200 400 401 403 429 500 503",
		"post /conversation/participants/{id}/attention":         "200 400 401 403 404 413 415 429 500 503",
		"post /conversation/participants/{id}/mode":              "200 400 401 403 404 409 413 415 429 500 503",
		"post /conversation/participants/{id}/chat":              "202 400 401 403 404 409 413 415 429 500 503",
		"post /conversation/participants/{id}/messages":          "200 202 400 401 403 404 409 413 415 429 500 503",
		"get /conversation/participants/{id}/turns":              "200 400 401 403 404 429 500 503",
		"get /conversation/participants/{id}/turns/{number}":     "200 400 401 403 404 429 500 503",
		"get /conversation/participants/{id}/consents":           "200 400 401 403 404 429 500 503",
		"get /conversation/participants/{id}/memories":           "200 400 401 403 404 429 500 503",
		"get /conversation/participants/{id}/memory/export":      "200 400 401 403 404 429 500 503",
		"delete /conversation/participants/{id}/memories":        "200 400 401 403 404 429 500 503",
		"delete /conversation/participants/{id}/memories/{fact}": "200 400 401 403 404 429 500 503",
		"post /twilio/inbound":                                   "200 400 403 413 415 503",
		"post /twilio/status":                                    "200 400 403 413 415 503",
		"get /livez":                                             "200 400 default",
		"get /readyz":                                            "200 400 500 503",
		"get /version":                                           "200 400 default",
		"get /metrics":                                           "200 400",
		"get /openapi.json":                                      "200 400",
		"get /alerts":                                            "200 400 401 403 429 500 503",
		"get /alerts/sheet":                                      "200 400 401 403 429 500 503",
		"post /alerts/{id}/mark":                                 "200 400 401 403 404 413 415 429 500 503",
		"post /holds":                                            "201 400 401 403 413 415 429 500 503",
		"get /holds":                                             "200 400 401 403 429 500 503",
		"delete /holds/{id}":                                     "200 400 401 403 404 429 500 503",
		"get /conversation/participants/{id}/waiting":            "200 400 401 403 404 429 500 503",
	}
	found := map[string]string{}
	for path, operations := range doc.Paths {
		for method, op := range operations {
			codes := make([]string, 0, len(op.Responses))
			for code := range op.Responses {
				codes = append(codes, code)
			}
			slices.Sort(codes)
			found[method+" "+path] = strings.Join(codes, " ")
			guarded := strings.HasPrefix(path, participantsPath) || strings.HasPrefix(path, holdsPath) || path == "/attention" ||
				strings.HasPrefix(path, alertsPath)
			require.Equal(t, guarded, len(op.Security) == 1, path)
		}
	}
	require.Equal(t, want, found)
	for _, ref := range regexp.MustCompile(`"#/components/schemas/([^"]+)"`).FindAllStringSubmatch(got.raw, -1) {
		require.Contains(t, doc.Components.Schemas, ref[1])
	}
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
