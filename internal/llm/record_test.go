package llm

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/calls"
	"coachline/models"
)

// TestCallsAreRecorded: what a server may charge for is in the log of the context,
// and nothing else.
func TestCallsAreRecorded(t *testing.T) {
	const counts = `,"model":"m1-2026","usage":{"prompt_tokens":10,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4}}}`
	counted := models.Usage{Prompt: 10, Cached: 4, Completion: 3}
	answered := calls.Call{Stage: models.StageModel, Asked: "m1", Model: "m1-2026", Usage: counted}
	lost := calls.Call{Stage: models.StageModel, Asked: "m1", Lost: true}
	hang := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // The server notices who leaves once it has read all.
		<-r.Context().Done()
	}
	breakOff := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"model":"m1-2026"`))
	}
	for _, tt := range []struct {
		name  string
		serve http.HandlerFunc
		want  []calls.Call
	}{
		{"answered", answers(200, `{"choices":[{"message":{"content":"ok"}}]`+counts), []calls.Call{answered}},
		{"answered and unusable", answers(200, `{"choices":[{"message":{"content":7}}]`+counts), []calls.Call{answered}},
		{"declined", answers(200, `{"choices":[{"finish_reason":"content_filter","message":{"content":""}}]`+counts), []calls.Call{answered}},
		{"a page", answers(200, "<html>"), []calls.Call{lost}},
		{"no answer in time", hang, []calls.Call{lost}},
		{"broken off", breakOff, []calls.Call{lost}},
		{"refused", answers(400, `{"error":{"message":"no"}}`), nil},
		{"over the limit", answers(429, `{}`), nil},
		{"lost behind a gateway", answers(502, "<html>"), []calls.Call{lost}},
		{"down", answers(503, `oops`), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := client(t, tt.serve, func(cfg *Config) { cfg.Timeout = 100 * time.Millisecond })
			ctx, log := calls.With(t.Context())
			_, err := c.Complete(ctx, hello())
			require.Equal(t, tt.name == "answered", err == nil, err)
			require.Equal(t, tt.want, log.Open())
		})
	}
	t.Run("no server", func(t *testing.T) {
		c := client(t, answers(200, ""), func(cfg *Config) { cfg.BaseURL = "http://127.0.0.1:1/v1" })
		ctx, log := calls.With(t.Context())
		_, err := c.Complete(ctx, hello())
		require.Error(t, err)
		require.Empty(t, log.Open())
	})
	t.Run("vectors", func(t *testing.T) {
		c := client(t, answers(200, `{"model":"e1-2","usage":{"prompt_tokens":8,"total_tokens":8},"data":[{"embedding":[1]}]}`), nil)
		ctx, log := calls.With(t.Context())
		_, err := c.Embed(ctx, []string{"walk"})
		require.NoError(t, err)
		require.Equal(t, []calls.Call{{Stage: models.StageEmbed, Asked: "e1", Model: "e1-2", Usage: models.Usage{Prompt: 8}}}, log.Open())
	})
	for body, want := range map[string]models.Usage{
		`{"text":"hi","usage":{"type":"duration","seconds":3.5}}`:                     {Audio: 3500},
		`{"text":"hi","usage":{"type":"tokens","input_tokens":14,"output_tokens":2}}`: {Prompt: 14, Completion: 2},
		`{"text":"hi"}`: {},
	} {
		c := client(t, answers(200, body), func(cfg *Config) { cfg.SpeechModel = "ear" })
		ctx, log := calls.With(t.Context())
		_, err := c.Transcribe(ctx, models.Recording{Type: "audio/wav", Data: []byte("sound")})
		require.NoError(t, err)
		require.Equal(t, []calls.Call{{Stage: models.StageTranscribe, Asked: "ear", Usage: want}}, log.Open())
	}
}
