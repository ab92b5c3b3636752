package cli

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/models"
)

// pagedAPI serves two pages of every list and keeps the queries that it saw. The
// answers hold a field that the command line does not know.
func pagedAPI(t *testing.T) (client *Client, queries *[]string) {
	t.Helper()
	lists := map[string][2]string{
		"/alerts": {
			`"alerts":[{"id":"alarm-2","participant_id":"conv_1","at":"2026-03-02T09:00:00Z","danger":"self_harm","tier":"A","rule":"r1","kind":"direct","score":1.25,"escalated":false,"answered":true,"mark":"right","later":1}]`,
			`"alerts":[{"id":"alarm-1","participant_id":"conv_2","at":"2026-03-01T09:00:00Z","danger":"harm","tier":"B","rule":"score","kind":"","score":0.5,"escalated":true,"answered":false}]`,
		},
		"/attention": {
			`"attention":[{"participant_id":"conv_1","name":"Ann","kind":"crisis","since":"2026-03-02T09:00:00Z","ref":"1","code":"self_harm","acknowledged_by":"user:kim","acknowledged_at":"2026-03-02T09:01:00Z","later":1}]`,
			`"attention":[{"participant_id":"conv_2","name":"Bo","kind":"send","since":"2026-03-03T09:00:00Z"}]`,
		},
		"/holds": {
			`"holds":[{"id":3,"scope":"all","reason":"model away","active":true,"until":"2026-03-03T09:00:00Z","created_at":"2026-03-02T09:00:00Z","created_by":"operator","later":1}]`,
			`"holds":[{"id":2,"scope":"all","reason":"","active":false,"until":"2026-03-02T09:00:00Z","created_at":"2026-03-01T09:00:00Z","created_by":"operator","released_at":"2026-03-01T10:00:00Z","released_by":"operator"},{"id":1,"scope":"all","reason":"","active":false,"until":"2026-02-02T09:00:00Z","created_at":"2026-02-01T09:00:00Z","created_by":"operator"}]`,
		},
		"/conversation/participants": {
			`"participants":[{"id":"conv_1","phone_number":"+15558675310","name":"Ann","status":"active","mode":"INTAKE","timezone":"UTC","enrolled_at":"2026-03-02T09:00:00Z","later":1}]`,
			`"participants":[{"id":"conv_2","phone_number":"+15558675311","name":"Bo","status":"paused","mode":"FEEDBACK","timezone":"UTC","enrolled_at":"2026-03-02T10:00:00Z"}]`,
		},
	}
	queries = &[]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*queries = append(*queries, r.URL.RawQuery)
		page, next := lists[r.URL.Path][0], `"7"`
		if r.URL.Query().Get("cursor") == "7" {
			page, next = lists[r.URL.Path][1], "null"
		}
		_, _ = w.Write([]byte(`{"status":"ok","result":{` + page + `,"next_cursor":` + next + `}}`))
	}))
	t.Cleanup(server.Close)
	client, err := NewClient(server.URL, "")
	require.NoError(t, err)
	return client, queries
}

// A list is read to its last page, and JSON shows each item as it came.
func TestListsReadEveryPage(t *testing.T) {
	for _, tc := range []struct {
		name    string
		do      func(context.Context, *Commands) error
		queries []string
	}{
		{"pages-alerts", func(ctx context.Context, c *Commands) error { return c.ListAlerts(ctx, true) },
			[]string{"limit=200&unmarked=true", "cursor=7&limit=200&unmarked=true"}},
		{"pages-attention", func(ctx context.Context, c *Commands) error { return c.ListAttention(ctx, models.AttentionSend) },
			[]string{"kind=send&limit=200", "cursor=7&kind=send&limit=200"}},
		{"pages-holds", func(ctx context.Context, c *Commands) error { return c.ListHolds(ctx, false) },
			[]string{"active=true&limit=200", "active=true&cursor=7&limit=200"}},
		{"pages-participants", func(ctx context.Context, c *Commands) error { return c.List(ctx, Filter{Waiting: true}) },
			[]string{"limit=200&waiting=true", "cursor=7&limit=200&waiting=true"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			client, queries := pagedAPI(t)
			var out bytes.Buffer
			require.NoError(t, tc.do(t.Context(), New(client, &out, false)))
			require.NoError(t, tc.do(t.Context(), New(client, &out, true)))
			golden(t, tc.name, out.String())
			require.Equal(t, append(tc.queries, tc.queries...), *queries)
		})
	}
}

// What commands send is part of the API.
func TestBodiesOfRequests(t *testing.T) {
	until := time.Date(2026, 3, 3, 9, 0, 0, 0, time.UTC)
	yes, name, paused := true, "Ann", models.StatusPaused
	hold := `{"id":1,"scope":"all","until":"2026-03-03T09:00:00Z","created_at":"2026-03-02T09:00:00Z","active":true}`
	for _, tc := range []struct {
		call, result, body string
		do                 func(context.Context, *Commands) error
	}{
		{"POST /holds", hold, `{"until":"2026-03-03T09:00:00Z"}`,
			func(ctx context.Context, c *Commands) error { return c.AddHold(ctx, api.NewHold{Until: until}) }},
		{"POST /holds", hold, `{"reason":"away","until":"2026-03-03T09:00:00Z"}`,
			func(ctx context.Context, c *Commands) error {
				return c.AddHold(ctx, api.NewHold{Until: until, Reason: "away"})
			}},
		{"POST /alerts/alarm-1/mark", `{"id":"alarm-1","mark":"wrong"}`, `{"mark":"wrong"}`,
			func(ctx context.Context, c *Commands) error { return c.MarkAlert(ctx, "alarm-1", models.MarkWrong) }},
		{"POST /conversation/participants/conv_1/attention", `{"attention":""}`, `{"clear":true}`,
			func(ctx context.Context, c *Commands) error { return c.ClearAttention(ctx, "conv_1", "") }},
		{"PUT /conversation/participants/conv_1", ann, `{"name":"Ann","locale":"Ann","status":"paused","debug":true,"waiting_messages":"read"}`,
			func(ctx context.Context, c *Commands) error {
				return c.Update(ctx, "conv_1", api.ParticipantChange{Name: &name, Locale: &name, Status: &paused, Debug: &yes, Waiting: models.WaitingRead}, 0)
			}},
		{"POST /conversation/participants", ann, `{"phone_number":"+15558675310","name":"Ann","timezone":"Ann","locale":"de","tester":true,"channel":"sms","signup":true}`,
			func(ctx context.Context, c *Commands) error {
				return c.Add(ctx, api.NewParticipant{Phone: "+15558675310", Name: name, Timezone: &name, Locale: "de", Tester: true, Channel: models.ChannelSMS, Signup: true})
			}},
	} {
		t.Run(tc.call, func(t *testing.T) {
			server := newFakeAPI(t, map[string]string{tc.call: tc.result})
			require.NoError(t, tc.do(t.Context(), New(server.client(t), &bytes.Buffer{}, false)))
			require.Equal(t, []string{tc.body}, server.bodies)
		})
	}
}
