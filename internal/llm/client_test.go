package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/models"
)

const key = "sk-private-key"

func client(t *testing.T, handler http.HandlerFunc, change func(*Config)) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	start := time.Date(2026, 11, 24, 13, 0, 0, 0, time.UTC)
	cfg := Config{
		BaseURL: server.URL + "/v1", Keys: []string{key}, EmbeddingModel: "e1", HTTPClient: server.Client(),
		Now: func() time.Time { return start }, Logger: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&cfg)
	}
	c, err := New(cfg)
	require.NoError(t, err)
	return c
}

func answers(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func hello() models.ChatRequest {
	return models.ChatRequest{Model: "m1", Messages: []models.ChatMessage{{Role: "user", Content: "a private text"}}}
}

func modelError(t *testing.T, err error) *models.ModelError {
	t.Helper()
	var out *models.ModelError
	require.ErrorAs(t, err, &out)
	require.NotContains(t, err.Error(), key)
	require.NotContains(t, err.Error(), "private")
	require.NotEmpty(t, out.Message)
	return out
}

func TestRequestOnTheWire(t *testing.T) {
	var got map[string]any
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/v1/chat/completions", r.URL.Path)
		assert.Equal(t, "Bearer "+key, r.Header.Get("Authorization"))
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&got))
		answers(200, `{"choices":[{"message":{"content":"ok"}}]}`)(w, r)
	}, nil)
	_, err := c.Complete(t.Context(), models.ChatRequest{
		Model: "m1", MaxTokens: 300,
		Messages: []models.ChatMessage{
			{Role: "system", Content: "# Persona"},
			{Role: "user", Content: "hi"},
			{Role: "assistant", ToolCalls: []models.ToolCall{{ID: "a", Name: "scheduler", Arguments: `{"x":1}`}, {ID: "b", Name: "save", Arguments: "not json"}}},
			{Role: "tool", ToolCallID: "a", Content: `{"ok":true}`},
			{Role: "tool", ToolCallID: "b", Content: `{"ok":false}`},
			{Role: "assistant", Content: "done", ToolCalls: []models.ToolCall{{ID: "c", Name: "save", Arguments: "{}"}}},
			{Role: "assistant"},
		},
		Tools: []models.ToolSpec{
			{Name: "scheduler", Description: "plans", Schema: json.RawMessage(`{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}`)},
			{Name: "bare"},
		},
	})
	require.NoError(t, err)
	want := `{
		"model":"m1","max_completion_tokens":300,
		"messages":[
			{"role":"system","content":"# Persona"},
			{"role":"user","content":"hi"},
			{"role":"assistant","tool_calls":[
				{"id":"a","type":"function","function":{"name":"scheduler","arguments":"{\"x\":1}"}},
				{"id":"b","type":"function","function":{"name":"save","arguments":"not json"}}]},
			{"role":"tool","tool_call_id":"a","content":"{\"ok\":true}"},
			{"role":"tool","tool_call_id":"b","content":"{\"ok\":false}"},
			{"role":"assistant","content":"done","tool_calls":[{"id":"c","type":"function","function":{"name":"save","arguments":"{}"}}]},
			{"role":"assistant","content":""}],
		"tools":[
			{"type":"function","function":{"name":"scheduler","description":"plans","parameters":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}}},
			{"type":"function","function":{"name":"bare"}}]}`
	encoded, err := json.Marshal(got)
	require.NoError(t, err)
	require.JSONEq(t, want, string(encoded))
}

func TestRequestsThatCannotBeSent(t *testing.T) {
	c := client(t, func(http.ResponseWriter, *http.Request) { t.Error("nothing may be sent") }, nil)
	for _, test := range []struct {
		name string
		in   models.ChatRequest
		want string
	}{
		{"role", models.ChatRequest{Messages: []models.ChatMessage{{Role: "user"}, {Role: "narrator", Content: "private"}}}, `message 1: no such role "narrator"`},
		{"schema", models.ChatRequest{Tools: []models.ToolSpec{{Name: "x", Schema: json.RawMessage(`[1]`)}}}, "tool x: reading its schema"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := c.Complete(t.Context(), test.in)
			require.Equal(t, models.ModelRefused, modelError(t, err).Class)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestAnswers(t *testing.T) {
	for _, test := range []struct {
		name, body string
		want       models.ChatResponse
	}{
		{
			"text with usage",
			`{"model":"m1-2026","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hi 👍","refusal":null}}],
			 "usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13,"prompt_tokens_details":{"cached_tokens":4}}}`,
			models.ChatResponse{Text: "Hi 👍", FinishReason: "stop", Model: "m1-2026", Usage: models.Usage{Prompt: 10, Cached: 4, Completion: 3}},
		},
		{
			"parallel calls in order, content null",
			`{"choices":[{"finish_reason":"tool_calls","message":{"content":null,"tool_calls":[
				{"id":"call_b","type":"function","function":{"name":"save","arguments":"{\"a\": 1}"}},
				{"id":"call_a","type":"function","function":{"name":"scheduler","arguments":"{broken"}}]}}]}`,
			models.ChatResponse{FinishReason: "tool_calls", Calls: []models.ToolCall{
				{ID: "call_b", Name: "save", Arguments: `{"a": 1}`}, {ID: "call_a", Name: "scheduler", Arguments: "{broken"}}},
		},
		{
			"arguments as an object, missing and repeated ids",
			`{"choices":[{"message":{"content":"","tool_calls":[
				{"function":{"name":"save","arguments":{"a": {"b": [1, 2]}}}},
				{"id":"x","function":{"name":"save","arguments":null}},
				{"id":"x","function":{"name":"save","arguments":""}},
				{"id":"","function":{"name":"save"}}]}}]}`,
			models.ChatResponse{Calls: []models.ToolCall{
				{ID: "call_0", Name: "save", Arguments: `{"a":{"b":[1,2]}}`}, {ID: "x", Name: "save", Arguments: "{}"},
				{ID: "call_2", Name: "save", Arguments: "{}"}, {ID: "call_3", Name: "save", Arguments: "{}"}}},
		},
		{
			"several choices: the first",
			`{"choices":[{"message":{"content":"one"}},{"message":{"content":"two"}}],"usage":null}`,
			models.ChatResponse{Text: "one"},
		},
		{
			"content as parts",
			`{"choices":[{"finish_reason":"length","message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}`,
			models.ChatResponse{Text: "ab", FinishReason: "length"},
		},
		{"no content at all", `{"choices":[{"message":{}}]}`, models.ChatResponse{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := client(t, answers(200, test.body), nil).Complete(t.Context(), hello())
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
}

func TestAnotherContentTypeIsStillRead(t *testing.T) {
	got, err := client(t, answers(200, `{"choices":[{"message":{"content":"ok"}}]}`, "Content-Type", "text/plain"), nil).Complete(t.Context(), hello())
	require.NoError(t, err)
	require.Equal(t, "ok", got.Text)
}

func TestErrors(t *testing.T) {
	object := func(code, kind string) string {
		return fmt.Sprintf(`{"error":{"code":%q,"type":%q,"message":"quotes a private text and %s"}}`, code, kind, key)
	}
	for _, test := range []struct {
		name    string
		status  int
		body    string
		headers []string
		class   models.ModelErrorClass
		after   time.Duration
	}{
		{"408", 408, "", nil, models.ModelBusy, 0},
		{"409", 409, object("conflict", ""), nil, models.ModelBusy, 0},
		{"429", 429, object("rate_limit_exceeded", "requests"), []string{"Retry-After", "3"}, models.ModelBusy, 3 * time.Second},
		{"429 in milliseconds, which win", 429, object("", ""), []string{"Retry-After", "3", "Retry-After-Ms", "250"}, models.ModelBusy, 250 * time.Millisecond},
		{"429 with fractions", 429, "", []string{"Retry-After", "1.5"}, models.ModelBusy, 1500 * time.Millisecond},
		{"429 with nonsense", 429, "", []string{"Retry-After", "soon"}, models.ModelBusy, 2 * time.Second},
		{"429 for ever", 429, "", []string{"Retry-After", "1e300"}, models.ModelBusy, maxRetryAfter},
		{"429 without quota", 429, object("insufficient_quota", "insufficient_quota"), nil, models.ModelBusy, 5 * time.Hour},
		{"429 without quota, by type", 429, object("", "insufficient_quota"), []string{"Retry-After", "3"}, models.ModelBusy, 5 * time.Hour},
		{"500", 500, object("", "server_error"), nil, models.ModelBusy, 0},
		{"502 page", 502, "<html>", nil, models.ModelBusy, 0},
		{"503", 503, "", []string{"Retry-After", "10"}, models.ModelBusy, 10 * time.Second},
		{"500 not to retry", 500, object("", ""), []string{"X-Should-Retry", "false", "Retry-After", "10"}, models.ModelRefused, 0},
		{"400 to retry", 400, object("", ""), []string{"X-Should-Retry", "true", "Retry-After", "2"}, models.ModelBusy, 2 * time.Second},
		{"401 not to retry stays auth", 401, object("invalid_api_key", ""), []string{"X-Should-Retry", "false"}, models.ModelAuth, 0},
		{"401", 401, object("invalid_api_key", "invalid_request_error"), nil, models.ModelAuth, 0},
		{"402", 402, "", nil, models.ModelBusy, 5 * time.Hour},
		{"403", 403, "<html>", nil, models.ModelAuth, 0},
		{"400", 400, object("", "invalid_request_error"), nil, models.ModelRefused, 0},
		{"404", 404, object("model_not_found", ""), nil, models.ModelRefused, 0},
		{"422", 422, `{"detail":[]}`, nil, models.ModelRefused, 0},
		{"too long", 400, object("context_length_exceeded", "invalid_request_error"), nil, models.ModelOverflow, 0},
		{"too long, by type", 400, object("", "exceed_context_size_error"), nil, models.ModelOverflow, 0},
		{"too long, numeric code", 400, `{"error":{"code":400,"type":"BadRequestError","message":"This model's maximum context length is 4096 tokens"}}`, nil, models.ModelOverflow, 0},
		{"too long, error as text", 400, `{"error":"maximum context length exceeded"}`, nil, models.ModelOverflow, 0},
		{"content policy", 400, object("content_filter", ""), nil, models.ModelDeclined, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			calls := 0
			handler := answers(test.status, test.body, test.headers...)
			c := client(t, func(w http.ResponseWriter, r *http.Request) { calls++; handler(w, r) }, nil)
			_, err := c.Complete(t.Context(), hello())
			got := modelError(t, err)
			require.Equal(t, test.class, got.Class, got.Message)
			require.Equal(t, test.status, got.Status)
			require.Equal(t, test.after, got.RetryAfter)
			require.Equal(t, 1, calls, "retrying is the caller's")
		})
	}
}

func TestAnswersThatAreErrors(t *testing.T) {
	for _, test := range []struct {
		name, body string
		class      models.ModelErrorClass
		status     int
	}{
		{"no choice", `{"choices":[]}`, models.ModelBusy, 200},
		{"not JSON", `oops`, models.ModelBusy, 200},
		{"empty", ``, models.ModelBusy, 200},
		{"content of another shape", `{"choices":[{"message":{"content":{"a":1}}}]}`, models.ModelBusy, 200},
		{"content filter", `{"choices":[{"finish_reason":"content_filter","message":{"content":"half"}}]}`, models.ModelDeclined, 200},
		{"refusal", `{"choices":[{"finish_reason":"stop","message":{"content":null,"refusal":"I cannot help with a private text"}}]}`, models.ModelDeclined, 200},
		{"gateway error with a status as code", `{"error":{"code":502,"message":"private"}}`, models.ModelBusy, 502},
		{"gateway error that is final", `{"error":{"code":400,"message":"private"}}`, models.ModelRefused, 400},
		{"gateway error with a name", `{"error":{"code":"insufficient_quota"}}`, models.ModelBusy, 200},
		{"gateway error of unknown name", `{"error":{"type":"upstream_failed"}}`, models.ModelBusy, 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := client(t, answers(200, test.body), nil).Complete(t.Context(), hello())
			got := modelError(t, err)
			require.Equal(t, test.class, got.Class, got.Message)
			require.Equal(t, test.status, got.Status)
		})
	}
}

func TestNoAnswer(t *testing.T) {
	t.Run("timeout", func(t *testing.T) {
		release := make(chan struct{})
		c := client(t, func(http.ResponseWriter, *http.Request) { <-release }, func(c *Config) { c.Timeout = 50 * time.Millisecond })
		_, err := c.Complete(t.Context(), hello())
		close(release)
		got := modelError(t, err)
		require.Equal(t, models.ModelBusy, got.Class)
		require.Equal(t, "no answer in time", got.Message)
		require.True(t, got.TimedOut)
		require.Zero(t, got.Status)
	})
	t.Run("caller gives up", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := client(t, answers(200, `{}`), nil).Complete(ctx, hello())
		require.Equal(t, models.ModelBusy, modelError(t, err).Class)
	})
	t.Run("connection refused", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		require.NoError(t, listener.Close())
		c, err := New(Config{BaseURL: "http://" + listener.Addr().String() + "/v1", Keys: []string{key}})
		require.NoError(t, err)
		_, err = c.Complete(t.Context(), hello())
		require.Equal(t, models.ModelBusy, modelError(t, err).Class)
	})
	t.Run("answer cut short", func(t *testing.T) {
		_, err := client(t, answers(200, `{"choices":[`, "Content-Length", "1000"), nil).Complete(t.Context(), hello())
		require.Equal(t, models.ModelBusy, modelError(t, err).Class)
	})
	t.Run("error cut short", func(t *testing.T) {
		_, err := client(t, answers(401, `{"error":`, "Content-Length", "1000"), nil).Complete(t.Context(), hello())
		require.Equal(t, models.ModelAuth, modelError(t, err).Class)
	})
}

func TestKeysTakeTurns(t *testing.T) {
	var used []string
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		used = append(used, r.Header.Get("Authorization"))
		answers(200, `{"choices":[{"message":{"content":"ok"}}]}`)(w, r)
	}, func(c *Config) { c.Keys = []string{"a", "b"} })
	for range 3 {
		_, err := c.Complete(t.Context(), hello())
		require.NoError(t, err)
	}
	require.Equal(t, []string{"Bearer a", "Bearer b", "Bearer a"}, used)
}

func TestAServerOfOnesOwnNeedsNoKey(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "from-the-environment")
	t.Setenv("OPENAI_ORG_ID", "from-the-environment")
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Empty(t, r.Header.Get("Authorization"))
		assert.Empty(t, r.Header.Get("OpenAI-Organization"))
		answers(200, `{"choices":[{"message":{"content":"ok"}}]}`)(w, r)
	}, func(c *Config) { c.Keys = nil })
	got, err := c.Complete(t.Context(), hello())
	require.NoError(t, err)
	require.Equal(t, "ok", got.Text)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestOpenAIIsTheDefault(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "https://from-the-environment.invalid")
	var asked string
	c, err := New(Config{Keys: []string{key}, HTTPClient: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		asked = r.URL.String()
		return nil, io.ErrUnexpectedEOF
	})}})
	require.NoError(t, err)
	_, err = c.Complete(t.Context(), hello())
	require.Equal(t, models.ModelBusy, modelError(t, err).Class)
	require.Equal(t, "https://api.openai.com/v1/chat/completions", asked)
}

func TestNewRefuses(t *testing.T) {
	for _, test := range []struct {
		name string
		in   Config
		want string
	}{
		{"no key for OpenAI", Config{}, "needs a key"},
		{"empty key", Config{Keys: []string{""}}, "a key is empty"},
		{"key with a line break", Config{Keys: []string{"sk-private\n"}}, "characters"},
		{"base URL", Config{BaseURL: "localhost:1234", Keys: []string{key}}, "base URL"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := New(test.in)
			require.ErrorContains(t, err, test.want)
			require.NotContains(t, err.Error(), "private")
		})
	}
}

func TestRetryAfterAsADate(t *testing.T) {
	now := time.Date(2026, 11, 24, 13, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		at   time.Time
		want time.Duration
	}{{now.Add(90 * time.Second), 90 * time.Second}, {now.Add(-time.Hour), 0}, {now.AddDate(1, 0, 0), maxRetryAfter}} {
		require.Equal(t, test.want, retryAfter(http.Header{"Retry-After": {test.at.Format(http.TimeFormat)}}, now))
	}
	require.Zero(t, retryAfter(http.Header{"Retry-After": {"-5"}}, now))
}

// What people set up wrongly, and what goes away at noon, is told in words that say what
// to do.
func TestFailuresAreTold(t *testing.T) {
	stream := "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	for name, tt := range map[string]struct {
		status     int
		kind, body string
		// want is the decision of the stage; empty for an answer.
		want string
	}{
		"a page":                   {200, "text/html", "<!doctype html><title>Welcome</title>", "model failed busy: malformed answer: it is a web page and not a model's; is OPENAI_BASE_URL right?"},
		"a page of an error":       {404, "text/html", "<html>Not here</html>", "model failed refused: status 404 Not Found: it is a web page and not a model's; is OPENAI_BASE_URL right?"},
		"an error in an answer":    {200, "application/json", `{"error":{"message":"upstream is on fire","code":502}}`, "model failed busy: status 502 Bad Gateway"},
		"no choice":                {200, "application/json", `{"choices":[]}`, "model failed busy: malformed answer: no message"},
		"a stream not asked for":   {200, "text/event-stream", stream, ""},
		"a wrong key":              {401, "application/json", `{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}`, "model failed auth: status 401 Unauthorized, invalid_api_key; every key is barred"},
		"a model gone":             {404, "application/json", `{"error":{"message":"The model m1 does not exist","code":"model_not_found"}}`, "model failed refused: status 404 Not Found, model_not_found: the server does not have the model; see COACH_MODEL and COACH_SMALL_MODEL"},
		"a model gone from Ollama": {404, "application/json", `{"error":"model 'm1' not found, try pulling it first"}`, "model failed refused: status 404 Not Found: the server does not have the model; see COACH_MODEL and COACH_SMALL_MODEL"},
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := client(t, answers(tt.status, tt.body, "Content-Type", tt.kind), nil).Complete(t.Context(), hello())
			if tt.want == "" {
				require.NoError(t, err)
				require.Equal(t, "Hello", answer.Text)
				return
			}
			require.Equal(t, tt.want, models.DescribeFailure(modelError(t, err)))
		})
	}
}
