package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"coachline/dev/temporal"
	"coachline/internal/cli"
	"coachline/internal/sim/openai"
)

// twoDays is a conversation of two local days with what is optional turned on.
type twoDays struct {
	*world
	t                     *testing.T
	ada                   *player
	isDown                atomic.Bool // the first server of models
	asked                 atomic.Bool // a check-in read HEARTBEAT.md
	dumped, ended, person atomic.Bool
	intake, feedback      atomic.Int64
	stages                sync.Map
	told                  []string // what commands said, by instant
}

// answer is the scripted model: it fails while it is down, and writes data where it is asked to.
func (d *twoDays) answer(isFirst bool) func([]byte) (openai.Answer, error) {
	return func(body []byte) (openai.Answer, error) {
		if isFirst && d.isDown.Load() {
			return openai.Answer{}, errors.New("the first server is down")
		}
		text := string(body)
		d.count(body, text)
		if strings.Contains(text, "# Task: check-in") && strings.Contains(text, "Ask of the weather.") {
			d.asked.Store(true)
		}
		if strings.Contains(text, "# Mode: ") && strings.Contains(lastWords(body), "show me everything as data") && !d.dumped.Swap(true) {
			return openai.Answer{Text: `{"participant":{"name":"Ada","mode":"INTAKE","profile":{"habit_domain":"a short walk"}}}`}, nil
		}
		if strings.Contains(text, "# Mode: ") && strings.Contains(lastWords(body), "bye for now") && !d.ended.Swap(true) {
			return openai.Answer{Calls: []openai.ToolCall{{ID: "bye", Type: "function", Function: openai.Function{Name: "end_exchange", Arguments: "{}"}}}}, nil
		}
		return openai.FollowScript(body)
	}
}

// stages are what a model is told of the collecting of feedback.
var stages = []string{
	"How it went is not known yet.", "They did it; that is saved.", "How it went and what got in the way are saved.",
	"Missing: prompt_anchor",
}

// count notes what of the person a prompt is made from, and how many entries a mode reads.
func (d *twoDays) count(body []byte, text string) {
	ask, err := openai.ReadRequest(body)
	if err != nil {
		return
	}
	if strings.Contains(text, "# Task: habit prompt") && strings.Contains(text, "woman") && strings.Contains(text, "Boston") && strings.Contains(text, "Nurse on day shifts") {
		d.person.Store(true)
	}
	for _, stage := range stages {
		if strings.Contains(text, "# Mode: FEEDBACK") && strings.Contains(text, stage) {
			d.stages.Store(stage, true)
		}
	}
	for mode, most := range map[string]*atomic.Int64{"# Mode: INTAKE": &d.intake, "# Mode: FEEDBACK": &d.feedback} {
		if !strings.Contains(text, mode) {
			continue
		}
		n := int64(0)
		for _, m := range ask.Messages {
			if m.Role == "user" || m.Role == "assistant" && len(m.ToolCalls) == 0 {
				n++
			}
		}
		most.Store(max(most.Load(), n))
	}
}

func lastWords(body []byte) string {
	ask, err := openai.ReadRequest(body)
	if err != nil {
		return ""
	}
	for i := len(ask.Messages) - 1; i >= 0; i-- {
		if ask.Messages[i].Role == "user" {
			return string(ask.Messages[i].Content)
		}
	}
	return ""
}

// clockServer is a server of the SDK that tells the time of a city.
func clockServer(t *testing.T) *httptest.Server {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "clock"}, nil)
	type city struct {
		City string `json:"city"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "cityTime", Description: "Tell the time of a city."}, func(_ context.Context, _ *mcp.CallToolRequest, in city) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "It is noon in " + in.City + "."}}}, nil, nil
	})
	server := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(server.Close)
	return server
}

// run has a command of operators printed beside the conversation.
func (d *twoDays) run(args ...string) string {
	var out bytes.Buffer
	code := cli.Run(d.ctx, cli.Process{In: strings.NewReader(""), Out: &out, Err: &out, Environ: append([]string{"COACH_URL=" + d.api}, d.environ...)}, args)
	said := strings.TrimSpace(out.String())
	d.note("$ coachline "+strings.Join(args, " "), fmt.Sprintf("(%d)\n%s", code, said))
	return said
}

// chat opens the channel of a tester; the end of it is waited for.
func (d *twoDays) chat() (*bytes.Buffer, func()) {
	var out bytes.Buffer
	in, lines := io.Pipe()
	ended := make(chan int)
	go func() {
		ended <- cli.Run(d.ctx, cli.Process{In: in, Out: &out, Err: &out, Environ: append([]string{"COACH_URL=" + d.api}, d.environ...)},
			[]string{"chat", "--phone", d.ada.Phone, "--channel", "chat", "--wait", "10s"})
	}()
	_, err := fmt.Fprintln(lines, "is anybody there?")
	require.NoError(d.t, err)
	return &out, func() {
		require.NoError(d.t, lines.Close())
		<-ended
	}
}

func (d *twoDays) newest() string {
	all, err := d.list(`SELECT id FROM turns ORDER BY started_at DESC LIMIT 1`)
	require.NoError(d.t, err)
	return all[0]
}

func (d *twoDays) note(what, said string) {
	d.told = append(d.told, fmt.Sprintf("%s %s\n%s", d.now().In(d.ada.zone).Format("Mon 15:04"), what, said))
}

func (d *twoDays) metrics(addr string) string {
	res, err := http.Get("http://" + addr + "/metrics")
	require.NoError(d.t, err)
	defer res.Body.Close()
	var b bytes.Buffer
	_, err = b.ReadFrom(res.Body)
	require.NoError(d.t, err)
	return strings.Join(regexp.MustCompile(`(?m)^coachline_(tool_runs|mode_changes)_total.*$`).FindAllString(b.String(), -1), "\n")
}

// TestTwoDays plays what docs/people.md shows; TWO_DAYS names a file for all of it.
func TestTwoDays(t *testing.T) {
	t.Parallel()
	out := os.Getenv("TWO_DAYS")
	personas, err := loadPersonas([]string{"keen"})
	require.NoError(t, err)
	p := personas[0]
	p.Life, p.Answers, p.Typos, p.Burst, p.Writes, p.Delay = nil, nil, 0, 0, 0, time.Minute
	p.Intake[2].text = "it clears my head"
	dir := t.TempDir()
	begin, err := time.Parse(time.RFC3339, begins)
	require.NoError(t, err)
	d := &twoDays{t: t}
	write := func(name string, value any) string {
		text, isText := value.(string)
		if !isText {
			encoded, err := json.Marshal(value)
			require.NoError(t, err)
			text = string(encoded)
		}
		file := dir + "/" + name
		require.NoError(t, os.MkdirAll(file[:strings.LastIndex(file, "/")], 0o700))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	write("prompts/SOUL.md", "Be warm.")
	write("prompts/HEARTBEAT.md", "Ask of the weather.")
	clock := clockServer(t)
	c := newCoach(personas)
	second := httptest.NewServer(openai.New(openai.Config{Answer: d.answer(false)}).Handler())
	t.Cleanup(second.Close)
	port, err := temporal.FreePort()
	require.NoError(t, err)
	metrics := fmt.Sprintf("127.0.0.1:%d", port)
	in, err := install(t.Context(), dir, begin, d.answer(true),
		"COACH_LOG_LEVEL=info", "COACH_FOCUSES=on", "COACH_PROMPTS_DIR="+dir+"/prompts", "COACH_CHECK_IN=12h", "COACH_HISTORY_LIMIT=20", "COACH_FEEDBACK_HISTORY_LIMIT=10",
		"COACH_REMINDER_DELAY=-1m", "COACH_METRICS_ADDR="+metrics, "COACH_WEB_ALLOW="+strings.TrimPrefix(clock.URL, "http://"),
		"COACH_MCP_FILE="+write("mcp.json", map[string]any{"servers": []any{map[string]any{"name": "clock", "url": clock.URL, "tools": []any{map[string]any{"name": "cityTime", "keywords": "clock time"}}}}}),
		"COACH_SECOND_MODEL_FILE="+write("second.json", map[string]string{"url": second.URL + "/v1", "key_file": write("key", "second"), "model": "second-big", "small_model": "second-small"}))
	require.NoError(t, err)
	d.world = &world{installation: in, ctx: t.Context(), coach: c, begin: begin, end: begin.AddDate(0, 0, 3), days: 3, out: os.Stderr, builds: 1, marked: begin, began: time.Now(), alerted: map[string]bool{}, spent: map[string]time.Duration{}}
	t.Cleanup(func() { require.NoError(t, in.close()) })
	x, err := newPlayer(p, 1, begin)
	require.NoError(t, err)
	d.ada, d.people = x, []*player{x}
	do := func(day int, clock string, do func()) {
		x.add(deed{at: x.instant(day, clock), do: func() error {
			if err := d.move([]*player{x}, d.now()); err != nil && x.id != "" {
				return err
			}
			do()
			return errors.Join(d.quiet(), d.move([]*player{x}, d.now()))
		}})
	}
	says := func(day int, clock, text string) {
		x.add(deed{at: x.instant(day, clock), says: words{text: text, means: text}})
	}
	x.add(deed{at: x.instant(0, "12:10"), do: func() error {
		var added struct {
			ID string `json:"id"`
		}
		require.NoError(t, d.call(t.Context(), http.MethodPut, d.api+"/studies/default", map[string]any{"settings": map[string]any{"history_limit": 12, "feedback_history_limit": 6}}, nil))
		d.run("study", "show", "default")
		err := d.call(t.Context(), http.MethodPost, d.api+"/conversation/participants", map[string]any{
			"phone_number": x.Phone, "name": "Ada", "location": "Boston", "timezone": x.Who.Zone, "locale": "en-US", "background": x.Who.Background, "gender": "woman", "tester": true, "debug": true, "signup": true,
		}, &added)
		x.id = added.ID
		return errors.Join(err, d.quiet(), d.move([]*player{x}, d.now()))
	}})
	do(0, "14:00", func() {
		d.run("doctor")
		var settings json.RawMessage
		require.NoError(t, d.call(t.Context(), http.MethodGet, d.api+"/settings", nil, &settings))
		d.note("GET /settings", string(settings))
	})
	do(0, "15:22", func() { d.run("turn", d.newest()) })
	says(0, "15:00", "I live in Boston")
	says(0, "15:10", `what does the clock say? call the tool mcp_clock_cityTime with {"city":"Boston"}`)
	says(0, "15:20", "show me everything as data")
	says(0, "15:30", "give me a prompt")
	do(0, "17:40", func() { d.run("timers", x.id) })
	says(0, "18:00", "not today, it rained and I skipped it")
	do(0, "18:02", func() { d.run("timers", x.id); d.run("turn", d.newest()) })
	says(0, "18:15", `what did I say about rain? call the tool search_memory with {"query":"rain"}`)
	says(0, "18:20", "can you text me at 18:15 instead")
	do(0, "18:16", func() { d.run("turn", d.newest()) })
	do(0, "18:22", func() { d.run("schedule", "list", x.id) })
	do(1, "08:30", func() { d.run("transcript", x.id) })
	says(1, "11:50", "where do I live?")
	says(1, "12:00", `why did I want this? call the tool search_memory with {"query":"my head"}`)
	do(1, "12:01", func() { clock.CloseClientConnections(); clock.Close() })
	says(1, "12:02", `and now? call the tool mcp_clock_cityTime with {"city":"Boston"}`)
	do(1, "12:05", func() { d.isDown.Store(true) })
	says(1, "12:06", "the sun is out")
	do(1, "12:07", func() { d.isDown.Store(false); d.run("turn", d.newest()) })
	do(1, "12:10", func() {
		require.NoError(t, d.call(t.Context(), http.MethodPost, d.api+"/conversation/participants/"+x.id+"/takeover", map[string]any{"reason": "shows the name"}, nil))
	})
	do(1, "12:11", func() {
		said, ended := d.chat()
		require.NoError(t, d.call(t.Context(), http.MethodPost, d.api+"/conversation/participants/"+x.id+"/messages", map[string]any{"body": "Hello Ada, I am Dana."}, nil))
		ended()
		d.note("$ coachline chat --channel chat", said.String())
	})
	do(1, "12:12", func() { d.run("transcript", x.id, "--limit", "3") })
	do(1, "12:13", func() {
		require.NoError(t, d.call(t.Context(), http.MethodDelete, d.api+"/conversation/participants/"+x.id+"/takeover", map[string]any{}, nil))
	})
	says(1, "18:30", `another cue, please: call the tool save_user_profile with {"prompt_anchor":null}`)
	says(1, "18:35", `call the tool save_user_profile with {"prompt_anchor":"after my soup"}`)
	says(1, "18:40", "done, in the dry")
	do(1, "18:41", func() { d.run("timers", x.id) })
	says(1, "18:43", "I slipped last week")
	says(1, "18:45", "bye for now")
	do(1, "18:46", func() { d.run("turn", d.newest()); d.note("metrics", d.metrics(metrics)) })
	says(1, "18:50", "one thing more")
	do(1, "18:51", func() { require.NotContains(t, d.run("turn", d.newest()), "focus setback", "it went with the end") })
	says(1, "18:55", "STOP")
	says(1, "19:00", "START")
	says(1, "19:05", "hello again")
	do(1, "19:06", func() { require.NotContains(t, d.run("turn", d.newest()), "focus setback", "it went with the end") })
	do(1, "19:07", func() { d.run("participant", "export", x.id, "--out", dir+"/export.zip") })
	err = d.until(x.instant(1, "23:00"))
	require.NoError(t, d.writeTranscripts())
	text, _ := os.ReadFile(d.file("keen.txt"))
	log, _ := os.ReadFile(d.file("log"))
	if out != "" {
		require.NoError(t, os.WriteFile(out, fmt.Appendf(nil, "%s\n\n%s\n\nheartbeat %v person %v intake %d feedback %d\n\n%s", text, strings.Join(d.told, "\n\n"), d.asked.Load(), d.person.Load(), d.intake.Load(), d.feedback.Load(), log), 0o600))
	}
	require.NoError(t, err)
	for _, want := range []string{
		"missing: habit_domain, motivational_frame", "missing: none", "successes 1 of 2 prompts", "generate_habit_prompt ok", "mcp_clock_cityTime ok", "mcp_clock_cityTime failed",
		"The tool says: It is noon in Boston.", "You told me on 2030-01-07: You live in Boston.", "not today, it rained and I skipped it (message-", "it clears my head (message-",
		"Done. You get a text every day at 18:15 ", "coach, check in: ",
	} {
		require.Contains(t, string(text), want)
	}
	require.NotContains(t, string(text), `{"participant"`, "no text holds the raw data")
	require.NotContains(t, string(text), "sch-")
	told := strings.Join(d.told, "\n")
	for _, want := range []string{
		`"playbooks":[{"name":`, "second server", "focus setback model", "focus setback previous", "team (operator):", "mcp clock      ok", "2 workspace (SOUL, HEARTBEAT)", "2 focuses (habit, setback)",
		`mode_changes_total{mode="feedback"} 2`, `tool_runs_total{result="ok",tool="end_exchange"} 1`,
	} {
		require.Contains(t, told, want)
	}
	require.Regexp(t, "(?s)feedback +asked.*feedback +done", told)
	for _, stage := range stages {
		_, isTold := d.stages.Load(stage)
		require.True(t, isTold, stage)
	}
	require.Regexp(t, "tool ran turn=.* tool=scheduler failed=false milliseconds=", string(log))
	require.NotContains(t, told, " reminder ", "its delay is negative")
	require.True(t, d.asked.Load() && d.person.Load(), "HEARTBEAT.md, gender, place and background are read")
	require.LessOrEqual(t, d.intake.Load(), int64(21))
	require.LessOrEqual(t, d.feedback.Load(), int64(11))
}
