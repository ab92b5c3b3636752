package llm

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

// TestSecondServer: it answers, by its own models, while the first gives no answer.
func TestSecondServer(t *testing.T) {
	var asked []string
	var statuses map[string]int
	serve := func(name string) *httptest.Server {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var body struct {
				Model string `json:"model"`
			}
			_ = json.NewDecoder(r.Body).Decode(&body)
			asked = append(asked, name+" "+body.Model+" "+r.Header.Get("Authorization"))
			if status := statuses[name]; status != 0 {
				answers(status, `{"error":{"message":"no"}}`)(w, r)
				return
			}
			answers(http.StatusOK, `{"model":"`+body.Model+`","choices":[{"message":{"content":"by `+name+`"}}]}`)(w, r)
		}))
		t.Cleanup(server.Close)
		return server
	}
	first, second := serve("first"), serve("second")
	now := time.Date(2026, 11, 24, 13, 0, 0, 0, time.UTC)
	open := func() *Client {
		return client(t, nil, func(c *Config) {
			c.BaseURL, c.Keys, c.Now = first.URL, []string{"a"}, func() time.Time { return now }
			c.Second = &Second{BaseURL: second.URL, Key: "b", Model: "big-2", Small: "small-2", SmallName: "small"}
		})
	}
	c := open()
	ask := func(model string, fails map[string]int) (string, error) {
		asked, statuses = nil, fails
		out, err := c.Complete(t.Context(), models.ChatRequest{Model: model, Messages: hello().Messages})
		require.Equal(t, out.Text == "by second", out.Second && err == nil)
		return out.Text, err
	}
	const f, s = "first m1 Bearer a", "second big-2 Bearer b"
	for _, tt := range []struct {
		name  string
		after time.Duration
		model string
		fails map[string]int
		want  string
		asked []string
	}{
		{"the first answers", 0, "m1", nil, "by first", []string{f}},
		{"it is down", 0, "m1", map[string]int{"first": 503}, "by second", []string{f, s}},
		{"it rests", 59 * time.Second, "m1", nil, "by second", []string{s}},
		{"the small model has one of its own", 0, "small", nil, "by second", []string{"second small-2 Bearer b"}},
		{"the second fails while the first rests", 0, "m1", map[string]int{"second": 502}, "by first", []string{s, f}},
		{"after the rest the first is asked", 2 * time.Second, "m1", nil, "by first", []string{f}},
		{"what it refuses is no outage", 0, "m1", map[string]int{"first": 422}, "", []string{f}},
		{"both are down", 0, "m1", map[string]int{"first": 503, "second": 503}, "", []string{f, s}},
		{"over its limit", 6 * time.Minute, "m1", map[string]int{"first": 429}, "by second", []string{f, s}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now = now.Add(tt.after)
			got, err := ask(tt.model, tt.fails)
			require.Equal(t, tt.want == "", err != nil)
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.asked, asked)
		})
	}
	c = open()
	got, err := ask("m1", map[string]int{"first": 401})
	require.NoError(t, err)
	require.Equal(t, "by second", got, "every key is refused")
	first.Close()
	c = open()
	got, err = ask("m1", nil)
	require.NoError(t, err)
	require.Equal(t, "by second", got, "nothing listens")
}
