// Package openai stands in for an OpenAI-compatible server, for development and
// for tests over real HTTP: chat completions, embeddings and transcriptions.
//
// Its answers come from a script (FollowScript) unless Config.Answer gives
// others, and Config.OnCall stands before every call: it can delay a call, let
// it fail, or lose its answer. It is part of dev and never of production.
package openai

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Model is the name under which the server answers.
const Model = "script"

const (
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
	maxBody    = 10 << 20
	// Transcript is what is heard in every recording.
	Transcript = "I walked for ten minutes after lunch and it felt good."
)

// Config holds the hooks of a Server. Every field may be left out.
type Config struct {
	// OnCall serves a call that has a key, by calling next once or not at all.
	// The body can be read again. Nil calls next.
	OnCall func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc)
	// Answer writes the assistant's message for the body of a request. A
	// *RequestError is answered with 400, any other error with 500. Nil follows
	// the script.
	Answer func(body []byte) (Answer, error)
	// OnUsage is told what each call of the chat model and of vectors used, as a provider would charge
	// for it, also where the answer does not arrive. Nil is not told.
	OnUsage func(Usage)
	Now     func() time.Time
}

// Usage is what a call used, in tokens; Cached is a part of Prompt.
type Usage struct {
	Prompt     int `json:"prompt"`
	Cached     int `json:"cached"`
	Completion int `json:"completion"`
}

// Answer is the assistant's message: text, calls, both, or neither.
type Answer struct {
	Text  string
	Calls []ToolCall
	// Prompt is the request as one text, for the count of its tokens; empty
	// counts one token.
	Prompt string
}

// RequestError is a request that OpenAI would refuse.
type RequestError struct {
	// Param names the field at fault; empty where there is none.
	Param, Problem string
}

func (e *RequestError) Error() string { return e.Problem }

// Server is the stand-in. It is safe for concurrent use.
type Server struct {
	cfg     Config
	prompts promptCache
}

// New builds a Server.
func New(cfg Config) *Server {
	if cfg.OnCall == nil {
		cfg.OnCall = func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) { next(w, r) }
	}
	if cfg.Answer == nil {
		cfg.Answer = FollowScript
	}
	if cfg.OnUsage == nil {
		cfg.OnUsage = func(Usage) {}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Server{cfg: cfg}
}

// Handler serves the API under /v1/.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /v1/chat/completions", s.authenticate(s.complete))
	mux.Handle("POST /v1/embeddings", s.authenticate(s.embed))
	mux.Handle("POST /v1/audio/transcriptions", s.authenticate(transcribe))
	mux.HandleFunc("GET /v1/models", s.listModels)
	return mux
}

// authenticate reads the body whole, so that the server notices a caller that
// gives up while its call is held, and refuses calls without a key.
func (s *Server) authenticate(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if _, err := readBody(w, r); err != nil {
			WriteError(w, http.StatusBadRequest, "", "The request body cannot be read.")
			return
		}
		if !bearer || strings.TrimSpace(key) == "" {
			WriteError(w, http.StatusUnauthorized, "", "You didn't provide an API key.")
			return
		}
		s.cfg.OnCall(w, r, next)
	})
}

// readAhead is the body of a request that was read before.
type readAhead struct {
	*bytes.Reader
	whole []byte
}

// Close implements io.Closer.
func (readAhead) Close() error { return nil }

// readBody reads a body whole and puts it back.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if read, isRead := r.Body.(readAhead); isRead {
		return read.whole, nil
	}
	var all bytes.Buffer
	if 0 < r.ContentLength && r.ContentLength <= maxBody {
		all.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	_, err := all.ReadFrom(http.MaxBytesReader(w, r.Body, maxBody))
	r.Body = readAhead{bytes.NewReader(all.Bytes()), all.Bytes()}
	return all.Bytes(), err //nolint:wrapcheck // the caller answers with it
}

// WriteError answers in OpenAI's shape of an error; param names the field at
// fault.
func WriteError(w http.ResponseWriter, status int, param, problem string) {
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

func writeJSON(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(body) // The caller has gone; the error cannot be reported.
}

// requestID is the same for equal requests, so that equal requests get equal
// answers, ids included.
func requestID(body []byte) string { return fmt.Sprintf("%x", sha256.Sum256(body))[:24] }

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	body, _ := readBody(w, r) // It was read once already.
	answer, err := s.cfg.Answer(body)
	refused := (*RequestError)(nil)
	switch {
	case errors.As(err, &refused):
		WriteError(w, http.StatusBadRequest, refused.Param, refused.Problem)
		return
	case err != nil:
		WriteError(w, http.StatusInternalServerError, "", "The server had an error.")
		return
	}
	message := map[string]any{"role": "assistant", "content": answer.Text, "refusal": nil}
	finish := "stop"
	if len(answer.Calls) > 0 {
		finish = "tool_calls"
		message["tool_calls"] = answer.Calls
		if answer.Text == "" {
			message["content"] = nil
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"id": "chatcmpl-" + requestID(body), "object": "chat.completion", "created": s.cfg.Now().Unix(), "model": Model,
		"choices": []any{map[string]any{"index": 0, "message": message, "logprobs": nil, "finish_reason": finish}},
		"usage":   s.usage(answer.Prompt, message),
	})
}

// usage counts the tokens of a call.
func (s *Server) usage(prompt string, message map[string]any) map[string]any {
	in, out, cached := 1, 1, 0
	if prompt != "" {
		written, _ := json.Marshal(message) // Texts and maps of texts always encode.
		in, out, cached = countTokens(len(prompt)), countTokens(len(written)), s.prompts.countCached(prompt)
	}
	s.cfg.OnUsage(Usage{Prompt: in, Cached: cached, Completion: out})
	return map[string]any{
		"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out,
		"prompt_tokens_details": map[string]int{"cached_tokens": cached},
	}
}

func countTokens(chars int) int { return chars / charsPerToken }

// promptCache stands in for a provider's: what a prompt shares with an earlier
// one from its beginning on counts as cached.
type promptCache struct {
	mu   sync.Mutex
	seen []string
}

// countCached is how many tokens of the prompt a provider would have had.
func (c *promptCache) countCached(prompt string) int {
	common := countTokens(c.commonPrefix(prompt))
	if countTokens(len(prompt)) < cachedFrom || common < cachedFrom {
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
		map[string]any{"id": Model, "object": "model", "created": 0, "owned_by": "coachline"},
	}})
}

// embed answers with vectors that are hashes of the words.
func (s *Server) embed(w http.ResponseWriter, r *http.Request) {
	body, _ := readBody(w, r) // It was read once already.
	ask := struct {
		Model          string          `json:"model"`
		Input          json.RawMessage `json:"input"`
		Dimensions     int             `json:"dimensions"`
		EncodingFormat string          `json:"encoding_format"`
	}{Dimensions: defaultDimensions}
	if err := json.Unmarshal(body, &ask); err != nil {
		WriteError(w, http.StatusBadRequest, "", "We could not parse the JSON body of your request.")
		return
	}
	var inputs []string
	var one string
	if json.Unmarshal(ask.Input, &one) == nil {
		inputs = []string{one}
	} else if json.Unmarshal(ask.Input, &inputs) != nil || len(inputs) == 0 {
		WriteError(w, http.StatusBadRequest, "input", "'input' must be a string or a list of strings.")
		return
	}
	if ask.Dimensions < 1 || ask.Dimensions > maxDimensions {
		WriteError(w, http.StatusBadRequest, "dimensions", fmt.Sprintf("'dimensions' must be from 1 to %d.", maxDimensions))
		return
	}
	data, chars := make([]any, len(inputs)), 0
	for i, input := range inputs {
		vector := embedding(input, ask.Dimensions)
		chars += len(input)
		item := map[string]any{"object": "embedding", "index": i, "embedding": vector}
		if ask.EncodingFormat == "base64" {
			raw, _ := binary.Append(nil, binary.LittleEndian, vector) // Fixed-size values always encode.
			item["embedding"] = base64.StdEncoding.EncodeToString(raw)
		}
		data[i] = item
	}
	s.cfg.OnUsage(Usage{Prompt: countTokens(chars)})
	writeJSON(w, http.StatusOK, map[string]any{
		"object": "list", "data": data, "model": Model,
		"usage": map[string]int{"prompt_tokens": countTokens(chars), "total_tokens": countTokens(chars)},
	})
}

// transcribe answers with the one transcript, and refuses a request without a
// file or a model.
func transcribe(w http.ResponseWriter, r *http.Request) {
	file, _, err := r.FormFile("file")
	if err != nil || r.FormValue("model") == "" {
		WriteError(w, http.StatusBadRequest, "", "file and model are required")
		return
	}
	_ = file.Close()
	writeJSON(w, http.StatusOK, map[string]string{"text": Transcript})
}
