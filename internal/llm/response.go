package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"coachline/models"
)

// answer is the part of a chat completion that we use, as loosely as
// OpenAI-compatible servers write it.
type answer struct {
	Model   string `json:"model"`
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      struct {
			Content   json.RawMessage `json:"content"`
			Refusal   string          `json:"refusal"`
			ToolCalls []answerCall    `json:"tool_calls"`
		} `json:"message"`
	} `json:"choices"`
	Usage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Details    struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
}

type answerCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// read takes the first choice of an answer with a success status. An answer
// that makes no sense is ModelBusy: the model may do better next time.
func read(body []byte) (models.ChatResponse, error) {
	var in answer
	if err := json.Unmarshal(body, &in); err != nil {
		return models.ChatResponse{}, busy(http.StatusOK, "malformed answer")
	}
	if len(in.Choices) == 0 {
		return models.ChatResponse{}, readNothing(body)
	}
	choice := in.Choices[0]
	if choice.FinishReason == "content_filter" || choice.Message.Refusal != "" {
		return models.ChatResponse{}, &models.ModelError{
			Class: models.ModelRefused, Status: http.StatusOK, Message: "the model declined to answer",
		}
	}
	text, err := readContent(choice.Message.Content)
	if err != nil {
		return models.ChatResponse{}, busy(http.StatusOK, "malformed answer: %v", err)
	}
	return models.ChatResponse{
		Text: text, Calls: readCalls(choice.Message.ToolCalls), FinishReason: choice.FinishReason, Model: in.Model,
		Usage: models.Usage{Prompt: in.Usage.Prompt, Cached: in.Usage.Details.Cached, Completion: in.Usage.Completion},
	}, nil
}

// readNothing is an answer without a choice. Gateways report a failed model
// this way, as an error object under a success status.
func readNothing(body []byte) *models.ModelError {
	failed := readFailure(body)
	if status, err := strconv.Atoi(failed.code); err == nil && status >= http.StatusBadRequest && status < 600 {
		return byStatus(status, failed)
	}
	if failed.code != "" || failed.kind != "" {
		return byStatus(http.StatusOK, failed)
	}
	return busy(http.StatusOK, "malformed answer: no choice")
}

// readContent accepts a text, null, nothing, and a list of parts, of which the
// texts are joined.
func readContent(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return "", nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return "", errors.New("content is neither text nor parts")
	}
	for _, part := range parts {
		text += part.Text
	}
	return text, nil
}

// readCalls keeps the order of the calls and gives each an id of its own: a
// missing or repeated one becomes "call_<index>", the same at every reading.
func readCalls(in []answerCall) []models.ToolCall {
	var out []models.ToolCall
	seen := map[string]bool{}
	for i, call := range in {
		id := call.ID
		if id == "" || seen[id] {
			id = "call_" + strconv.Itoa(i)
		}
		seen[id] = true
		out = append(out, models.ToolCall{ID: id, Name: call.Function.Name, Arguments: readArguments(call.Function.Arguments)})
	}
	return out
}

// readArguments is the JSON text of the arguments: usually a string that holds
// it, on some servers the object itself. No arguments are an empty object.
func readArguments(raw json.RawMessage) string {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return "{}"
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if text == "" {
			return "{}"
		}
		return text
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return string(raw)
	}
	return compact.String()
}
