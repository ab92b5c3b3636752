package llm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/models"
)

// pieces is an answer as a server streams it.
func pieces(lines ...string) string {
	var out strings.Builder
	for _, line := range lines {
		fmt.Fprintf(&out, "data: %s\n\n", line)
	}
	return out.String()
}

var (
	spokenPieces = pieces(
		`{"id":"a","model":"m1","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`,
		`{"id":"b","model":"m1","choices":[{"index":0,"delta":{"reasoning_content":"They greet me. "}}]}`,
		`{"id":"b","model":"m1","choices":[{"index":0,"delta":{"content":"Hel"}}]}`,
		`{"id":"b","model":"m1","choices":[{"index":0,"delta":{"content":"lo."},"finish_reason":"stop"}]}`,
		`{"id":"b","model":"m1","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}`,
		`[DONE]`)
	callPieces = pieces(
		`{"model":"m1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"look","arguments":"{\"a\""}}]}}]}`,
		`{"model":"m1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}]}`,
		`{"model":"m1","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"c2","type":"function","function":{"name":"save","arguments":"{}"}}]}}]}`,
		`{"model":"m1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`)
)

// streamer is a server that answers in pieces only. refusal is what it says to a
// request without stream; empty: it streams every answer. pickyOptions: it
// knows no stream_options.
func streamer(t *testing.T, refusal string, body *string, pickyOptions bool) (*Client, *[]string) {
	var asked []string
	return client(t, func(w http.ResponseWriter, r *http.Request) {
		var sent struct {
			Stream  bool            `json:"stream"`
			Options json.RawMessage `json:"stream_options"`
		}
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&sent))
		asked = append(asked, fmt.Sprintf("stream=%t", sent.Stream))
		switch {
		case !sent.Stream && refusal != "":
			answers(400, refusal)(w, r)
		case pickyOptions && sent.Options != nil:
			answers(400, `{"error":{"message":"Unknown parameter: 'stream_options'."}}`)(w, r)
		default:
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			_, err := w.Write([]byte(*body))
			assert.NoError(t, err)
		}
	}, nil), &asked
}

func TestServersThatOnlyStream(t *testing.T) {
	for name, refusal := range map[string]string{
		"a detail":       `{"detail":"Stream must be set to true"}`,
		"the parameter":  `{"error":{"message":"This model only support stream mode, please enable the stream parameter to access the model. "}}`,
		"non-streaming":  `{"error":{"message":"Non-streaming responses are not supported"}}`,
		"only streaming": `{"error":{"message":"Only streaming is available","code":"bad_request"}}`,
		"nothing at all": "",
	} {
		t.Run(name, func(t *testing.T) {
			body := spokenPieces
			c, asked := streamer(t, refusal, &body, false)
			for range 2 {
				out, err := c.Complete(t.Context(), hello())
				require.NoError(t, err)
				require.Equal(t, models.ChatResponse{
					Text: "Hello.", Thinking: "They greet me.", FinishReason: "stop", Model: "m1",
					Usage: models.Usage{Prompt: 9, Completion: 2, Cached: 4},
				}, out)
			}
			want := []string{"stream=false", "stream=true", "stream=true"}
			if refusal == "" {
				want = []string{"stream=false", "stream=false"}
			}
			require.Equal(t, want, *asked, "a server's refusal is remembered, one that streams unasked is read")
			body = callPieces
			out, err := c.Complete(t.Context(), hello())
			require.NoError(t, err)
			require.Equal(t, "tool_calls", out.FinishReason)
			require.Equal(t, []models.ToolCall{{ID: "c1", Name: "look", Arguments: `{"a":1}`}, {ID: "c2", Name: "save", Arguments: `{}`}}, out.Calls)
		})
	}
	t.Run("without stream_options", func(t *testing.T) {
		body := spokenPieces
		c, asked := streamer(t, `{"detail":"Stream must be set to true"}`, &body, true)
		for range 2 {
			out, err := c.Complete(t.Context(), hello())
			require.NoError(t, err)
			require.Equal(t, "Hello.", out.Text)
		}
		require.Equal(t, []string{"stream=false", "stream=true", "stream=true", "stream=true"}, *asked)
	})
}

func TestStreamsThatFail(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		class      models.ModelErrorClass
	}{
		{"broken off", strings.Split(spokenPieces, "data: {\"id\":\"b\",\"model\":\"m1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo.\"")[0], models.ModelBusy},
		{"empty", ": ping\n\n", models.ModelBusy},
		{"not JSON", pieces(`{"model":`), models.ModelBusy},
		{"an error in the stream", pieces(`{"error":{"code":"context_length_exceeded","message":"private"}}`), models.ModelOverflow},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, refusal := range []string{"", `{"detail":"Stream must be set to true"}`} {
				c, _ := streamer(t, refusal, &tt.body, false)
				_, err := c.Complete(t.Context(), hello())
				require.Equal(t, tt.class, modelError(t, err).Class, refusal)
				require.NotContains(t, err.Error(), "private")
			}
		})
	}
}

// Ordinary complaints are not taken for a wish to stream.
func TestOrdinaryServersAreNotAskedToStream(t *testing.T) {
	for _, why := range []string{
		`{"error":{"message":"tools are not supported in streaming mode"}}`, `{"error":{"message":"invalid stream id"}}`, `{"error":{"message":"upstream only"}}`,
	} {
		c, log := picky(t, func(map[string]any) string { return why })
		_, err := c.Complete(t.Context(), hello())
		require.Error(t, err)
		require.Len(t, *log, 1, why)
		require.Nil(t, (*log)[0]["stream"])
	}
}
