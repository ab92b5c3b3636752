package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"time"
)

var (
	// Token is the number of a text, by which its answer is known.
	Token  = regexp.MustCompile(`\bm\d{4}\b`)
	person = regexp.MustCompile(`(?m)^Name: (p\d+)$`)
	daily  = regexp.MustCompile(`\bdaily (\d\d:\d\d)\b`)
	goal   = regexp.MustCompile(`\bgoal (\w+)\b`)
)

const (
	// AnswerMark begins every answer to texts.
	AnswerMark = "re: "
	// thinking is how long the model takes.
	thinking = 120 * time.Millisecond
	// modelHang is how long a hanging call is held before it is cut.
	modelHang = 5 * time.Second
)

// Model is an OpenAI-compatible server that answers with the numbers of the
// texts it sees for the first time, and sets a daily prompt where a text asks
// for one.
type Model struct {
	board *Board
	trace *Trace
	calls atomic.Int64
}

// NewModel is a model without memory.
func NewModel(board *Board, trace *Trace) *Model { return &Model{board: board, trace: trace} }

// Handler serves chat completions under /{process}/v1/.
func (m *Model) Handler(ctx context.Context) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{process}/v1/chat/completions", func(w http.ResponseWriter, r *http.Request) { m.complete(ctx, w, r) })
	return mux
}

// Complete answers the body of a chat completion request; call numbers it.
func Complete(body []byte, call int64) (map[string]any, error) {
	var ask request
	if err := json.Unmarshal(body, &ask); err != nil {
		return nil, fmt.Errorf("reading a completion request: %w", err)
	}
	if len(ask.Messages) == 0 {
		return nil, errors.New("a completion request without messages")
	}
	return completion(ask.answer(call), call), nil
}

func completion(said map[string]any, call int64) map[string]any {
	finish := "stop"
	if said["tool_calls"] != nil {
		finish = "tool_calls"
	}
	return map[string]any{
		"id": fmt.Sprintf("chatcmpl-%d", call), "object": "chat.completion", "created": time.Now().Unix(), "model": "chaos",
		"choices": []any{map[string]any{"index": 0, "message": said, "finish_reason": finish}},
		"usage":   map[string]int{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
	}
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Calls   []struct {
		ID string `json:"id"`
	} `json:"tool_calls"`
}

type request struct {
	Messages []message         `json:"messages"`
	Tools    []json.RawMessage `json:"tools"`
}

func (m *Model) complete(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	var ask request
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		err = json.Unmarshal(body, &ask)
	}
	if err != nil || len(ask.Messages) == 0 {
		m.trace.Note("model cannot read a request: %v", err)
		ModelError(w, http.StatusBadRequest)
		return
	}
	process := r.PathValue("process")
	if m.board.Pass(r.Context(), DuringModelCall, process) {
		panic(http.ErrAbortHandler)
	}
	if fault, spoilt := m.board.Take(TargetModel); spoilt && spoil(w, r, fault) {
		return
	}
	Pause(r.Context(), thinking)
	call := m.calls.Add(1)
	said := ask.answer(call)
	m.trace.Note("model said to %s: %v", process, said)
	WriteJSON(w, http.StatusOK, completion(said, call))
	_ = http.NewResponseController(w).Flush()
	m.board.Pass(ctx, AfterModelAnswer, process)
}

// spoil serves a fault; false: it is not one of a model.
func spoil(w http.ResponseWriter, r *http.Request, fault Fault) bool {
	switch fault {
	case FaultBusy:
		w.Header().Set("Retry-After", "1")
		ModelError(w, http.StatusTooManyRequests)
	case FaultError:
		ModelError(w, http.StatusInternalServerError)
	case FaultReset:
		Reset(w)
	case FaultHang:
		Pause(r.Context(), modelHang)
		panic(http.ErrAbortHandler)
	case FaultMalformed:
		w.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(w, "<html>")
	case FaultGateway, FaultTimeoutAfter, FaultResetAfter, FaultGarbledAfter, FaultLate, FaultTwice, FaultReversed,
		FaultCodedBefore, FaultCodedAfter, FaultSlow, FaultRefused:
		return false
	}
	return true
}

// ModelError answers with an error in the shape of OpenAI.
func ModelError(w http.ResponseWriter, status int) {
	WriteJSON(w, status, map[string]any{"error": map[string]any{"message": "refused", "type": "server_error", "code": nil, "param": nil}})
}

// answer is the assistant's message.
func (ask request) answer(call int64) map[string]any {
	who := "nobody"
	if found := person.FindStringSubmatch(ask.Messages[0].Content); found != nil {
		who = found[1]
	}
	fresh := ask.fresh()
	last := ask.Messages[len(ask.Messages)-1].Content
	switch {
	case strings.HasPrefix(last, "[task]"):
		return say(fmt.Sprintf("prompt for %s, number %d", who, call))
	case strings.HasPrefix(last, "[hint]"):
		return say(fmt.Sprintf("hello %s, number %d", who, call))
	}
	if calls := ask.wishes(fresh, call); len(calls) > 0 {
		return map[string]any{"role": "assistant", "content": nil, "tool_calls": calls}
	}
	var tokens []string
	for _, one := range fresh {
		tokens = append(tokens, Token.FindAllString(one.Content, -1)...)
	}
	if len(tokens) == 0 {
		return say(fmt.Sprintf("nothing to answer, number %d", call))
	}
	return say(AnswerMark + who + " " + strings.Join(tokens, " "))
}

func say(text string) map[string]any { return map[string]any{"role": "assistant", "content": text} }

// safetyMark begins a safety text as the model is shown it. It answers no text but
// the one that may be a crisis: what came before it may still wait for a reply.
const safetyMark = "[safety text"

// fresh is what came after the coach's last words: without tool calls, and without
// safety texts and the texts that these answer.
func (ask request) fresh() []message {
	from := len(ask.Messages)
	for from > 1 && !ask.Messages[from-1].isReply() {
		from--
	}
	var fresh []message
	for _, one := range ask.Messages[from:] {
		switch {
		case strings.HasPrefix(one.Content, safetyMark) && len(fresh) > 0:
			fresh = fresh[:len(fresh)-1]
		case one.Role != "tool" && one.Role != "system":
			fresh = append(fresh, one)
		}
	}
	return fresh
}

// isReply reports whether the coach said it, and may have answered what came
// before.
func (m message) isReply() bool {
	return m.Role == "assistant" && len(m.Calls) == 0 && !strings.HasPrefix(m.Content, safetyMark)
}

func toolCall(name, arguments string) map[string]any {
	return map[string]any{"type": "function", "function": map[string]string{"name": name, "arguments": arguments}}
}

// wishes are the calls for the daily prompts and goals that fresh texts ask for
// and no call has set.
func (ask request) wishes(fresh []message, call int64) []map[string]any {
	var calls []map[string]any
	for _, one := range fresh {
		if len(one.Calls) > 0 {
			calls = nil
		}
		if one.Role != "user" || len(ask.Tools) == 0 {
			continue
		}
		if found := daily.FindStringSubmatch(one.Content); found != nil {
			calls = append(calls, toolCall("scheduler", `{"action":"create","type":"fixed","fixed_time":"`+found[1]+`"}`))
		}
		if found := goal.FindStringSubmatch(one.Content); found != nil {
			calls = append(calls, toolCall("save_user_profile", `{"habit_domain":"`+found[1]+`"}`))
		}
	}
	for i, one := range calls {
		one["id"] = fmt.Sprintf("call%dx%d", call, i)
	}
	return calls
}
