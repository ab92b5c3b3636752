package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"coachline/internal/seal"
	"coachline/models"
	"coachline/models/wire"
)

const (
	ada  = "+12025550123"
	soon = 30 * time.Second
)

// shown is one text on a phone.
type shown struct {
	Direction string `json:"direction"`
	Body      string `json:"body"`
	Status    string `json:"status"`
}

// person is a simulated person with a phone.
type person struct {
	t      *testing.T
	r      *running
	number string
	id     string
	seen   int // texts from the coach that were looked at
}

// received lists what the coach sent to the phone.
func (p *person) received() []string {
	var page struct {
		Messages []shown `json:"messages"`
	}
	status := getJSON(p.t, p.sim("/messages"), &page)
	if status != http.StatusOK {
		return nil
	}
	var bodies []string
	for _, m := range page.Messages {
		if m.Direction == "to_phone" {
			bodies = append(bodies, m.Body)
		}
	}
	return bodies
}

func (p *person) sim(path string) string {
	return strings.TrimSuffix(p.r.table["Phones"], "/") + "/phones/" + url.PathEscape(p.number) + path
}

// next waits for the next text on the phone.
func (p *person) next(within time.Duration) string {
	p.t.Helper()
	require.Eventually(p.t, func() bool { return len(p.received()) > p.seen }, within, 50*time.Millisecond,
		"nothing new on the phone; it shows %q\n%s", p.received(), p.r.log)
	p.seen++
	return p.received()[p.seen-1]
}

// says texts the coach and returns the answer.
func (p *person) says(body string) string {
	p.t.Helper()
	p.text(body)
	return p.next(soon)
}

func (p *person) text(body string) {
	p.t.Helper()
	status, body := send(p.t, http.MethodPost, p.sim("/messages"), map[string]any{"body": body})
	require.Equal(p.t, http.StatusAccepted, status, body)
}

// state is the API's view of the person.
type state struct {
	Mode     string `json:"mode"`
	Status   string `json:"status"`
	Profile  map[string]any
	Counters struct {
		SuccessCount int `json:"success_count"`
		TotalPrompts int `json:"total_prompts"`
	} `json:"counters"`
	Schedules []struct {
		ID string `json:"id"`
	} `json:"schedules"`
	Due []wire.Due `json:"due"`
}

func (p *person) api(path string) string {
	return p.r.table["API"] + "/conversation/participants/" + p.id + path
}

func (p *person) state() state {
	p.t.Helper()
	var out struct {
		Result state `json:"result"`
	}
	require.Equal(p.t, http.StatusOK, getJSON(p.t, p.api("/state"), &out))
	return out.Result
}

// becomes waits until the API shows what is expected.
func (p *person) becomes(what string, is func(state) bool) {
	p.t.Helper()
	require.Eventually(p.t, func() bool { return is(p.state()) }, soon, 100*time.Millisecond, what)
}

func getJSON(t *testing.T, address string, into any) int {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		return 0 // The system restarts; the caller asks again.
	}
	defer func() { require.NoError(t, resp.Body.Close()) }()
	require.NoError(t, json.NewDecoder(resp.Body).Decode(into), address)
	return resp.StatusCode
}

func send(t *testing.T, method, address string, body any) (int, string) {
	t.Helper()
	text, err := json.Marshal(body)
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), method, address, bytes.NewReader(text))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(answer)
}

// enroll adds the person, who signs up themselves, and returns the status.
func (p *person) enroll(name, zone string) int {
	p.t.Helper()
	return p.enrollAs(map[string]any{"name": name, "timezone": zone, "signup": true})
}

// enrollAs adds the person with the fields given.
func (p *person) enrollAs(fields map[string]any) int {
	p.t.Helper()
	fields["phone_number"] = p.number
	status, body := send(p.t, http.MethodPost, p.r.table["API"]+"/conversation/participants", fields)
	var out struct {
		Result struct {
			ID string `json:"id"`
		} `json:"result"`
	}
	require.NoError(p.t, json.Unmarshal([]byte(body), &out))
	if status == http.StatusCreated {
		p.id = out.Result.ID
	}
	return status
}

// asks queries the person's workflow as an operator's tool would, with the
// key of the data folder.
func (p *person) asks() wire.StatusView {
	p.t.Helper()
	folder, _, _ := strings.Cut(p.r.table["Data"], " ")
	key, err := os.ReadFile(filepath.Join(folder, keyFile))
	require.NoError(p.t, err)
	ring, err := seal.Parse(strings.TrimSpace(string(key)))
	require.NoError(p.t, err)
	c, err := client.Dial(client.Options{
		HostPort:      p.r.table["Temporal gRPC"],
		DataConverter: converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), ring.Codec()),
	})
	require.NoError(p.t, err)
	defer c.Close()
	value, err := c.QueryWorkflow(context.Background(), models.WorkflowID(p.id), "", wire.QueryStatus)
	require.NoError(p.t, err)
	var view wire.StatusView
	require.NoError(p.t, value.Get(&view))
	return view
}

// TestWholeConversation walks one participant through everything, over real HTTP on all
// sides and a real Temporal server, with a stop and a start in the middle.
func TestWholeConversation(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	began := time.Now()
	// The chosen minute is four minutes away, and the preparation time such
	// that the prompt falls due 40 seconds from now.
	target := began.Add(4 * time.Minute).Truncate(time.Minute)
	dueAt := began.Add(40 * time.Second)
	environ := []string{
		"COACH_PREP_TIME=" + target.Sub(dueAt).Truncate(time.Second).String(),
		"COACH_PROMPT_SPREAD=0", "COACH_DEBOUNCE=100ms", "COACH_AUTO_FEEDBACK_DELAY=2s", "COACH_FEEDBACK_TIMEOUT=0",
		"COACH_REMINDER_DELAY=6s", "COACH_QUIET_HOURS=", "COACH_MAX_INITIATED_PER_DAY=0",
	}
	data := filepath.Join(t.TempDir(), "data")
	p := &person{t: t, number: ada, r: launchIn(t, environ, "--data", data)}

	require.Equal(t, http.StatusCreated, p.enroll("Ada", "America/New_York"))
	require.Equal(t, http.StatusConflict, p.enroll("Ada again", "America/New_York"))
	greeting := p.next(soon)
	require.Contains(t, greeting, "Ada")
	require.Contains(t, greeting, "STOP")

	require.Contains(t, p.says("hi"), "habit")
	p.says("a short walk")
	p.says("more energy")
	p.says(target.In(zone).Format("15:04"))
	require.Contains(t, p.says("my morning coffee"), "every day")
	require.Contains(t, p.says("yes"), target.In(zone).Format("15:04"))
	s := p.state()
	require.Equal(t, "INTAKE", s.Mode)
	require.Len(t, s.Schedules, 1)
	require.Equal(t, "a short walk", s.Profile["habit_domain"])
	require.Equal(t, wire.DueDailyPrompt, s.Due[0].Kind)
	require.WithinDuration(t, dueAt, s.Due[0].At, 2*time.Second)

	// Ctrl-C in the middle; the same data again.
	require.NoError(t, p.r.stop())
	p.r = launchIn(t, environ, "--data", data)

	prompt := p.next(soon + time.Until(dueAt))
	require.Contains(t, prompt, "coffee")
	p.becomes("feedback mode without an answer", func(s state) bool { return s.Mode == "FEEDBACK" })
	view := p.asks()
	require.NotNil(t, view.Pending)
	require.Equal(t, []wire.DueKind{wire.DueReminder, wire.DueDailyPrompt}, kinds(view.Due))
	require.WithinDuration(t, dueAt.Add(24*time.Hour), view.Due[1].At, 2*time.Second, "tomorrow's, the same minute")
	require.Contains(t, p.says("done"), strings.TrimSuffix(prompt, "."), "the model knows what was sent")
	p.becomes("counted once, back to intake", func(s state) bool {
		return s.Mode == "INTAKE" && s.Counters.SuccessCount == 1 && s.Counters.TotalPrompts == 1
	})

	// A new schedule for the same minute, still ahead: its prompt goes out at
	// once, and the person does not answer it.
	require.Contains(t, p.says("cancel my schedule"), "eleted")
	p.says("what next?")
	p.says("yes")
	second := p.next(soon)
	require.Contains(t, second, "coffee")
	reminder := p.next(soon)
	require.NotEqual(t, second, reminder)
	require.Nil(t, p.asks().Pending)

	p.leaves()
	history := struct{ Result any }{}
	require.Equal(t, http.StatusNotFound, getJSON(t, p.api("/history"), &history))
}

func kinds(due []wire.Due) []wire.DueKind {
	var out []wire.DueKind
	for _, d := range due {
		out = append(out, d.Kind)
	}
	return out
}

// leaves removes the person and expects one notice and nothing after it.
func (p *person) leaves() {
	p.t.Helper()
	status, body := send(p.t, http.MethodDelete, p.api(""), nil)
	require.Equal(p.t, http.StatusOK, status, body)
	p.next(soon)
	require.Eventually(p.t, func() bool { return p.asks().Ended }, soon, 100*time.Millisecond)
	status, _ = send(p.t, http.MethodDelete, p.api(""), nil)
	require.Equal(p.t, http.StatusNotFound, status)
	require.Empty(p.t, p.asks().Due)
	require.Len(p.t, p.received(), p.seen)
}

func TestSixteenEnrolmentsOfOnePhone(t *testing.T) {
	t.Parallel()
	r := launchIn(t, nil, "--ephemeral")
	p := &person{t: t, number: ada, r: r}
	statuses := make([]int, 16)
	people := make([]*person, 16)
	var wg sync.WaitGroup
	for i := range statuses {
		people[i] = &person{t: t, number: ada, r: r}
		wg.Go(func() { statuses[i] = people[i].enroll(fmt.Sprint("Ada ", i), "UTC") })
	}
	wg.Wait()
	counts := map[int]int{}
	for i, status := range statuses {
		counts[status]++
		if status == http.StatusCreated {
			p.id = people[i].id
		}
	}
	require.Equal(t, map[int]int{http.StatusCreated: 1, http.StatusConflict: 15}, counts)
	p.next(soon)
	require.Equal(t, 1, p.asks().Turns)
	c := dialTemporal(t, r)
	require.Eventually(t, func() bool {
		n, err := c.CountWorkflow(t.Context(), countParticipants())
		return err == nil && n.GetCount() == 1
	}, soon, 100*time.Millisecond)
	require.Len(t, p.received(), 1, "one greeting")
}

// TestNobodyWaitsForAnother: a model call that hangs for one person holds up no
// other person.
func TestNobodyWaitsForAnother(t *testing.T) {
	t.Parallel()
	r := launchIn(t, []string{"COACH_DEBOUNCE=0"}, "--ephemeral")
	slow := &person{t: t, number: "+12025550101", r: r}
	quick := &person{t: t, number: "+12025550102", r: r}
	for _, p := range []*person{slow, quick} {
		require.Equal(t, http.StatusCreated, p.enroll("", "UTC"))
		p.next(soon)
	}
	status, body := send(t, http.MethodPost, strings.TrimSuffix(r.table["Phones"], "/")+"/faults",
		map[string]any{"target": "model", "kind": "hang", "count": 1})
	require.Less(t, status, 300, body)
	slow.text("hello")
	require.Eventually(t, func() bool { return slow.asks().InTurn }, soon, 50*time.Millisecond)
	quick.says("hello")
	require.Len(t, slow.received(), 1, "still only the greeting")
}
