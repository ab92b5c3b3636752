package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pagedAPI serves two pages of every list and keeps the queries that it saw. The
// answers hold a field that the command line does not know.
func pagedAPI(t *testing.T) (environ []string, queries *[]string) {
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
	return []string{"COACH_URL=" + server.URL}, queries
}

// A list is read to its last page, and JSON shows each item as it came.
func TestListsReadEveryPage(t *testing.T) {
	for _, tc := range []struct {
		name, args string
		queries    []string
	}{
		{"pages-alerts", "alerts list --unmarked", []string{"limit=200&unmarked=true", "cursor=7&limit=200&unmarked=true"}},
		{"pages-attention", "attention --kind send", []string{"kind=send&limit=200", "cursor=7&kind=send&limit=200"}},
		{"pages-holds", "hold list", []string{"active=true&limit=200", "active=true&cursor=7&limit=200"}},
		{"pages-participants", "participant list --waiting", []string{"limit=200&waiting=true", "cursor=7&limit=200&waiting=true"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			environ, queries := pagedAPI(t)
			_, text, _ := call(t, environ, strings.Fields(tc.args)...)
			_, raw, _ := call(t, environ, append(strings.Fields(tc.args), "--json")...)
			golden(t, tc.name, text+raw)
			require.Equal(t, append(tc.queries, tc.queries...), *queries)
		})
	}
}

// What commands send is part of the API.
func TestBodiesOfRequests(t *testing.T) {
	hold := `{"id":1,"scope":"all","until":"2026-03-03T09:00:00Z","created_at":"2026-03-02T09:00:00Z","active":true}`
	for _, tc := range []struct{ call, result, body, args string }{
		{"POST /holds", hold, `{"until":"2026-03-03T09:00:00Z"}`, "hold add --until 2026-03-03T09:00:00Z"},
		{"POST /holds", hold, `{"reason":"away","until":"2026-03-03T09:00:00Z"}`, "hold add --until 2026-03-03T09:00:00Z --reason away"},
		{"POST /alerts/alarm-1/mark", `{"id":"alarm-1","mark":"wrong"}`, `{"mark":"wrong"}`, "alerts mark alarm-1 wrong"},
		{"POST /conversation/participants/conv_1/attention", `{"attention":""}`, `{"clear":true}`, "participant attend conv_1"},
		{"PUT /conversation/participants/conv_1", ann, `{"name":"Ann","locale":"Ann","status":"paused","debug":true}`,
			"participant update conv_1 --name Ann --locale Ann --status paused --debug"},
		{"PUT /conversation/participants/conv_1", ann, `{"status":"active","waiting_messages":"read"}`, "participant resume conv_1 --waiting read"},
		{"POST /conversation/participants", ann, `{"phone_number":"+15558675310","name":"Ann","timezone":"Ann","locale":"de","tester":true,"channel":"sms","signup":true}`,
			"participant add --phone +15558675310 --name Ann --timezone Ann --locale de --tester --channel sms --signup"},
	} {
		t.Run(tc.args, func(t *testing.T) {
			server := newFakeAPI(t, map[string]string{tc.call: tc.result})
			server.run(t, tc.args)
			require.Equal(t, []string{tc.body}, server.bodies)
		})
	}
}
