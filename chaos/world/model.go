package world

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

var (
	// Token is the number of a text, by which its answer is known.
	Token  = regexp.MustCompile(`\bm\d{4}\b`)
	person = regexp.MustCompile(`(?m)^Name: (p\d+)$`)
	daily  = regexp.MustCompile(`\bdaily (\d\d:\d\d)\b`)
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
		modelError(w, http.StatusBadRequest)
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
	said := ask.answer(m.calls.Add(1))
	m.trace.Note("model said to %s: %v", process, said)
	finish := "stop"
	if said["tool_calls"] != nil {
		finish = "tool_calls"
	}
	answer(w, http.StatusOK, map[string]any{
		"id": fmt.Sprintf("chatcmpl-%d", m.calls.Load()), "object": "chat.completion", "created": time.Now().Unix(), "model": "chaos",
		"choices": []any{map[string]any{"index": 0, "message": said, "finish_reason": finish}},
		"usage":   map[string]int{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
	})
	_ = http.NewResponseController(w).Flush()
	m.board.Pass(ctx, AfterModelAnswer, process)
}

// spoil serves a fault; false: it is not one of a model.
func spoil(w http.ResponseWriter, r *http.Request, fault Fault) bool {
	switch fault {
	case FaultBusy:
		w.Header().Set("Retry-After", "1")
		modelError(w, http.StatusTooManyRequests)
	case FaultError:
		modelError(w, http.StatusInternalServerError)
	case FaultReset:
		reset(w)
	case FaultHang:
		Pause(r.Context(), modelHang)
		panic(http.ErrAbortHandler)
	case FaultMalformed:
		w.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(w, "<html>")
	case FaultGateway, FaultTimeoutAfter, FaultResetAfter, FaultGarbledAfter, FaultLate, FaultTwice, FaultReversed:
		return false
	}
	return true
}

func modelError(w http.ResponseWriter, status int) {
	answer(w, status, map[string]any{"error": map[string]any{"message": "refused", "type": "server_error", "code": nil, "param": nil}})
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

// fresh is what came after the coach's last words, tool calls aside.
func (ask request) fresh() []message {
	from := len(ask.Messages)
	for from > 1 && (ask.Messages[from-1].Role != "assistant" || len(ask.Messages[from-1].Calls) > 0) {
		from--
	}
	return slices.DeleteFunc(slices.Clone(ask.Messages[from:]), func(one message) bool { return one.Role == "tool" || one.Role == "system" })
}

// wishes are the calls that set the daily prompts which fresh texts ask for and
// no call has set.
func (ask request) wishes(fresh []message, call int64) []any {
	var calls []any
	for _, one := range fresh {
		if len(one.Calls) > 0 {
			calls = nil
		}
		found := daily.FindStringSubmatch(one.Content)
		if found == nil || one.Role != "user" || len(ask.Tools) == 0 {
			continue
		}
		calls = append(calls, map[string]any{
			"id": fmt.Sprintf("call%dx%d", call, len(calls)), "type": "function",
			"function": map[string]string{"name": "scheduler", "arguments": `{"action":"create","type":"fixed","fixed_time":"` + found[1] + `"}`},
		})
	}
	return calls
}
