package sim

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"coachline/internal/sim/script"
	"coachline/internal/sim/script/gist"
)

const (
	scriptModel = "script"
	// charsPerToken is a usual rule of thumb; the script has no tokens.
	charsPerToken     = 4
	defaultDimensions = 256
	maxDimensions     = 4096
	// rememberedPrompts bounds what the prompt cache compares with.
	rememberedPrompts = 32
	// cachedFrom and cacheStep are OpenAI's: prompts of at least so many tokens
	// are cached, in steps of so many.
	cachedFrom = 1024
	cacheStep  = 128
)

// model wraps a route of the model API: key, body, faults.
func (s *Server) model(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if _, err := readBody(w, r); err != nil {
			modelError(w, http.StatusBadRequest, "", "The request body cannot be read.")
			return
		}
		if !bearer || strings.TrimSpace(key) == "" {
			modelError(w, http.StatusUnauthorized, "", "You didn't provide an API key.")
			return
		}
		serve := next
		if f, hit := s.faults.take(targetModel, ""); hit {
			serve = s.spoil(f, refuseAnswering, next)
		}
		serve(w, r)
	})
}

func refuseAnswering(w http.ResponseWriter, f fault) {
	modelError(w, f.Status, "", "The call was refused as a test asked for.")
}

// modelError writes OpenAI's shape of an error; param names the field at fault.
func modelError(w http.ResponseWriter, status int, param, problem string) {
	class, code := "invalid_request_error", any(nil)
	switch {
	case status == http.StatusUnauthorized:
		code = "invalid_api_key"
	case status == http.StatusTooManyRequests:
		class, code = "requests", "rate_limit_exceeded"
	case status >= http.StatusInternalServerError:
		class = "server_error"
	}
	field := any(nil)
	if param != "" {
		field = param
	}
	writeJSON(w, status, map[string]any{"error": map[string]any{
		"message": problem, "type": class, "param": field, "code": code,
	}})
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	body, _ := readBody(w, r) // It was read once already.
	var ask script.Request
	if err := json.Unmarshal(body, &ask); err != nil {
		modelError(w, http.StatusBadRequest, "", "We could not parse the JSON body of your request.")
		return
	}
	if param, problem := ask.Check(); problem != "" {
		modelError(w, http.StatusBadRequest, param, problem)
		return
	}
	if err := s.network.noteScript(); err != nil {
		s.cfg.Logger.Error("simulator cannot keep that the script answered", "error", err)
		modelError(w, http.StatusInternalServerError, "", "The server had an error.")
		return
	}
	// Equal requests get equal answers, ids included.
	id := fmt.Sprintf("%x", sha256.Sum256(body))[:24]
	said := ask.Answer(id)
	message := map[string]any{"role": "assistant", "content": said.Text, "refusal": nil}
	finish := "stop"
	if len(said.Calls) > 0 {
		finish = "tool_calls"
		message["tool_calls"] = said.Calls
		if said.Text == "" {
			message["content"] = nil
		}
	}
	prompt := ask.Prompt()
	written, _ := json.Marshal(message) // Texts and maps of texts always encode.
	in, out, cached := tokens(len(prompt)), tokens(len(written)), s.prompts.countCached(prompt)
	writeJSON(w, http.StatusOK, map[string]any{
		"id": "chatcmpl-" + id, "object": "chat.completion", "created": s.cfg.Now().Unix(), "model": scriptModel,
		"choices": []any{map[string]any{"index": 0, "message": message, "logprobs": nil, "finish_reason": finish}},
		"usage": map[string]any{
			"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out,
			"prompt_tokens_details": map[string]int{"cached_tokens": cached},
		},
	})
}

func tokens(chars int) int { return chars / charsPerToken }

// promptCache stands in for a provider's: what a prompt shares with an earlier
// one from its beginning on counts as cached.
type promptCache struct {
	mu   sync.Mutex
	seen []string
}

// countCached is how many tokens of the prompt a provider would have had.
func (c *promptCache) countCached(prompt string) int {
	common := tokens(c.commonPrefix(prompt))
	if tokens(len(prompt)) < cachedFrom || common < cachedFrom {
		return 0
	}
	return common / cacheStep * cacheStep
}

// commonPrefix is the longest common beginning, in bytes, with any of the newest
// prompts; the prompt is remembered.
func (c *promptCache) commonPrefix(prompt string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	longest := 0
	for _, earlier := range c.seen {
		n := 0
		for n < len(earlier) && n < len(prompt) && earlier[n] == prompt[n] {
			n++
		}
		longest = max(longest, n)
	}
	if c.seen = append(c.seen, prompt); len(c.seen) > rememberedPrompts {
		c.seen = c.seen[1:]
	}
	return longest
}

func (s *Server) listModels(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{
		map[string]any{"id": scriptModel, "object": "model", "created": 0, "owned_by": "coachline"},
	}})
}

// embed answers with vectors that are hashes of the words (package gist).
func (s *Server) embed(w http.ResponseWriter, r *http.Request) {
	body, _ := readBody(w, r) // It was read once already.
	ask := struct {
		Model          string          `json:"model"`
		Input          json.RawMessage `json:"input"`
		Dimensions     int             `json:"dimensions"`
		EncodingFormat string          `json:"encoding_format"`
	}{Dimensions: defaultDimensions}
	if err := json.Unmarshal(body, &ask); err != nil {
		modelError(w, http.StatusBadRequest, "", "We could not parse the JSON body of your request.")
		return
	}
	var inputs []string
	var one string
	if json.Unmarshal(ask.Input, &one) == nil {
		inputs = []string{one}
	} else if json.Unmarshal(ask.Input, &inputs) != nil || len(inputs) == 0 {
		modelError(w, http.StatusBadRequest, "input", "'input' must be a string or a list of strings.")
		return
	}
	if ask.Dimensions < 1 || ask.Dimensions > maxDimensions {
		modelError(w, http.StatusBadRequest, "dimensions", fmt.Sprintf("'dimensions' must be from 1 to %d.", maxDimensions))
		return
	}
	data, chars := make([]any, len(inputs)), 0
	for i, input := range inputs {
		vector := gist.Vector(input, ask.Dimensions)
		chars += len(input)
		item := map[string]any{"object": "embedding", "index": i, "embedding": vector}
		if ask.EncodingFormat == "base64" {
			raw, _ := binary.Append(nil, binary.LittleEndian, vector) // Fixed-size values always encode.
			item["embedding"] = base64.StdEncoding.EncodeToString(raw)
		}
		data[i] = item
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"object": "list", "data": data, "model": scriptModel,
		"usage": map[string]int{"prompt_tokens": tokens(chars), "total_tokens": tokens(chars)},
	})
}
