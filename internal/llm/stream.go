package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"coachline/models"
)

// thoughtFields are the names under which servers stream what a model writes
// for itself; the SDK has no field for them.
var thoughtFields = []string{"reasoning_content", "reasoning", "thinking"}

// askStreamed asks for the answer in pieces and puts it together. A stream that
// ends without a reason to finish broke off, which is ModelBusy. err is why no
// whole answer came.
func (c *Client) askStreamed(ctx context.Context, request []byte, x *exchange) (models.ChatResponse, *fault, error) {
	opts := []option.RequestOption{option.WithResponseInto(&x.res), option.WithRequestBody("application/json", request)}
	if x.key != "" {
		opts = append(opts, option.WithAPIKey(x.key))
	}
	stream := c.chat.NewStreaming(ctx, openai.ChatCompletionNewParams{}, opts...)
	body, err := collectStream(stream)
	if err == nil {
		x.body = body
		out, f := readAnswer(body)
		return out, f, nil
	}
	if x.res != nil && x.res.StatusCode < http.StatusBadRequest {
		return models.ChatResponse{}, brokenStream(err), err
	}
	return models.ChatResponse{}, x.readFault(ctx), err
}

// isEventStream reports whether a body is a stream of events, which some servers
// send for every request.
func isEventStream(body []byte) bool {
	body = bytes.TrimLeft(body, "\ufeff \r\n")
	return bytes.HasPrefix(body, []byte("data:")) || bytes.HasPrefix(body, []byte("event:")) || bytes.HasPrefix(body, []byte(":"))
}

// readEventStream reads a whole stream of events as the answer that it makes up.
func readEventStream(body []byte) (models.ChatResponse, *fault) {
	res := &http.Response{
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(body)),
	}
	whole, err := collectStream(ssestream.NewStream[openai.ChatCompletionChunk](ssestream.NewDecoder(res), nil))
	if err != nil {
		return models.ChatResponse{}, brokenStream(err)
	}
	return readAnswer(whole)
}

var errBrokeOff = errors.New("the stream ended before the answer did")

// collectStream puts the pieces of a stream together and writes them as an answer that
// came in one piece, so that both are read by the same rules. It closes the
// stream.
func collectStream(stream *ssestream.Stream[openai.ChatCompletionChunk]) ([]byte, error) {
	defer func() { _ = stream.Close() }() // What was read counts.
	var whole openai.ChatCompletionAccumulator
	var thoughts strings.Builder
	for stream.Next() {
		chunk := stream.Current()
		chunk.ID = "" // Some servers give each piece an id of its own.
		if !whole.AddChunk(chunk) {
			return nil, errors.New("the pieces of the stream do not fit together")
		}
		if len(chunk.Choices) > 0 {
			thoughts.WriteString(thoughtOf(chunk.Choices[0].Delta))
		}
	}
	if err := stream.Err(); err != nil {
		return nil, err //nolint:wrapcheck // classed by the caller
	}
	if len(whole.Choices) == 0 || whole.Choices[0].FinishReason == "" {
		return nil, errBrokeOff
	}
	return encodeWhole(whole.ChatCompletion, thoughts.String())
}

// thoughtOf returns what a piece holds of the model's own thoughts.
func thoughtOf(delta openai.ChatCompletionChunkChoiceDelta) string {
	for _, name := range thoughtFields {
		var text string
		if field, ok := delta.JSON.ExtraFields[name]; ok && json.Unmarshal([]byte(field.Raw()), &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// encodeWhole writes what was put together as JSON in the form of an answer.
func encodeWhole(in openai.ChatCompletion, thoughts string) ([]byte, error) {
	choice := in.Choices[0]
	type function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	type call struct {
		ID       string   `json:"id"`
		Function function `json:"function"`
	}
	var calls []call
	for _, one := range choice.Message.ToolCalls {
		calls = append(calls, call{ID: one.ID, Function: function{one.Function.Name, one.Function.Arguments}})
	}
	return json.Marshal(map[string]any{
		"model": in.Model,
		"choices": []any{map[string]any{"finish_reason": choice.FinishReason, "message": map[string]any{
			"content": choice.Message.Content, "refusal": choice.Message.Refusal, "tool_calls": calls, "reasoning_content": thoughts,
		}}},
		"usage": map[string]any{
			"prompt_tokens": in.Usage.PromptTokens, "completion_tokens": in.Usage.CompletionTokens,
			"prompt_tokens_details": map[string]any{"cached_tokens": in.Usage.PromptTokensDetails.CachedTokens},
		},
	})
}

// brokenStream classes a stream that began well: by the error that the server
// wrote into it, else as an answer that broke off.
func brokenStream(err error) *fault {
	var told *ssestream.StreamError
	if errors.As(err, &told) {
		return faultInSuccess(readFailure(told.Event.Data))
	}
	return serverFault(http.StatusOK, "the answer broke off")
}
