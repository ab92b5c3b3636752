package llm

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/models"
)

// picky is a server that refuses some requests, and what it was sent.
func picky(t *testing.T, refuses func(sent map[string]any) string) (*Client, *[]map[string]any) {
	var log []map[string]any
	return client(t, func(w http.ResponseWriter, r *http.Request) {
		var sent map[string]any
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&sent))
		delete(sent, "messages")
		log = append(log, sent)
		if why := refuses(sent); why != "" {
			answers(400, why)(w, r)
			return
		}
		answers(200, ok)(w, r)
	}, nil), &log
}

func wishing(model string) models.ChatRequest {
	req := hello()
	req.Model, req.JSON, req.Temperature, req.Effort = model, true, 0.5, "low"
	return req
}

func TestWishesOnTheWire(t *testing.T) {
	c, log := picky(t, func(map[string]any) string { return "" })
	_, err := c.Complete(t.Context(), wishing("m1"))
	require.NoError(t, err)
	_, err = c.Complete(t.Context(), hello())
	require.NoError(t, err)
	require.Equal(t, []map[string]any{
		{"model": "m1", "temperature": 0.5, "reasoning_effort": "low", "response_format": map[string]any{"type": "json_object"}}, {"model": "m1"},
	}, *log)
}

func TestWishesThatAreRefused(t *testing.T) {
	has := func(part, why string) func(map[string]any) string {
		return func(sent map[string]any) string {
			if sent[part] == nil {
				return ""
			}
			return why
		}
	}
	both := func(sent map[string]any) string {
		if why := has("temperature", `{"error":{"message":"Unsupported value: 'temperature' does not support 0.5 with this model.","param":"temperature"}}`)(sent); why != "" {
			return why
		}
		return has("response_format", `{"error":{"message":"'response_format.type' must be 'json_schema' or 'text'"}}`)(sent)
	}
	for _, test := range []struct {
		name    string
		refuses func(map[string]any) string
		want    []int // requests of the first call, of the second, of one of another model
	}{
		{"response_format is named", has("response_format", `{"error":{"message":"private","param":"response_format"}}`), []int{2, 1, 2}},
		{"by FastAPI", has("response_format", `{"detail":[{"loc":["body","response_format"],"msg":"Extra inputs are not permitted"}]}`), []int{2, 1, 2}},
		{"both", both, []int{3, 1, 3}},
		{"reasoning_effort", has("reasoning_effort", `{"error":{"message":"Unsupported value: 'reasoning_effort' does not support 'low' with this model.","param":"reasoning_effort"}}`), []int{2, 1, 2}},
		{"only because the messages do not say JSON", has("response_format",
			`{"error":{"message":"'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."}}`), []int{2, 2, 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, log := picky(t, test.refuses)
			for i, model := range []string{"m1", "m1", "m2"} {
				before := len(*log)
				_, err := c.Complete(t.Context(), wishing(model))
				require.NoError(t, err)
				require.Len(t, *log, before+test.want[i])
			}
		})
	}
	t.Run("again and again", func(t *testing.T) {
		c, log := picky(t, func(map[string]any) string {
			return `{"error":{"message":"response_format and temperature not supported, private"}}`
		})
		_, err := c.Complete(t.Context(), wishing("m1"))
		require.Equal(t, models.ModelRefused, modelError(t, err).Class)
		require.Len(t, *log, 2)
	})
	t.Run("not asked for", func(t *testing.T) {
		c, log := picky(t, func(map[string]any) string { return `{"error":{"message":"response_format, private"}}` })
		_, err := c.Complete(t.Context(), hello())
		require.Equal(t, models.ModelRefused, modelError(t, err).Class)
		require.Len(t, *log, 1)
	})
	t.Run("the other keys help as ever", func(t *testing.T) {
		b := newBench(t, nil, "A", "B", "C")
		b.answers["A"] = limited()
		b.answers["B"] = answers(400, `{"error":{"message":"private","param":"response_format"}}`)
		_, err := b.Complete(t.Context(), wishing("m1"))
		require.NoError(t, err)
		require.Equal(t, "ABC", b.used)
	})
}

// The limit of an answer is sent by its newer name, by the older one where the
// server refuses that, and not at all where it refuses both.
func TestLimitOfTheAnswer(t *testing.T) {
	unknown := func(part string) string {
		return `{"error":{"message":"Unrecognized request argument supplied: ` + part + `"}}`
	}
	for _, test := range []struct {
		name    string
		refused []string
		want    string // of the last request
		tries   int
	}{
		{"taken", nil, "max_completion_tokens", 1},
		{"the newer name is refused", []string{"max_completion_tokens"}, "max_tokens", 2},
		{"both are", []string{"max_completion_tokens", "max_tokens"}, "", 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, log := picky(t, func(sent map[string]any) string {
				for _, part := range test.refused {
					if sent[part] != nil {
						return unknown(part)
					}
				}
				return ""
			})
			req := hello()
			req.MaxTokens = 300
			for _, tries := range []int{test.tries, 1} {
				*log = nil
				_, err := c.Complete(t.Context(), req)
				require.NoError(t, err)
				require.Len(t, *log, tries, "what was refused is remembered")
				last := (*log)[tries-1]
				for _, part := range []string{"max_completion_tokens", "max_tokens"} {
					require.Equal(t, part == test.want, last[part] != nil, part)
				}
			}
		})
	}
}
