package rig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"coachline/internal/sim/openai"
	"coachline/internal/wait"
)

const maxBody = 4 << 20

// mark precedes the number of a text, so that the model's answer says up to
// which text it has heard.
const mark = "note no "

// wish is searched in whole requests by its beginning first: the product's are
// longer than the bare workflow's, and the time that a stand-in takes is neither
// side's.
var (
	wish          = regexp.MustCompile(`\bdaily at (\d\d:\d\d)\b`)
	wishBeginning = []byte("daily at ")
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

// greed is in texts to which the model asks for all it may.
const greed = "ask for all that you may"

// page finds an address that a search has given.
var page = regexp.MustCompile(`http://[\w.:]+` + pagePath + `\d+`)

// greedy are the calls of a model that asks for all it may, by tool: the arguments, with
// the number of the call.
var greedy = map[string]string{
	"search_memory": `{"query":"walks of day %d"}`, "web_search": `{"query":"walks of town %d"}`,
	"subagent": `{"task":"` + greed + ` of walk %d"}`, "spawn": `{"task":"` + greed + ` of walk %d","delivery":"user"}`,
	"message": `{"content":"Walk %d is a fine walk."}`, "find_tools": `{"query":"search the web, read a page, ask a helper %d"}`,
}

// GreedyBody is the nth text, for which the model calls tools as long as any are offered,
// as many at once as are read, and then writes more than is sent.
func GreedyBody(n int) string {
	return fmt.Sprintf("%s%d from me: %s: search the web, read the page, text me in between, have a helper look it up.", mark, n, greed)
}

// greedyCalls are more calls of one answer than are read.
const greedyCalls = 20

// answerGreedily returns what a model answers that asks for all it may.
func (m *Model) answerGreedily(body []byte) openai.Answer {
	var ask struct {
		Tools []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	if json.Unmarshal(body, &ask) != nil || len(ask.Tools) == 0 {
		return openai.Answer{Text: heardText(highestHeard(body)) + strings.Repeat(" A walk a day is a fine thing to do.", 60), Prompt: string(body)}
	}
	out := openai.Answer{Prompt: string(body)}
	found := page.FindAll(body, -1)
	for i := 0; len(out.Calls) < greedyCalls && i < greedyCalls*len(ask.Tools); i++ {
		name, n := ask.Tools[i%len(ask.Tools)].Function.Name, m.tools.Add(1)
		arguments := fmt.Sprintf(greedy[name], n)
		if name == "web_fetch" && len(found) > 0 {
			arguments = fmt.Sprintf(`{"url":%q}`, found[i%len(found)])
		} else if greedy[name] == "" {
			continue
		}
		out.Calls = append(out.Calls, openai.ToolCall{ID: "call" + strconv.Itoa(i), Type: "function", Function: openai.Function{Name: name, Arguments: arguments}})
	}
	return out
}

// Model is the stand-in of a model that answers at once, after a delay, or
// not before it is released, with a sentence that names the last text it read.
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

// Handler serves the API.
func (m *Model) Handler() http.Handler {
	return openai.New(openai.Config{OnCall: m.serveCall, Answer: m.answer}).Handler()
}

func (m *Model) serveCall(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	if m.wait(r) {
		next(w, r)
	}
}

// answer reads no more of a request than it must.
func (m *Model) answer(body []byte) (openai.Answer, error) {
	if fine, ok := openai.AnswerAdvice(body); ok {
		return fine, nil
	}
	m.calls.Add(1)
	if bytes.Contains(body, []byte(greed)) {
		return m.answerGreedily(body), nil
	}
	clock := requestedTime(body)
	if clock == "" {
		return openai.Answer{Text: heardText(highestHeard(body))}, nil
	}
	m.tools.Add(1)
	return openai.Answer{Calls: []openai.ToolCall{{ID: "call1", Type: "function", Function: openai.Function{
		Name: "scheduler", Arguments: `{"action":"create","type":"fixed","fixed_time":"` + clock + `"}`,
	}}}}, nil
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
	return wait.For(r.Context(), time.Duration(m.delay.Load())) == nil
}

// highestHeard is the highest number of a text in a request; 0 when it has none.
func highestHeard(body []byte) int {
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

// requestedTime is the time of a daily prompt that the newest message wishes for;
// empty where it does not, or no tools are offered.
func requestedTime(body []byte) string {
	if !bytes.Contains(body, wishBeginning) {
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
