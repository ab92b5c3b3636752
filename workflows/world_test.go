package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"coachline/activities"
	"coachline/internal/agent"
	"coachline/internal/agent/marks"
	"coachline/internal/coach"
	"coachline/internal/dbtest"
	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
	"coachline/workflows"
)

// monday is the fixed start of every test: Monday, 10:00 in New York.
var monday = time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)

const phone = "+12025550123"

// world is one participant in the time-skipping environment, around the real
// rules, tools, prompts and store, with a model and a carrier in memory.
type world struct {
	t       *testing.T
	env     *testsuite.TestWorkflowEnvironment
	store   *store.Store
	model   *model
	carrier *carrier
	rules   *activities.DecisionActivities
	state   wire.ParticipantState
	limits  wire.Limits
	texts   int
	// remembered are the turns after which something was to be remembered.
	remembered []string
	features   []tools.Tool
}

// workerOptions let a machine that is short of processors stop a workflow's
// goroutine for a while: the limit is meant for code that never yields.
var workerOptions = sdkworker.Options{DeadlockDetectionTimeout: time.Minute}

type option func(*world, *coach.Rules)

func newWorld(t *testing.T, opts ...option) *world {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	w := &world{t: t, env: suite.NewTestWorkflowEnvironment(), limits: wire.Limits{Steps: 8, ToolCalls: 5}}
	w.env.SetStartTime(monday)
	w.env.SetTestTimeout(time.Minute)
	w.env.SetWorkerOptions(workerOptions)
	rules := coach.Rules{
		PrepTime: 10 * time.Minute, PromptGrace: 2 * time.Hour, ReminderDelay: 5 * time.Hour,
		AutoFeedbackDelay: 5 * time.Minute, FeedbackTimeout: 15 * time.Minute, FeedbackFollowup: 3 * time.Hour,
		Debounce: 2 * time.Second, DebounceMax: 15 * time.Second,
	}
	w.openStore()
	w.enroll()
	w.model = &model{}
	w.carrier = &carrier{world: w}
	for _, opt := range opts {
		opt(w, &rules)
	}
	w.register(rules)
	return w
}

func (w *world) openStore() {
	key, err := seal.Generate()
	require.NoError(w.t, err)
	ring, err := seal.Parse(key)
	require.NoError(w.t, err)
	w.store, err = store.Open(context.Background(), store.Config{URL: dbtest.SQLite(w.t), Sealer: ring})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { require.NoError(w.t, w.store.Close()) })
}

func (w *world) enroll() {
	p, err := w.store.People.Enroll(context.Background(), models.Participant{
		ID: "conv_1", Phone: phone, PersonTexts: models.PersonTexts[string]{Name: "Ada"}, Timezone: "America/New_York", Channel: wire.ChannelSMS,
		Status: wire.StatusActive, Mode: wire.ModeIntake, EnrolledAt: monday, CreatedAt: monday, UpdatedAt: monday,
	}, "test")
	require.NoError(w.t, err)
	w.state = wire.ParticipantState{
		ParticipantID: p.ID, Zone: p.Timezone, Status: wire.StatusActive, Mode: wire.ModeIntake, Greeted: true,
	}
}

func (w *world) register(rules coach.Rules) {
	registry, err := tools.New(w.features...)
	require.NoError(w.t, err)
	library, err := prompts.Load("")
	require.NoError(w.t, err)
	zones := func(name string) (*time.Location, error) { return time.LoadLocation(name) }
	now := w.env.Now
	w.rules = &activities.DecisionActivities{Rules: rules, Zones: zones, Tools: registry, Calls: w.store.Turns}
	w.env.RegisterActivity(w.rules)
	turns := &activities.TurnLoader{Store: w.store.Turns, Outbox: w.store.Outbox, Recent: activities.NewRecent(), Prompts: library, Programme: "Test", Limits: w.limits}
	posts := &activities.SendActivities{Store: w.store.Outbox, Carrier: w.carrier, Now: now}
	w.env.RegisterActivity(turns)
	memories := w.store.Memory
	replies := agent.New(agent.Config{
		Prompts: library, Model: w.model, Embedder: w.model, Memory: memories, Diary: memories, Journal: memories, Steps: memories,
		Zones: zones, Now: now, Settings: agent.Settings{ChatModel: "test", SmallModel: "small", HistoryLimit: 30,
			Hot: 30 * time.Minute, MemoryStep: agent.MemoryAfter},
	})
	w.env.RegisterActivity(&activities.ModelActivities{Turns: turns, Store: w.store.Turns, Attention: w.store.Attention, Replies: replies, Tools: registry, Rules: w.rules})
	w.env.RegisterActivity(&activities.ToolActivities{Store: w.store.Turns, Outbox: w.store.Outbox, Tools: registry, Model: w.model, Embedder: w.model, Facts: memories,
		Prompts: library, Zones: zones, ModelName: "test", Now: now})
	w.env.RegisterActivity(&activities.TurnEnd{Turns: turns, Posts: posts, Keeper: replies, After: w, Rules: w.rules})
	w.env.RegisterActivity(posts)
	w.env.RegisterActivity(&activities.RemovalActivities{Store: w.store.People})
	w.env.RegisterActivity(&activities.StandingActivities{TakeOvers: w.store.TakeOvers, People: w.store.People})
	w.env.RegisterActivity(&activities.SubagentActivities{Store: w.store.Turns, Tools: registry})
	w.env.RegisterWorkflow(workflows.Participant)
	w.env.RegisterWorkflow(workflows.Subagent)
}

// Remember notes the turns that leave something behind.
func (w *world) Remember(_ context.Context, in wire.RememberInput) error {
	w.remembered = append(w.remembered, in.TurnID)
	return nil
}

// run plays the participant's workflow for a span of simulated time.
func (w *world) run(span time.Duration) {
	w.t.Helper()
	w.env.SetWorkflowRunTimeout(span)
	w.env.ExecuteWorkflow(workflows.Participant, w.state)
	require.True(w.t, w.env.IsWorkflowCompleted())
}

// at does something at an offset from the start.
func (w *world) at(offset time.Duration, do func()) {
	w.env.RegisterDelayedCallback(do, offset)
}

// text delivers an inbound text at an offset, as the starter would.
func (w *world) text(offset time.Duration, body string) {
	w.at(offset, func() { w.env.SignalWorkflow(wire.SignalMessageReceived, w.accept(body)) })
}

// accept stores an inbound text now and returns its signal.
func (w *world) accept(body string) wire.InboxItem {
	w.texts++
	got, err := w.store.Inbound.AcceptInbound(context.Background(), models.Inbound{
		ProviderSID: fmt.Sprintf("SM%032d", w.texts), From: phone, To: "+15017122661", Body: body, ReceivedAt: w.env.Now().UTC(),
	})
	require.NoError(w.t, err)
	require.False(w.t, got.Duplicate)
	return wire.InboxItem{MessageID: got.Inbound.ID, Seq: got.Inbound.Seq, ReceivedAt: got.Inbound.ReceivedAt}
}

// update sends an operator's update at an offset and expects it to be applied.
func (w *world) update(offset time.Duration, name string, args ...any) *updated {
	u := &updated{}
	w.at(offset, func() { w.env.UpdateWorkflow(name, fmt.Sprintf("u-%s-%s", name, offset), u, args...) })
	return u
}

// updated collects what became of an update.
type updated struct {
	rejected error
	err      error
	done     bool
}

func (u *updated) Accept()          {}
func (u *updated) Reject(err error) { u.rejected = err }
func (u *updated) Complete(_ any, err error) {
	u.done, u.err = true, err
}

// continued returns the state passed to the next run; it fails when the
// workflow did not continue as new.
func (w *world) continued() wire.ParticipantState {
	w.t.Helper()
	var next *workflow.ContinueAsNewError
	require.ErrorAs(w.t, w.env.GetWorkflowError(), &next)
	var state wire.ParticipantState
	require.NoError(w.t, converter.GetDefaultDataConverter().FromPayloads(next.Input, &state))
	return state
}

func (w *world) status() wire.StatusView {
	w.t.Helper()
	value, err := w.env.QueryWorkflow(wire.QueryStatus)
	require.NoError(w.t, err)
	var view wire.StatusView
	require.NoError(w.t, value.Get(&view))
	return view
}

// withSchedule gives the participant a fixed daily prompt at a local time,
// with its first slot on a local date at an instant.
func withSchedule(at, date string, target time.Time) option {
	return func(w *world, rules *coach.Rules) {
		slot := wire.Slot{Date: date, TargetAt: target, SendAt: target.Add(-rules.PrepTime)}
		w.state.Schedules = []wire.Schedule{{ID: "sch-1", Type: wire.ScheduleFixed, At: at, Next: slot}}
		w.state.Due = append(w.state.Due, wire.Due{Kind: wire.DueDailyPrompt, At: slot.SendAt, Ref: "sch-1"})
	}
}

func withRules(change func(*coach.Rules)) option {
	return func(_ *world, rules *coach.Rules) { change(rules) }
}

// sent is one text that reached the carrier.
type sent struct {
	At   time.Time
	Kind models.EntryKind
	Body string
}

// carrier takes texts and remembers them; refuse decides about each.
type carrier struct {
	world  *world
	mu     sync.Mutex
	sent   []sent
	refuse func(sms models.SMS) error
	// dialing is called while the connection is established, before the last check.
	dialing func(row models.Outbox)
}

func (c *carrier) Send(ctx context.Context, sms models.SMS) (models.Receipt, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	row, err := c.world.store.Outbox.Row(ctx, sms.OutboxID)
	if c.dialing != nil {
		c.dialing(row)
	}
	if err := errors.Join(err, sms.MayWrite(ctx)); err != nil {
		return models.Receipt{}, err
	}
	if c.refuse != nil {
		if err := c.refuse(sms); err != nil {
			return models.Receipt{}, err
		}
	}
	c.sent = append(c.sent, sent{At: c.world.env.Now().UTC(), Kind: row.Kind, Body: sms.Body})
	return models.Receipt{ProviderSID: fmt.Sprintf("SM%032x", len(c.sent)), Status: wire.OutboxQueued}, nil
}

func (c *carrier) Find(context.Context, models.SMS, time.Duration) (models.Lookup, error) {
	return models.Lookup{At: c.world.env.Now()}, nil
}

// kinds lists what was sent, in order.
func (c *carrier) kinds() []models.EntryKind {
	c.mu.Lock()
	defer c.mu.Unlock()
	kinds := []models.EntryKind{}
	for _, s := range c.sent {
		kinds = append(kinds, s.Kind)
	}
	return kinds
}

func (c *carrier) of(kind models.EntryKind) []sent {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []sent
	for _, s := range c.sent {
		if s.Kind == kind {
			out = append(out, s)
		}
	}
	return out
}

// model answers from a script: the first rule whose text occurs in the newest
// user message gives the steps; everything else is answered "ok: <text>".
type model struct {
	mu       sync.Mutex
	requests []models.ChatRequest
	answer   func(req models.ChatRequest) (models.ChatResponse, error)
}

func (m *model) Complete(_ context.Context, req models.ChatRequest) (models.ChatResponse, error) {
	if strings.HasPrefix(req.Messages[0].Content, "Judge a text before") {
		return say(`{"verdict":"fine","kind":"other"}`), nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, req)
	if m.answer != nil {
		return m.answer(req)
	}
	return say(echo(lastUser(req))), nil
}

// Embed knows no text that is like another one.
func (m *model) Embed(_ context.Context, texts []string) ([][]float32, error) {
	return nil, fmt.Errorf("no vectors for %d texts", len(texts))
}

func (m *model) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.requests)
}

func say(text string) models.ChatResponse { return models.ChatResponse{Text: text, Model: "test"} }

func call(name string, args any) models.ToolCall {
	text, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return models.ToolCall{ID: "call_" + name, Name: name, Arguments: string(text)}
}

// lastUser is the newest text of the person in a request: texts that follow each other
// are one message there.
func lastUser(req models.ChatRequest) string {
	for i := len(req.Messages) - 1; i >= 0; i-- {
		if req.Messages[i].Role == "user" {
			texts := strings.Split(withoutTimes(req.Messages[i].Content), "\n\n")
			return texts[len(texts)-1]
		}
	}
	return ""
}

// wholeText returns all that a request says.
func wholeText(req models.ChatRequest) string {
	var all []string
	for _, message := range req.Messages {
		all = append(all, message.Content)
	}
	return strings.Join(all, "\n")
}

// withoutTimes leaves out when a text was written, which stands before it, and the notes
// behind it.
func withoutTimes(content string) string {
	words, _, _ := strings.Cut(content, marks.Notes)
	return timeBefore.ReplaceAllString(words, "")
}

var timeBefore = regexp.MustCompile(`(?m)^\[(?:asked [^\]\n]*; )?\w{3} \d{4}-\d\d-\d\d[^\]\n]*\] `)

// echo answers a text with its letters: a reply that repeats the person's words is
// refused.
func echo(words string) string { return "ok: " + strings.ReplaceAll(words, " ", "") }

// prose is a text of many different words, in sentences of eight.
func prose(words int) string {
	var out strings.Builder
	for i := range words {
		word := ""
		for n := i + 400; n > 0; n /= 20 {
			word += "bdfglmnprt"[n%10:n%10+1] + "ao"[n/10%2:n/10%2+1]
		}
		switch i % 8 {
		case 0:
			word = strings.ToUpper(word[:1]) + word[1:]
		case 7:
			word += "."
		}
		out.WriteString(word + " ")
	}
	return strings.TrimSpace(out.String())
}

// toolsDone counts the tool results behind the newest user message.
func toolsDone(req models.ChatRequest) int {
	n := 0
	for i := len(req.Messages) - 1; i >= 0 && req.Messages[i].Role != "user"; i-- {
		if req.Messages[i].Role == "tool" {
			n++
		}
	}
	return n
}

// scripted calls tools on a key word and speaks once their results are there.
func scripted(script map[string][]models.ToolCall) func(models.ChatRequest) (models.ChatResponse, error) {
	return func(req models.ChatRequest) (models.ChatResponse, error) {
		words := lastUser(req)
		for key, calls := range script {
			if strings.Contains(words, key) && toolsDone(req) == 0 && len(req.Tools) > 0 {
				return models.ChatResponse{Calls: calls, Model: "test"}, nil
			}
		}
		return say(echo(words)), nil
	}
}
