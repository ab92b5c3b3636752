package llm

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/models"
)

// describing is a server with some pages; all others are not found.
func describing(t *testing.T, pages map[string]string) *Client {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.Method+" "+r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		answers(200, page)(w, r)
	}))
	t.Cleanup(server.Close)
	c, err := New(Config{BaseURL: server.URL + "/v1", Keys: []string{"key"}})
	require.NoError(t, err)
	return c
}

func TestDescribe(t *testing.T) {
	const list = "GET /v1/models"
	for _, test := range []struct {
		name  string
		pages map[string]string
		want  models.ModelFacts
	}{
		{"vLLM", map[string]string{list: `{"data":[{"id":"other","max_model_len":1},{"id":"m","owned_by":"vllm","max_model_len":8192}]}`}, models.ModelFacts{ContextTokens: 8192}},
		{"OpenRouter", map[string]string{list: `{"data":[{"id":"m","context_length":131072},{"id":"n"}]}`}, models.ModelFacts{ContextTokens: 131072}},
		{"llama.cpp", map[string]string{
			list:         `{"data":[{"id":"/models/x.gguf","owned_by":"llamacpp","meta":{"n_ctx_train":131072,"n_params":1235814432}}]}`,
			"GET /props": `{"default_generation_settings":{"n_ctx":4096}}`,
		}, models.ModelFacts{ContextTokens: 4096, Billions: 1.235814432}},
		{"llama.cpp without properties", map[string]string{list: `{"data":[{"id":"m","owned_by":"llamacpp","meta":{"n_ctx_train":8192}}]}`}, models.ModelFacts{ContextTokens: 8192}},
		{"Ollama", map[string]string{
			list: `{"data":[{"id":"m","owned_by":"library"}]}`, "GET /api/ps": `{"models":[]}`,
			"POST /api/show": `{"parameters":"stop \"x\"\nnum_ctx    16384","details":{"parameter_size":"7.6B"},"model_info":{"qwen2.context_length":32768}}`,
		}, models.ModelFacts{ContextTokens: 16384, Billions: 7.6}},
		{"Ollama, a model in use", map[string]string{
			list: `{"data":[{"id":"m"}]}`, "GET /api/ps": `{"models":[{"name":"m","context_length":8192}]}`, "POST /api/show": `{"details":{"parameter_size":"268M"}}`,
		}, models.ModelFacts{ContextTokens: 8192, Billions: .268}},
		{"Ollama, nothing set", map[string]string{list: `{"data":[{"id":"m"}]}`, "POST /api/show": `{"details":{}}`}, models.ModelFacts{ContextTokens: 4096}},
		{"LM Studio", map[string]string{
			list: `{"data":[{"id":"m"},{"id":"n"}]}`, "GET /api/v0/models": `{"data":[{"id":"m","max_context_length":131072,"loaded_context_length":4096}]}`,
		}, models.ModelFacts{ContextTokens: 4096}},
		{"nothing said", map[string]string{list: `{"object":"list","data":[{"id":"m"}]}`}, models.ModelFacts{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := describing(t, test.pages)
			for range 2 {
				got, err := c.Describe(t.Context(), "m")
				require.NoError(t, err)
				require.InDelta(t, test.want.Billions, got.Billions, 1e-9)
				require.Equal(t, test.want.ContextTokens, got.ContextTokens)
				clear(test.pages) // It is asked once.
			}
		})
	}
	_, err := describing(t, nil).Describe(t.Context(), "m")
	require.Error(t, err)
}

func TestOverflowSaysHowLong(t *testing.T) {
	for name, want := range map[string][2]int{
		"openai-overflow": {8192, 9000}, "anthropic-overflow": {200000, 210000}, "gemini-overflow": {1048576, 1200000}, "lmstudio-overflow": {4096, 5000},
		"xai-overflow": {131072, 537812}, "tgi-overflow": {4096, 5000}, "together-overflow": {8192, 9000}, "llamacpp-overflow": {}, "ollama-overflow": {},
		"openai-larger-than-the-minute": {}, "llamacpp-overflow-fields": {4096, 4620}, "vllm-overflow": {2048, 2610},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client(t, answers(400, recording(t, "failures", name)), nil).Complete(t.Context(), hello())
			got := modelError(t, err)
			require.Equal(t, models.ModelOverflow, got.Class)
			require.Equal(t, want, [2]int{got.ContextTokens, got.PromptTokens})
		})
	}
}

// TestDescribeHoldsNobody: while old facts are asked for again, others go on with them.
func TestDescribeHoldsNobody(t *testing.T) {
	var c *Client
	now, asked := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC), 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked > 1 {
			got, err := c.Describe(r.Context(), "m")
			assert.NoError(t, err)
			assert.Equal(t, 4096, got.ContextTokens)
		}
		answers(200, `{"data":[{"id":"m","max_model_len":4096}]}`)(w, r)
	}))
	t.Cleanup(server.Close)
	c, err := New(Config{BaseURL: server.URL + "/v1", Keys: []string{"key"}, Now: func() time.Time { return now }})
	require.NoError(t, err)
	for range 2 {
		_, err = c.Describe(t.Context(), "m")
		require.NoError(t, err)
		now = now.Add(describeAgain)
	}
	require.Equal(t, 2, asked)
}

// A model that its server does not list is found before a person writes.
func TestCheckName(t *testing.T) {
	for name, tt := range map[string]struct {
		list, model string
		fails       bool
	}{
		"listed":            {`{"data":[{"id":"a"},{"id":"b"}]}`, "b", false},
		"not listed":        {`{"data":[{"id":"a"},{"id":"b"}]}`, "c", true},
		"the newest tag":    {`{"data":[{"id":"a:latest"},{"id":"b"}]}`, "a", false},
		"behind a folder":   {`{"data":[{"id":"models/a"},{"id":"models/b"}]}`, "a", false},
		"one under a path":  {`{"data":[{"id":"/models/x.gguf"}]}`, "c", false},
		"no list":           {`{"error":"no such page"}`, "c", false},
		"a page of another": {`<html>`, "c", false},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, "/v1/models", r.URL.Path)
				_, err := w.Write([]byte(tt.list))
				assert.NoError(t, err)
			}))
			t.Cleanup(server.Close)
			client, err := New(Config{BaseURL: server.URL + "/v1"})
			require.NoError(t, err)
			err = client.CheckName(t.Context(), tt.model)
			require.Equal(t, tt.fails, err != nil, err)
			if tt.fails {
				require.ErrorContains(t, err, `none is called "c"; set COACH_MODEL`)
			}
		})
	}
}
