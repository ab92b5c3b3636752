package rig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const maxBody = 4 << 20

// mark precedes the number of a text, so that the model's answer says up to
// which text it has heard.
const mark = "note no "

// wish is looked for in whole requests by its words first: the product's are
// longer than the bare workflow's, and the time that a stand-in takes is neither
// side's.
var (
	wish      = regexp.MustCompile(`\bdaily at (\d\d:\d\d)\b`)
	wishWords = []byte("daily at ")
)

// Body is the nth text of a person, padded to a length in characters where
// that is longer.
func Body(n, length int) string {
	body := fmt.Sprintf("%s%d from me: I walked for ten minutes today.", mark, n)
	for len(body) < length {
		body += " It was a fine walk along the river and back."
	}
	return body
}

// DailyBody is the nth text, which asks for a daily prompt at a local time.
func DailyBody(n int, clock string) string {
	return fmt.Sprintf("%s%d from me: a prompt daily at %s please.", mark, n, clock)
}

// Model is an OpenAI-compatible server that answers at once, after a delay, or
// not before it is released, with plain words that name the last text it read.
type Model struct {
	delay atomic.Int64
	calls atomic.Int64
	tools atomic.Int64

	mu   sync.Mutex
	held chan struct{} // not nil while calls hang
}

// SetDelay holds for calls that begin from now on.
func (m *Model) SetDelay(d time.Duration) { m.delay.Store(int64(d)) }

// Calls counts the answers.
func (m *Model) Calls() int { return int(m.calls.Load()) }

// ToolCalls counts the answers that asked for a tool.
func (m *Model) ToolCalls() int { return int(m.tools.Load()) }

// Hang keeps every call from being answered until the returned function is
// called; it may be called again.
func (m *Model) Hang() (release func()) {
	held := make(chan struct{})
	m.mu.Lock()
	m.held = held
	m.mu.Unlock()
	return sync.OnceFunc(func() {
		m.mu.Lock()
		m.held = nil
		m.mu.Unlock()
		close(held)
	})
}

// ServeHTTP implements http.Handler.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if !m.wait(r) {
		return
	}
	message, finish := map[string]any{"role": "assistant", "content": heardText(heard(body))}, "stop"
	if clock := asked(body); clock != "" {
		m.tools.Add(1)
		message["content"], finish = nil, "tool_calls"
		message["tool_calls"] = []any{map[string]any{"id": "call1", "type": "function", "function": map[string]string{
			"name": "scheduler", "arguments": `{"action":"create","type":"fixed","fixed_time":"` + clock + `"}`,
		}}}
	}
	reply(w, http.StatusOK, map[string]any{
		"id": "chatcmpl-" + strconv.FormatInt(m.calls.Add(1), 10), "object": "chat.completion", "created": 1, "model": "bench",
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}},
		"usage":   map[string]int{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
	})
}

// wait is the model's thinking; false: the caller gave up.
func (m *Model) wait(r *http.Request) bool {
	m.mu.Lock()
	held := m.held
	m.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-r.Context().Done():
			return false
		}
	}
	return Pause(r.Context(), time.Duration(m.delay.Load())) == nil
}

// heard is the highest number of a text in a request; 0 when it has none.
func heard(body []byte) int {
	highest := 0
	for {
		_, rest, found := bytes.Cut(body, []byte(mark))
		if !found {
			return highest
		}
		end := 0
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		if n, err := strconv.Atoi(string(rest[:end])); err == nil {
			highest = max(highest, n)
		}
		body = rest
	}
}

const (
	heardBefore = "I have heard you up to "
	heardAfter  = ". Well done, keep going."
)

func heardText(n int) string { return heardBefore + strconv.Itoa(n) + heardAfter }

// heardIn is the inverse of heardText within a text; false for other texts.
func heardIn(text string) (int, bool) {
	_, rest, found := bytes.Cut([]byte(text), []byte(heardBefore))
	digits, _, _ := bytes.Cut(rest, []byte("."))
	n, err := strconv.Atoi(string(digits))
	return n, found && err == nil
}

// asked is the time of a daily prompt that the newest message wishes for;
// empty where it does not, or no tools are offered.
func asked(body []byte) string {
	if !bytes.Contains(body, wishWords) {
		return ""
	}
	var ask struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []json.RawMessage `json:"tools"`
	}
	if json.Unmarshal(body, &ask) != nil || len(ask.Tools) == 0 || len(ask.Messages) == 0 {
		return ""
	}
	last := ask.Messages[len(ask.Messages)-1]
	found := wish.FindSubmatch(last.Content)
	if last.Role != "user" || found == nil {
		return ""
	}
	return string(found[1])
}

func reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // The caller may be gone.
}
