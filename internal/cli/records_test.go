package cli

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

const turnJSON = `{"turn":{"id":"conv_0a1b-t42","number":42,"kind":"reply","mode":"FEEDBACK","outcome":"step",
		"started_at":"2026-11-24T13:00:00Z","finished_at":"2026-11-24T13:00:06Z","prompt_version":"9f2c","rounds":2,
		"tools":["save_user_profile"],"tokens":{"prompt":2100,"cached":1500,"completion":90}},
	"in":[{"kind":"message","text":"It went well!\nI walked \u001b[31mtwice","at":"2026-11-24T13:00:00Z"}],
	"out":[{"kind":"reply","text":"Two walks. Well done!","at":"2026-11-24T13:00:06Z"}],
	"rounds":[
		{"number":1,"model":"gpt-x","finish_reason":"tool_calls","tokens":{"prompt":1000,"cached":700,"completion":40},
			"given":{"tools":["save_user_profile","scheduler"],"chosen_by":"keyword","plan":["save the success","thank"],"memory":"- goal: two walks (f1)","older":{"count":453,"text":"They walked a lot."}},
			"stages":[{"name":"gate","decision":"gate skip 0.75","tokens":{"prompt":0,"cached":0,"completion":0},"ms":0,"at":"2026-11-24T13:00:01Z"},
				{"name":"model","decision":"model native","model":"gpt-x","tokens":{"prompt":1000,"cached":700,"completion":40},"ms":812,"at":"2026-11-24T13:00:02Z"}],
			"text":"","calls":[{"name":"save_user_profile","arguments":"{\"success\":true}","state":"done","result":"saved"},
				{"name":"scheduler","arguments":"{}","state":"refused","result":"not asked for"}],"at":"2026-11-24T13:00:02Z"},
		{"number":2,"model":"gpt-x","finish_reason":"stop","tokens":{"prompt":1000,"cached":800,"completion":40},"given":null,
			"stages":[],"text":"Two walks. Well done!","calls":[],"at":"2026-11-24T13:00:05Z"}],
	"stages":[{"name":"memory","decision":"memory asked","model":"gpt-small","tokens":{"prompt":100,"cached":0,"completion":10},"ms":301,"at":"2026-11-24T13:00:08Z"}],
	"sent":[{"id":"conv_0a1b-t42-p1","part":1,"kind":"reply","text":"Two walks. Well done!","status":"undelivered","error_code":"30003",
		"error_meaning":"the handset cannot be reached","attempts":1,"at":"2026-11-24T13:00:06Z","accepted_at":"2026-11-24T13:00:06Z","updated_at":"2026-11-24T13:00:09Z"}]}`

const turnsJSON = `{"turns":[{"id":"conv_0a1b-t42","number":42,"kind":"reply","mode":"FEEDBACK","outcome":"step","started_at":"2026-11-24T13:00:00Z",
		"finished_at":"2026-11-24T13:00:06Z","prompt_version":"9f2c","rounds":2,"tools":["save_user_profile","scheduler"],"tokens":{"prompt":2100,"cached":1500,"completion":90}},
	{"id":"conv_0a1b-t41","number":41,"kind":"prompt","mode":"FEEDBACK","outcome":"","started_at":"2026-11-24T12:00:00Z",
		"finished_at":null,"prompt_version":"","rounds":0,"tools":[],"tokens":{"prompt":0,"cached":0,"completion":0}}],"next_before":null}`

const consentsJSON = `[{"action":"opt_out","method":"keyword","at":"2026-11-24T13:00:00Z","actor":"participant","text":"STOP","confirmed_by":"conv_0a1b-t3","channel":"chat","caller":"token:kiosk"},
	{"action":"opt_in","method":"phrase","at":"2026-11-25T13:00:00Z","actor":"participant","text":"please\nstart again"},
	{"action":"opt_out","method":"carrier_error","at":"2026-11-26T13:00:00Z","actor":"carrier","text":""}]`

const memoriesJSON = `{"facts":[{"id":"f2","kind":"goal","text":"Two walks a day","source_entry":12,"turn_id":"conv_0a1b-t9","version":2,"updated_at":"2026-11-24T13:00:00Z",
		"before":[{"version":1,"kind":"goal","text":"One walk a day","source_entry":4,"turn_id":"conv_0a1b-t2","at":"2026-11-20T13:00:00Z"}]},
	{"id":"f1","kind":"identity","text":"Has a dog","source_entry":2,"turn_id":"conv_0a1b-t1","version":1,"updated_at":"2026-11-19T13:00:00Z","before":[]}],
	"notes":[{"local_date":"2026-11-23","text":"Walked twice.\nSlept well.","updated_at":"2026-11-24T01:00:00Z"}],
	"summary":{"text":"They settled on a walk after coffee.","updated_at":"2026-11-24T01:00:00Z"}}`

func TestRecordVerbs(t *testing.T) {
	const path = "/conversation/participants/conv_0a1b"
	for _, tc := range []struct{ name, args, call, result string }{
		{"turn", "turn conv_0a1b 42", "GET " + path + "/turns/42", turnJSON},
		{"turn-running", "turn conv_0a1b-t42", "GET " + path + "/turns/42", `{"turn":{"id":"conv_0a1b-t42","kind":"reply","started_at":"2026-11-24T13:00:00Z"}}`},
		{"turns", "participant turns conv_0a1b", "GET " + path + "/turns", turnsJSON},
		{"turns-empty", "participant turns conv_0a1b", "GET " + path + "/turns", `{"turns":[],"next_before":null}`},
		{"consents", "participant consents conv_0a1b", "GET " + path + "/consents", consentsJSON},
		{"consents-empty", "participant consents conv_0a1b", "GET " + path + "/consents", `[]`},
		{"memories", "participant memories conv_0a1b", "GET " + path + "/memories", memoriesJSON},
		{"memories-empty", "participant memories conv_0a1b", "GET " + path + "/memories", `{"facts":[],"notes":[],"summary":{"text":"","updated_at":null}}`},
		{"forget", "participant memories conv_0a1b --forget f3", "DELETE " + path + "/memories/f3", `{"facts":1}`},
		{"forget-all", "participant memories conv_0a1b --forget-all", "DELETE " + path + "/memories", `{"facts":4}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := newFakeAPI(t, map[string]string{tc.call: tc.result})
			text := server.run(t, tc.args)
			golden(t, tc.name, text)
			require.NotContains(t, text, "\x1b")
			require.JSONEq(t, tc.result, server.run(t, tc.args+" --json"))

			delete(server.results, tc.call)
			code, _, complaint := server.call(t, tc.args)
			require.Equal(t, exitFailed, code)
			require.Contains(t, complaint, "HTTP 404")
		})
	}
}

func TestTurnPages(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RawQuery)
		result := `{"turns":[{"number":9},{"number":8}],"next_before":8}`
		if r.URL.Query().Get("before") == "8" {
			result = `{"turns":[{"number":7}],"next_before":7}`
		}
		_, _ = w.Write([]byte(`{"status":"ok","result":` + result + `}`))
	}))
	t.Cleanup(server.Close)
	_, out, _ := call(t, []string{"COACH_URL=" + server.URL}, "participant", "turns", "conv_1", "--limit", "3", "--json")
	require.JSONEq(t, `{"turns":[{"number":9},{"number":8},{"number":7}],"next_before":7}`, out)
	require.Equal(t, []string{"limit=3", "before=8&limit=1"}, asked)
}
