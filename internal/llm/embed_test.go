package llm

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/models"
)

func TestEmbedOnTheWire(t *testing.T) {
	var got map[string]any
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/v1/embeddings", r.URL.Path)
		assert.Equal(t, "Bearer "+key, r.Header.Get("Authorization"))
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&got))
		answers(200, `{"object":"list","model":"e1","usage":{"prompt_tokens":8,"total_tokens":8},"data":[
			{"object":"embedding","index":1,"embedding":[0.5,-1]},{"object":"embedding","index":0,"embedding":[1,2e-3]}]}`)(w, r)
	}, nil)
	vectors, err := c.Embed(t.Context(), []string{"a", "b"})
	require.NoError(t, err)
	require.Equal(t, [][]float32{{1, 2e-3}, {0.5, -1}}, vectors)
	require.Equal(t, map[string]any{"model": "e1", "input": []any{"a", "b"}}, got)
}

func TestEmbedWithoutARequest(t *testing.T) {
	never := func(http.ResponseWriter, *http.Request) { t.Error("nothing may be sent") }
	c := client(t, never, nil)
	vectors, err := c.Embed(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, vectors)
	for _, test := range []struct {
		name string
		on   *Client
		in   []string
		want string
	}{
		{"an empty text", c, []string{"a private text", ""}, "text 1 to embed is empty"},
		{"too many", c, slices.Repeat([]string{"a"}, maxTexts+1), "2049 texts to embed, 2048 at most"},
		{"no model", client(t, never, func(c *Config) { c.EmbeddingModel = "" }), []string{"a"}, "no embedding model"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := test.on.Embed(t.Context(), test.in)
			require.Equal(t, models.ModelRefused, modelError(t, err).Class)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestEmbedFails(t *testing.T) {
	for _, test := range []struct {
		name   string
		status int
		body   string
		class  models.ModelErrorClass
	}{
		{"too long", 400, `{"error":{"message":"This model's maximum context length is 8192 tokens, private"}}`, models.ModelOverflow},
		{"no such model", 404, `{"error":{"code":"model_not_found"}}`, models.ModelRefused},
		{"key", 401, `{"error":{"message":"` + key + `"}}`, models.ModelAuth},
		{"limit", 429, ``, models.ModelBusy},
		{"not JSON", 200, `oops`, models.ModelBusy},
		{"nothing", 200, `{"data":[]}`, models.ModelBusy},
		{"a gateway's error", 200, `{"error":{"code":400,"message":"private"}}`, models.ModelRefused},
		{"too few", 200, `{"data":[{"embedding":[1]}]}`, models.ModelBusy},
		{"one twice", 200, `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, models.ModelBusy},
		{"out of range", 200, `{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`, models.ModelBusy},
		{"no numbers", 200, `{"data":[{"embedding":[]},{"embedding":[]}]}`, models.ModelBusy},
		{"of two lengths", 200, `{"data":[{"embedding":[1]},{"embedding":[1,2]}]}`, models.ModelBusy},
		{"beyond a float", 200, `{"data":[{"embedding":[1e99]},{"embedding":[1]}]}`, models.ModelBusy},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := client(t, answers(test.status, test.body), nil).Embed(t.Context(), []string{"a", "b"})
			require.Equal(t, test.class, modelError(t, err).Class)
		})
	}
	t.Run("in time", func(t *testing.T) {
		release := make(chan struct{})
		c := client(t, func(http.ResponseWriter, *http.Request) { <-release }, func(c *Config) { c.EmbedTimeout = 50 * time.Millisecond })
		_, err := c.Embed(t.Context(), []string{"a"})
		close(release)
		require.Equal(t, "no answer in time", modelError(t, err).Message)
	})
	t.Run("the next key", func(t *testing.T) {
		c := client(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == "Bearer A" {
				limited()(w, r)
				return
			}
			answers(200, `{"data":[{"embedding":[1]}]}`)(w, r)
		}, func(c *Config) { c.Keys = []string{"A", "B"} })
		vectors, err := c.Embed(t.Context(), []string{"a"})
		require.NoError(t, err)
		require.Equal(t, [][]float32{{1}}, vectors)
	})
}

// TestEmbedElsewhere: another server has the embeddings, under its own key; one without
// any is left alone for a while.
func TestEmbedElsewhere(t *testing.T) {
	now, asked := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC), 0
	vectors := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		assert.Equal(t, "Bearer other", r.Header.Get("Authorization"))
		if asked == 1 {
			http.NotFound(w, r)
			return
		}
		answers(200, `{"data":[{"index":0,"embedding":[1]}]}`)(w, r)
	}))
	t.Cleanup(vectors.Close)
	c := client(t, func(http.ResponseWriter, *http.Request) { t.Error("the chat server is not asked") }, func(cfg *Config) {
		cfg.EmbeddingURL, cfg.EmbeddingKey, cfg.Now = vectors.URL+"/v1", "other", func() time.Time { return now }
	})
	for range 3 {
		_, err := c.Embed(t.Context(), []string{"a"})
		require.Equal(t, models.ModelRefused, modelError(t, err).Class)
	}
	require.Equal(t, 1, asked)
	now = now.Add(describeAgain)
	got, err := c.Embed(t.Context(), []string{"a"})
	require.NoError(t, err)
	require.Equal(t, [][]float32{{1}}, got)
}
