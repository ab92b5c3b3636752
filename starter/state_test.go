package starter

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"coachline/models"
	"coachline/models/wire"
)

func TestState(t *testing.T) {
	h := start(t, nil)
	id := h.ann().ID
	path := participantsPath + "/" + id + "/state"
	sent := testNow.Add(-time.Hour)
	h.addRows(&models.Profile{ParticipantID: id, HabitTexts: models.HabitTexts{HabitDomain: "walking"}, Tone: models.Tone{Tags: []string{"concise"}}, SuccessCount: 2, TotalPrompts: 5})
	h.engine.status = wire.StatusView{
		Mode: wire.ModeFeedback, Status: wire.StatusActive, Zone: "Europe/Berlin",
		Due:     []wire.Due{{Kind: wire.DueDailyPrompt, At: testNow.Add(2 * time.Hour), Ref: "s1"}},
		Pending: &wire.PendingPrompt{PromptID: "p1", SentAt: sent},
	}
	h.engine.schedules = []wire.Schedule{{ID: "s1", Type: wire.ScheduleFixed, At: "08:00", Next: wire.Slot{
		Date: "2026-11-25", TargetAt: testNow.Add(90 * time.Minute), SendAt: testNow.Add(80 * time.Minute)}}}
	got := h.do(call{method: "GET", path: path})
	require.Equal(t, http.StatusOK, got.status, got.raw)
	require.JSONEq(t, `{"mode":"FEEDBACK","status":"active","version":1,"waiting_messages":0,"left_out":[],"last_channel":"sms",
		"profile":{"habit_domain":"walking","motivational_frame":"","preferred_time":"","prompt_anchor":"","additional_info":"",
			"last_successful_prompt":"","last_barrier":"","last_motivator":"","last_tweak":"","last_habit_prompt":"",
			"tone_tags":["concise"],"last_prompt_sent_at":null},
		"counters":{"success_count":2,"total_prompts":5},
		"schedules":[{"id":"s1","type":"fixed","at":"08:00","timezone":"Europe/Berlin",
			"next_at":"2026-11-24T15:00:00Z","target_at":"2026-11-24T14:30:00Z"}],
		"due":[{"kind":"daily_prompt","at":"2026-11-24T15:00:00Z","ref":"s1"}],
		"pending_prompt":{"prompt_id":"p1","sent_at":"2026-11-24T12:00:00Z"}}`, string(got.body.Result))

	for _, status := range []wire.Status{wire.StatusPaused, wire.StatusOptedOut} {
		h.engine.status.Status, h.engine.status.Due = status, nil
		got = h.do(call{method: "GET", path: path})
		require.Contains(t, got.raw, `"next_at":null,"target_at":null`, "no prompt goes out to people who are %s", status)
	}

	h.engine.fail(func(context.Context, string) error { return context.DeadlineExceeded })
	h.refused(call{method: "GET", path: path}, http.StatusServiceUnavailable, "asking the participant's workflow failed")
}

// The workflow of a person whose greeting is far away starts when an operator asks it.
func TestWorkflowStartsWhenItIsAsked(t *testing.T) {
	for _, ask := range []struct {
		call call
		did  string
	}{
		{call{method: "GET", path: "/state"}, "query:" + wire.QueryStatus},
		{call{method: "GET", path: "/schedules"}, "query:" + wire.QueryStatus},
		{call{method: "POST", path: "/mode", body: `{"target_state":"FEEDBACK"}`}, "update:" + wire.UpdateSetMode},
	} {
		t.Run(ask.did, func(t *testing.T) {
			h := start(t, nil)
			id := h.addSleeper()
			h.engine.fail(func(_ context.Context, call string) error {
				if call != "start" && !slices.Contains(h.engine.seen(), "start") {
					return serviceerror.NewNotFound("workflow not found")
				}
				return nil
			})
			ask.call.path = participantsPath + "/" + id + ask.call.path
			got := h.do(ask.call)
			require.Equal(t, http.StatusOK, got.status, got.raw)
			require.Equal(t, []string{ask.did, "start", ask.did}, h.engine.seen()[:3])
			require.Len(t, h.engine.starts, 1)
		})
	}
}

// addSleeper adds a person of an import who is greeted in some hours.
func (h *harness) addSleeper() string {
	h.t.Helper()
	greeting := testNow.Add(6 * time.Hour)
	p, err := h.rows.People.Enroll(context.Background(), models.Participant{
		ID: "conv_sleeper", Phone: "+12125550199", Timezone: "UTC", GreetingAt: &greeting, EnrolledAt: testNow, CreatedAt: testNow,
	}, "operator")
	require.NoError(h.t, err)
	return p.ID
}
