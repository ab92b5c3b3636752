package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWebhookVerbs(t *testing.T) {
	var line, body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		line, body = r.Method+" "+r.URL.RequestURI(), string(raw)
		_, _ = w.Write([]byte(`{"status":"ok","result":{"id":"whk_1","url":"https://hooks.example.org","events":[],"state":"active"}}`))
	}))
	t.Cleanup(server.Close)
	environ := []string{"COACH_HTTP_ADDR=" + strings.TrimPrefix(server.URL, "http://")}
	for _, tc := range []struct{ args, line, body string }{
		{"webhook add https://hooks.example.org --event message.received", "POST /webhooks", `{"url":"https://hooks.example.org","events":["message.received"]}`},
		{"webhook change whk_1 --event message.received --state disabled", "PUT /webhooks/whk_1", `{"events":["message.received"],"state":"disabled"}`},
		{"webhook change whk_1 --event all", "PUT /webhooks/whk_1", `{"events":[]}`},
		{"webhook change whk_1 --study walk", "PUT /webhooks/whk_1", `{"study_id":"walk"}`},
	} {
		code, _, complaint := call(t, environ, strings.Fields(tc.args)...)
		require.Equal(t, exitDone, code, complaint)
		require.Equal(t, []string{tc.line, tc.body}, []string{line, body}, tc.args)
	}
	code, _, complaint := call(t, environ, "webhook", "change", "whk_1")
	require.Equal(t, exitUsage, code)
	require.Contains(t, complaint, "say what is to change")
}
