package relay

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"coachline/models"
	"coachline/models/wire"
)

var (
	errDown = errors.New("down")
	errGone = serviceerror.NewNotFound("workflow execution already completed")
	testNow = time.Date(2026, 11, 24, 13, 0, 0, 0, time.UTC)
)

// rows is the store as far as the relay can tell.
type rows struct {
	mu sync.Mutex

	down         error
	participants map[string]models.Participant
	removed      map[string]bool
	notices      []models.Notice
	hints        []models.Hint
	memories     []models.MemoryJob
	alerts       []models.Alert
	// Erasures has no method that these rows answer but PendingErasures and ForgetStrangers.
	Erasures
}

func (m *rows) PendingErasures(context.Context, int) ([]models.Erasure, error) { return nil, m.down }

func (m *rows) ForgetStrangers(context.Context, models.StrangersForgotten) (int, error) {
	return 0, m.down
}

// byNoun are the rows as each part of the store.
func (m *rows) byNoun() Store {
	return Store{Notices: m, People: m, Attention: m, Hints: m, Joins: m, Alerts: m, Looks: m, Memory: m, Erasures: m}
}

func newRows() *rows {
	return &rows{participants: map[string]models.Participant{}, removed: map[string]bool{}}
}

func (m *rows) enter() func() { m.mu.Lock(); return m.mu.Unlock }

func (m *rows) notice(id string, kind models.NoticeKind, ref string, seq int64, at time.Time) {
	defer m.enter()()
	m.notices = append(m.notices, models.Notice{
		ID: int64(len(m.notices) + 1), ParticipantID: id, Kind: kind, Ref: ref, Seq: seq, CreatedAt: at,
	})
}

func (m *rows) PendingNotices(_ context.Context, before time.Time, limit int) ([]models.Notice, error) {
	defer m.enter()()
	var out []models.Notice
	for _, n := range m.notices {
		if n.DeliveredAt == nil && n.CreatedAt.Before(before) && len(out) < limit {
			out = append(out, n)
		}
	}
	return out, m.down
}

func (m *rows) Participant(_ context.Context, id string) (models.Participant, error) {
	defer m.enter()()
	if m.removed[id] {
		return models.Participant{}, models.ErrNotFound
	}
	return m.participants[id], m.down
}

func (m *rows) Untold(_ context.Context, id string) (models.Participant, []models.Notice, error) {
	defer m.enter()()
	p := m.participants[id]
	if m.removed[id] {
		p.RemovedAt = new(time.Time)
	}
	var out []models.Notice
	for _, n := range m.notices {
		if n.ParticipantID == id && n.DeliveredAt == nil {
			out = append(out, n)
		}
	}
	return p, out, m.down
}

func (m *rows) NoticesDelivered(_ context.Context, ids []int64, at time.Time) error {
	defer m.enter()()
	for _, id := range ids {
		m.notices[id-1].DeliveredAt = &at
	}
	return m.down
}

func (m *rows) ParticipantFlags(_ context.Context, p models.Participant) (wire.ParticipantFlags, error) {
	return wire.ParticipantFlags{Attention: []wire.Attention{wire.AttentionFlood}, Unreachable: p.UnreachableAt != nil}, m.down
}

func (m *rows) ResumedMessages(_ context.Context, noticeID int64) ([]wire.InboxItem, error) {
	return []wire.InboxItem{{MessageID: 100 + noticeID, Seq: 1}}, m.down
}

func (m *rows) ExpireJoins(context.Context, time.Time, int) error { return m.down }

func (m *rows) PendingHints(_ context.Context, before time.Time, limit int) ([]models.Hint, error) {
	defer m.enter()()
	var out []models.Hint
	for _, h := range m.hints {
		if h.ToldAt == nil && h.CreatedAt.Before(before) && len(out) < limit {
			out = append(out, h)
		}
	}
	return out, m.down
}

// ClaimMemory gives each turn that waits to one caller, and again when its claim
// is over.
func (m *rows) ClaimMemory(_ context.Context, c models.MemoryClaim) ([]string, error) {
	defer m.enter()()
	var ids []string
	for i, job := range m.memories {
		if !job.ClaimedUntil.After(c.Now) && len(ids) < c.Limit {
			m.memories[i].ClaimedUntil = c.Until
			ids = append(ids, job.TurnID)
		}
	}
	return ids, m.down
}

func (m *rows) HintTold(_ context.Context, id string, at time.Time) error {
	defer m.enter()()
	for i := range m.hints {
		if m.hints[i].ID == id {
			m.hints[i].ToldAt = &at
		}
	}
	return m.down
}

func (m *rows) undelivered() int {
	defer m.enter()()
	count := 0
	for _, n := range m.notices {
		if n.DeliveredAt == nil {
			count++
		}
	}
	return count
}

// engine records what Temporal is told. hook, when set, decides the outcome of
// a call named "start", "signal" or "update:<name>".
type engine struct {
	mu      sync.Mutex
	calls   []string
	starts  []client.StartWorkflowOptions
	states  []wire.ParticipantState
	signals []wire.InboxItem
	updates []client.UpdateWorkflowOptions
	// activities are the ones that no workflow waits for, inputs theirs.
	activities []client.StartActivityOptions
	inputs     []any
	hook       func(ctx context.Context, call string) error
	// closed are listed for every query; queries are what was asked.
	closed  []*workflow.WorkflowExecutionInfo
	queries []string
}

// ListWorkflow gives one run a page.
func (e *engine) ListWorkflow(ctx context.Context, in *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	e.mu.Lock()
	e.queries = append(e.queries, in.GetQuery())
	out := &workflowservice.ListWorkflowExecutionsResponse{}
	if at := len(in.GetNextPageToken()); at < len(e.closed) {
		out.Executions = e.closed[at : at+1]
		if at+1 < len(e.closed) {
			out.NextPageToken = make([]byte, at+1)
		}
	}
	e.mu.Unlock()
	return out, e.record(ctx, "list")
}

func (e *engine) record(ctx context.Context, call string) error {
	e.mu.Lock()
	e.calls = append(e.calls, call)
	hook := e.hook
	e.mu.Unlock()
	if hook == nil {
		return nil
	}
	return hook(ctx, call)
}

func (e *engine) seen() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.calls)
}

func (e *engine) fail(hook func(context.Context, string) error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hook = hook
}

func (e *engine) ExecuteWorkflow(ctx context.Context, o client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	e.mu.Lock()
	e.starts, e.states = append(e.starts, o), append(e.states, args[0].(wire.ParticipantState))
	e.mu.Unlock()
	return nil, e.record(ctx, "start")
}

func (e *engine) SignalWithStartWorkflow(ctx context.Context, _, _ string, arg any, o client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	e.mu.Lock()
	e.starts, e.states = append(e.starts, o), append(e.states, args[0].(wire.ParticipantState))
	e.signals = append(e.signals, arg.(wire.InboxItem))
	e.mu.Unlock()
	return nil, e.record(ctx, "signal")
}

func (e *engine) UpdateWorkflow(ctx context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	e.mu.Lock()
	e.updates = append(e.updates, o)
	e.mu.Unlock()
	return nil, e.record(ctx, "update:"+o.UpdateName)
}

func (e *engine) ExecuteActivity(ctx context.Context, o client.StartActivityOptions, name any, args ...any) (client.ActivityHandle, error) {
	e.mu.Lock()
	e.activities, e.inputs = append(e.activities, o), append(e.inputs, args[0])
	e.mu.Unlock()
	return nil, e.record(ctx, "activity:"+name.(string))
}
