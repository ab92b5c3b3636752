package workflows_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"coachline/activities"
	"coachline/dev/temporal"
	"coachline/internal/agent"
	"coachline/internal/coach"
	"coachline/internal/dbtest"
	"coachline/internal/metrics"
	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
	"coachline/starter/relay"
	"coachline/workflows"
)

// patience is the longest wait for what a real server does at once.
const patience = 30 * time.Second

// serverFixture is people on a real Temporal server, around the real rules,
// tools, prompts, store and relay, with a model and a carrier in memory and the
// clock of the machine.
type serverFixture struct {
	t      *testing.T
	ctx    context.Context
	client client.Client
	ring   *seal.Ring
	// key is the ring's, address the server's.
	key, address string
	store        *store.Store
	relay        *relay.Relay
	model        *fixedModel
	post         *countingCarrier
	rules        coach.Rules
	limits       wire.Limits
	quiet        *slog.Logger

	// letters are the outbox rows of operators' messages.
	letters sync.Map
	// fired counts the texts of fire.
	fired atomic.Int64
	mu    sync.Mutex
	texts int
}

// newServerFixture starts a server of its own; change may set rules and limits.
func newServerFixture(t *testing.T, change func(*serverFixture)) *serverFixture {
	t.Helper()
	n := &serverFixture{t: t, ctx: t.Context(), model: &fixedModel{}, quiet: slog.New(slog.DiscardHandler),
		limits: wire.Limits{Steps: 8, ToolCalls: 5}, rules: coach.Rules{}}
	if change != nil {
		change(n)
	}
	var err error
	n.key, err = seal.Generate()
	require.NoError(t, err)
	n.ring, err = seal.Parse(n.key)
	require.NoError(t, err)
	n.store, err = store.Open(n.ctx, store.Config{URL: dbtest.SQLite(n.t), Sealer: n.ring})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.store.Close()) })
	n.post = &countingCarrier{store: n.store}
	server, err := temporal.Start(n.ctx, temporal.Config{UIPort: temporal.NoUI})
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	n.address = server.Address()
	n.client = n.dial(n.address, n.ring)
	counted, err := metrics.New(metrics.Config{Logger: n.quiet})
	require.NoError(t, err)
	n.relay = relay.New(relay.Config{Store: relay.StoreOf(n.store), Engine: n.client, Logger: n.quiet, Now: time.Now, Metrics: counted})
	t.Cleanup(func() { n.relay.Stop(context.Background()) })
	return n
}

func (n *serverFixture) dial(address string, ring *seal.Ring) client.Client {
	n.t.Helper()
	c, err := client.Dial(client.Options{
		HostPort: address, Logger: log.NewStructuredLogger(n.quiet),
		DataConverter: converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), ring.Codec()),
	})
	require.NoError(n.t, err)
	n.t.Cleanup(c.Close)
	return c
}

// work starts the three workers of a process and returns what stops them.
func (n *serverFixture) work(c client.Client, options worker.Options) (stop func()) {
	n.t.Helper()
	registry, err := tools.New()
	require.NoError(n.t, err)
	library, err := prompts.Load("")
	require.NoError(n.t, err)
	memories := n.store.Memory
	replies := agent.New(agent.Config{
		Prompts: library, Model: n.model, Embedder: n.model, Memory: memories, Diary: memories, Journal: memories, Steps: memories,
		Zones: time.LoadLocation, Now: time.Now, Settings: agent.Settings{ChatModel: "gpt-4.1", SmallModel: "small", HistoryLimit: 30,
			Hot: 30 * time.Minute, MemoryStep: agent.MemoryOff},
	})
	turns := &activities.TurnLoader{Store: n.store.Turns, Outbox: n.store.Outbox, Recent: activities.NewRecent(), Prompts: library, Programme: "Test", Limits: n.limits}
	posts := &activities.SendActivities{Store: n.store.Outbox, Carrier: n.post, Now: time.Now}
	options.DisableRegistrationAliasing = true
	coachWorker := worker.New(c, wire.QueueCoach, options)
	coachWorker.RegisterWorkflowWithOptions(workflows.Participant, workflow.RegisterOptions{Name: wire.WorkflowType})
	decisions := &activities.DecisionActivities{Rules: n.rules, Zones: time.LoadLocation, Tools: registry, Calls: n.store.Turns}
	coachWorker.RegisterActivity(decisions)
	coachWorker.RegisterActivity(turns)
	coachWorker.RegisterActivity(&activities.ToolActivities{Store: n.store.Turns, Outbox: n.store.Outbox, Tools: registry, Model: n.model, Embedder: n.model, Facts: memories,
		Prompts: library, Zones: time.LoadLocation, ModelName: "test", Now: time.Now})
	coachWorker.RegisterActivity(&activities.ModelActivities{Turns: turns, Store: n.store.Turns, Attention: n.store.Attention, Replies: replies, Tools: registry, Rules: decisions})
	coachWorker.RegisterActivity(&activities.TurnEnd{Turns: turns, Posts: posts, Keeper: replies, After: noMemory{}, Rules: decisions})
	coachWorker.RegisterActivity(posts)
	require.NoError(n.t, coachWorker.Start())
	stop = sync.OnceFunc(coachWorker.Stop)
	n.t.Cleanup(stop)
	return stop
}

// enrol adds a person and starts the workflow as the starter does. No
// participant is greeted: the tests count replies.
func (n *serverFixture) enrol(id, number string) {
	n.t.Helper()
	now := time.Now().UTC()
	p, err := n.store.People.Enroll(n.ctx, models.Participant{ID: id, Phone: number, Timezone: "UTC", Channel: wire.ChannelSMS,
		Status: wire.StatusActive, Mode: wire.ModeIntake, EnrolledAt: now, CreatedAt: now, UpdatedAt: now}, "test")
	require.NoError(n.t, err)
	_, err = n.client.ExecuteWorkflow(n.ctx, client.StartWorkflowOptions{ID: models.WorkflowID(id), TaskQueue: wire.QueueCoach},
		wire.WorkflowType, wire.ParticipantState{ParticipantID: id, Zone: p.Timezone, Status: p.Status, Mode: p.Mode, Greeted: true})
	require.NoError(n.t, err)
	_, notices, err := n.store.Notices.Untold(n.ctx, id)
	require.NoError(n.t, err)
	for _, notice := range notices {
		require.NoError(n.t, n.store.Notices.NoticesDelivered(n.ctx, []int64{notice.ID}, now))
	}
}

// accept stores a text and returns its signal.
func (n *serverFixture) accept(number, body string) models.AcceptedInbound {
	n.mu.Lock()
	n.texts++
	sid := fmt.Sprintf("SM%032d", n.texts)
	n.mu.Unlock()
	return n.repeat(sid, number, body)
}

// repeat is a webhook of the carrier, perhaps one that came before.
func (n *serverFixture) repeat(sid, number, body string) models.AcceptedInbound {
	got, err := n.store.Inbound.AcceptInbound(n.ctx, models.Inbound{ProviderSID: sid, From: number, To: "+15017122661", Body: body, ReceivedAt: time.Now().UTC()})
	require.NoError(n.t, err)
	return got
}

func signalOf(in models.AcceptedInbound) wire.InboxItem {
	return wire.InboxItem{MessageID: in.Inbound.ID, Seq: in.Inbound.Seq, ReceivedAt: in.Inbound.ReceivedAt}
}

// text stores a text and has the relay tell the workflow.
func (n *serverFixture) text(id, number, body string) models.AcceptedInbound {
	n.t.Helper()
	in := n.accept(number, body)
	require.NoError(n.t, n.relay.Deliver(n.ctx, id))
	return in
}

// signal tells a workflow of a stored text, past the relay.
func (n *serverFixture) signal(id string, in models.AcceptedInbound) error {
	return n.client.SignalWorkflow(n.ctx, models.WorkflowID(id), "", wire.SignalMessageReceived, signalOf(in))
}

func (n *serverFixture) status(id string) wire.StatusView {
	value, err := n.client.QueryWorkflow(n.ctx, models.WorkflowID(id), "", wire.QueryStatus)
	if err != nil {
		return wire.StatusView{Waiting: -1}
	}
	var view wire.StatusView
	require.NoError(n.t, value.Get(&view))
	return view
}

// settled waits until a person's texts up to seq are answered and nothing runs.
func (n *serverFixture) settled(id string, seq int64) wire.StatusView {
	n.t.Helper()
	var view wire.StatusView
	require.Eventually(n.t, func() bool {
		view = n.status(id)
		return view.LastSeq >= seq && view.Waiting == 0 && !view.InTurn && view.Commands == 0
	}, patience, 50*time.Millisecond, "not settled: %+v", &view)
	return view
}

// runs are the histories of a person's runs, the newest first.
func (n *serverFixture) runs(id string) [][]*history.HistoryEvent {
	n.t.Helper()
	var out [][]*history.HistoryEvent
	for run := ""; ; {
		var events []*history.HistoryEvent
		pages := n.client.GetWorkflowHistory(n.ctx, models.WorkflowID(id), run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for pages.HasNext() {
			event, err := pages.Next()
			require.NoError(n.t, err)
			events = append(events, event)
		}
		out = append(out, events)
		run = events[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId()
		if run == "" {
			return out
		}
	}
}

// said counts how often each text of a person is in the conversation.
func (n *serverFixture) said(id string, most int) map[string]int {
	n.t.Helper()
	entries, err := n.store.People.History(n.ctx, id, most, time.Time{})
	require.NoError(n.t, err)
	counts := map[string]int{}
	for _, e := range entries {
		if e.Kind == models.KindMessage {
			counts[e.Text]++
		}
	}
	return counts
}

// noMemory keeps nothing of a turn.
type noMemory struct{}

func (noMemory) Remember(context.Context, wire.RememberInput) error { return nil }

// fixedModel is a model that any number of people talk to at once.
type fixedModel struct{}

func (*fixedModel) Complete(_ context.Context, req models.ChatRequest) (models.ChatResponse, error) {
	if req.JSON {
		return say(`{"verdict":"fine","kind":"other"}`), nil
	}
	return say("fine"), nil
}

func (*fixedModel) Embed(context.Context, []string) ([][]float32, error) {
	return nil, &models.ModelError{Class: models.ModelRefused, Message: "no vectors"}
}

// countingCarrier is a carrier that takes everything and knows for whom and when.
type countingCarrier struct {
	store *store.Store
	mu    sync.Mutex
	sent  map[string][]time.Time // by number
	rows  map[string]int         // by outbox id
}

func (p *countingCarrier) Send(ctx context.Context, sms models.SMS) (models.Receipt, error) {
	if err := sms.MayWrite(ctx); err != nil {
		return models.Receipt{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sent == nil {
		p.sent, p.rows = map[string][]time.Time{}, map[string]int{}
	}
	p.sent[sms.To] = append(p.sent[sms.To], time.Now())
	p.rows[sms.OutboxID]++
	return models.Receipt{ProviderSID: "SM-" + sms.OutboxID, Status: wire.OutboxQueued}, nil
}

func (p *countingCarrier) Find(context.Context, models.SMS, time.Duration) (models.Lookup, error) {
	return models.Lookup{At: time.Now()}, nil
}

// to counts the texts to a number.
func (p *countingCarrier) to(number string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sent[number])
}

// times is how often a row was posted.
func (p *countingCarrier) times(row string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rows[row]
}

// doubled lists the rows that were posted more than once.
func (p *countingCarrier) doubled() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var rows []string
	for id, times := range p.rows {
		if times > 1 {
			rows = append(rows, id)
		}
	}
	return rows
}

// last is when the newest text to a number was taken.
func (p *countingCarrier) last(number string) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	times := p.sent[number]
	return times[len(times)-1]
}
