package starter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/mocks"

	"coachline/internal/prices"
	"coachline/internal/screening"
	"coachline/models"
)

var errDown = errors.New("down")

// fakeStore is the store as far as the starter uses it.
type fakeStore struct {
	// The rest of the store; tests of it use a real one (startWithStore).
	Store
	mu           sync.Mutex
	down         error
	participants map[string]models.Participant
	removed      map[string]bool
	notices      []models.Notice
	outbox       map[string]models.Outbox
	inbound      map[string]models.Inbound
	audits       []models.Audit
	reports      []models.StatusCallback
	history      []models.HistoryEntry
	profile      models.Profile
	staleOnce    bool
	hints        map[string]*models.Hint
	muted        time.Time
}

func newFakeStore() *fakeStore {
	return &fakeStore{
		participants: map[string]models.Participant{}, removed: map[string]bool{},
		outbox: map[string]models.Outbox{}, inbound: map[string]models.Inbound{}, hints: map[string]*models.Hint{},
	}
}

func (m *fakeStore) enter() func() { m.mu.Lock(); return m.mu.Unlock }

// fail has every call fail from now on; nil ends that. The relay reads while a
// test writes.
func (m *fakeStore) fail(err error) {
	defer m.enter()()
	m.down = err
}

func (m *fakeStore) notice(id string, kind models.NoticeKind, ref string, seq int64, at time.Time) int64 {
	n := models.Notice{ID: int64(len(m.notices) + 1), ParticipantID: id, Kind: kind, Ref: ref, Seq: seq, CreatedAt: at}
	m.notices = append(m.notices, n)
	return n.ID
}

func (m *fakeStore) RecordCosts(context.Context, *prices.List) error { return nil }

func (m *fakeStore) CheckBudgets(context.Context, time.Time) ([]models.Budget, error) {
	return nil, nil
}

func (m *fakeStore) Ping(context.Context) error { defer m.enter()(); return m.down }

func (m *fakeStore) EnrollOnce(_ context.Context, p models.Participant, _ models.Enrolment) (models.Participant, error) {
	defer m.enter()()
	for id, other := range m.participants {
		if other.Phone == p.Phone && !m.removed[id] {
			return models.Participant{}, fmt.Errorf("enrolling: %w", &models.PhoneTakenError{ParticipantID: id})
		}
	}
	if m.down != nil {
		return models.Participant{}, m.down
	}
	p.LastChannel = models.ChannelSMS
	m.participants[p.ID] = p
	m.notice(p.ID, models.NoticeStart, "", 0, p.CreatedAt)
	return p, nil
}

func (m *fakeStore) CohortsToDo(context.Context) ([]string, error) { return nil, nil }

func (m *fakeStore) ExpireCohorts(context.Context, time.Time, time.Time) error { return nil }

func (m *fakeStore) Participant(_ context.Context, id string) (models.Participant, error) {
	defer m.enter()()
	return m.find(id)
}

func (m *fakeStore) find(id string) (models.Participant, error) {
	if m.down != nil {
		return models.Participant{}, m.down
	}
	p, ok := m.participants[id]
	if !ok || m.removed[id] {
		return models.Participant{}, fmt.Errorf("reading participant: %w", models.ErrNotFound)
	}
	return p, nil
}

func (m *fakeStore) Participants(_ context.Context, q models.ParticipantQuery) ([]models.Participant, error) {
	defer m.enter()()
	var ids []string
	for id, p := range m.participants {
		if id > q.After && !m.removed[id] && (q.Status == "" || q.Status == p.Status) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	var rows []models.Participant
	for _, id := range ids[:min(len(ids), q.Limit)] {
		rows = append(rows, m.participants[id])
	}
	return rows, m.down
}

func (m *fakeStore) UpdateParticipant(_ context.Context, u models.ParticipantUpdate) (models.Participant, error) {
	defer m.enter()()
	p, err := m.find(u.ID)
	if err != nil {
		return p, err
	}
	if m.staleOnce || u.IfMatch != nil && *u.IfMatch != p.Version {
		m.staleOnce = false
		return p, fmt.Errorf("updating: %w", models.ErrStale)
	}
	if u.Patch.Name != nil {
		p.Name = *u.Patch.Name
	}
	if u.Patch.Timezone != nil {
		p.Timezone, p.ZoneAssumed = *u.Patch.Timezone, false
		m.notice(p.ID, models.NoticeUpdate, "", 0, u.Now)
	}
	if u.Patch.Status != nil {
		p.Status = *u.Patch.Status
		kind := models.NoticeResume
		if p.Status == models.StatusPaused {
			kind = models.NoticePause
		}
		m.notice(p.ID, kind, "", 0, u.Now)
	}
	p.Version++
	m.participants[u.ID] = p
	return p, nil
}

func (m *fakeStore) RemoveParticipantIf(_ context.Context, r models.Removal) error {
	id, now := r.ID, r.Now
	defer m.enter()()
	p, err := m.find(id)
	if err != nil {
		return err
	}
	if r.IfMatch != nil && *r.IfMatch != p.Version {
		return models.ErrStale
	}
	m.removed[id] = true
	m.notice(id, models.NoticeUnenroll, "", 0, now)
	return nil
}

func (m *fakeStore) RecordAudit(_ context.Context, a models.Audit) error {
	defer m.enter()()
	m.audits = append(m.audits, a)
	return m.down
}

func (m *fakeStore) Profile(_ context.Context, id string) (models.Profile, error) {
	defer m.enter()()
	_, err := m.find(id)
	return m.profile, err
}

func (m *fakeStore) History(_ context.Context, id string, limit int, before time.Time) ([]models.HistoryEntry, error) {
	defer m.enter()()
	if _, err := m.find(id); err != nil {
		return nil, err
	}
	var page []models.HistoryEntry
	for _, e := range m.history {
		if before.IsZero() || e.At.Before(before) {
			page = append(page, e)
		}
	}
	return page[max(0, len(page)-limit):], nil
}

func (m *fakeStore) HistoryAfter(_ context.Context, _ string, limit int, after time.Time) ([]models.HistoryEntry, error) {
	defer m.enter()()
	page := slices.DeleteFunc(slices.Clone(m.history), func(e models.HistoryEntry) bool { return !e.At.After(after) })
	return page[max(0, len(page)-limit):], nil
}

func (m *fakeStore) AcceptInbound(_ context.Context, in models.Inbound) (models.AcceptedInbound, error) {
	defer m.enter()()
	if m.down != nil {
		return models.AcceptedInbound{}, m.down
	}
	if row, ok := m.inbound[in.ProviderSID]; ok {
		return models.AcceptedInbound{Inbound: row, Duplicate: true}, nil
	}
	in.ID = int64(len(m.inbound) + 1)
	found := screening.Screen(screening.Message{Body: in.Body, OptOutType: in.OptOutType})
	in.Intent, in.IntentMethod, in.Danger, in.DangerTier = found.Intent, found.Method, found.Danger, found.Tier
	var notice int64
	for id, p := range m.participants {
		if p.Phone == in.From && !m.removed[id] {
			in.ParticipantID, in.Seq = id, p.NextSeq
			p.NextSeq++
			m.participants[id] = p
			switch in.Intent {
			case models.IntentStop:
				p.Status = models.StatusOptedOut
				m.participants[id] = p
				notice = m.notice(id, models.NoticeConsent, string(in.IntentMethod), 0, in.ReceivedAt)
			case models.IntentHelp:
				notice = m.notice(id, models.NoticeHelp, "", 0, in.ReceivedAt)
			case models.IntentNone, models.IntentStart, models.IntentYes:
				kind := models.NoticeMessage
				if in.Channel == models.ChannelChat {
					kind = models.NoticeChat
				}
				notice = m.notice(id, kind, fmt.Sprint(in.ID), in.Seq, in.ReceivedAt)
			}
		}
	}
	m.inbound[in.ProviderSID] = in
	return models.AcceptedInbound{Inbound: in, NoticeID: notice}, nil
}

func (m *fakeStore) WaitingMessages(context.Context, string) ([]models.WaitingMessage, error) {
	defer m.enter()()
	return nil, m.down
}

func (m *fakeStore) Holds(context.Context, models.HoldQuery) ([]models.Hold, error) {
	defer m.enter()()
	return nil, m.down
}

func (m *fakeStore) ExpireJoins(context.Context, time.Time, int) error { return m.down }

func (m *fakeStore) PendingHints(_ context.Context, before time.Time, limit int) ([]models.Hint, error) {
	defer m.enter()()
	var out []models.Hint
	for _, hint := range m.hints {
		if hint.ToldAt == nil && hint.CreatedAt.Before(before) && len(out) < limit {
			out = append(out, *hint)
		}
	}
	return out, m.down
}

func (m *fakeStore) ClaimMemory(context.Context, models.MemoryClaim) ([]string, error) {
	defer m.enter()()
	return nil, m.down
}

func (m *fakeStore) HintTold(_ context.Context, id string, at time.Time) error {
	defer m.enter()()
	m.hints[id].ToldAt = &at
	return m.down
}

func (m *fakeStore) MutedUntil(context.Context, string, time.Time) (time.Time, error) {
	defer m.enter()()
	return m.muted, m.down
}

func (m *fakeStore) SenderHolds(context.Context) ([]models.SenderHold, error) {
	defer m.enter()()
	return nil, m.down
}

func (m *fakeStore) AlertText(context.Context, string) (models.AlertText, error) {
	defer m.enter()()
	return models.AlertText{}, m.down
}

func (m *fakeStore) AcceptStatus(_ context.Context, s models.StatusCallback) (bool, error) {
	defer m.enter()()
	if m.down != nil {
		return false, m.down
	}
	m.reports = append(m.reports, s)
	return s.OutboxID != "", nil
}

func (m *fakeStore) QueueOperatorMessage(_ context.Context, in models.OperatorMessage) (models.Outbox, bool, error) {
	defer m.enter()()
	if row, ok := m.outbox[in.Key]; ok {
		return row, false, nil
	}
	row := models.Outbox{ID: in.ParticipantID + "-op-" + in.Key, Body: in.Body, Status: models.OutboxReady}
	m.outbox[in.Key] = row
	m.notice(in.ParticipantID, models.NoticeSend, row.ID, 0, in.Now)
	return row, true, m.down
}

func (m *fakeStore) PendingNotices(_ context.Context, before time.Time, limit int) ([]models.Notice, error) {
	defer m.enter()()
	var out []models.Notice
	for _, n := range m.notices {
		if n.DeliveredAt == nil && n.CreatedAt.Before(before) && len(out) < limit {
			out = append(out, n)
		}
	}
	return out, m.down
}

func (m *fakeStore) Untold(_ context.Context, id string) (models.Participant, []models.Notice, error) {
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

func (m *fakeStore) NoticesDelivered(_ context.Context, ids []int64, at time.Time) error {
	defer m.enter()()
	for _, id := range ids {
		m.notices[id-1].DeliveredAt = &at
	}
	return m.down
}

func (m *fakeStore) undelivered() int {
	defer m.enter()()
	count := 0
	for _, n := range m.notices {
		if n.DeliveredAt == nil {
			count++
		}
	}
	return count
}

// fakeTemporal records the calls of Temporal. hook, when set, decides the outcome of
// a call named "start", "signal", "update:<name>" or "query:<name>".
type fakeTemporal struct {
	mocks.Client
	mu      sync.Mutex
	calls   []string
	starts  []client.StartWorkflowOptions
	states  []models.ParticipantState
	signals []models.MessageReceived
	// signalled are the workflows of the signals.
	signalled []string
	updates   []client.UpdateWorkflowOptions
	// activities are the ones that no workflow waits for.
	activities []client.StartActivityOptions
	hook       func(ctx context.Context, call string) error
	// rejected is what the handle of an update returns.
	rejected  error
	status    models.StatusView
	schedules []models.Schedule
}

func (e *fakeTemporal) record(ctx context.Context, call string) error {
	e.mu.Lock()
	e.calls = append(e.calls, call)
	hook := e.hook
	e.mu.Unlock()
	if hook == nil {
		return nil
	}
	return hook(ctx, call)
}

func (e *fakeTemporal) seen() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.calls)
}

func (e *fakeTemporal) fail(hook func(context.Context, string) error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hook = hook
}

func (e *fakeTemporal) ExecuteWorkflow(ctx context.Context, o client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	e.mu.Lock()
	e.starts, e.states = append(e.starts, o), append(e.states, args[0].(models.ParticipantState))
	e.mu.Unlock()
	return nil, e.record(ctx, "start")
}

func (e *fakeTemporal) SignalWithStartWorkflow(ctx context.Context, id, _ string, arg any, o client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	e.mu.Lock()
	e.starts, e.states = append(e.starts, o), append(e.states, args[0].(models.ParticipantState))
	e.signals, e.signalled = append(e.signals, arg.(models.MessageReceived)), append(e.signalled, id)
	e.mu.Unlock()
	return nil, e.record(ctx, "signal")
}

func (e *fakeTemporal) SignalWorkflow(ctx context.Context, id, _, _ string, arg any) error {
	e.mu.Lock()
	e.signals, e.signalled = append(e.signals, arg.(models.MessageReceived)), append(e.signalled, id)
	e.mu.Unlock()
	return e.record(ctx, "signal running")
}

func (e *fakeTemporal) ExecuteActivity(ctx context.Context, o client.StartActivityOptions, name any, _ ...any) (client.ActivityHandle, error) {
	e.mu.Lock()
	e.activities = append(e.activities, o)
	e.mu.Unlock()
	return nil, e.record(ctx, "activity:"+name.(string))
}

func (e *fakeTemporal) UpdateWorkflow(ctx context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	e.mu.Lock()
	e.updates = append(e.updates, o)
	e.mu.Unlock()
	if err := e.record(ctx, "update:"+o.UpdateName); err != nil {
		return nil, err
	}
	return &updateHandle{view: e.status, err: e.rejected}, nil
}

type updateHandle struct {
	mocks.WorkflowUpdateHandle
	view models.StatusView
	err  error
}

func (h *updateHandle) Get(_ context.Context, result any) error {
	if h.err == nil {
		*result.(*models.StatusView) = h.view
	}
	return h.err
}

func (e *fakeTemporal) QueryWorkflow(ctx context.Context, _, _, name string, _ ...any) (converter.EncodedValue, error) {
	if err := e.record(ctx, "query:"+name); err != nil {
		return nil, err
	}
	var value any = e.status
	if name == models.QuerySchedules {
		value = e.schedules
	}
	payloads, err := converter.GetDefaultDataConverter().ToPayloads(value)
	return client.NewValue(payloads), err
}

// ListWorkflow finds no terminated workflow. It is not recorded, because the
// relay asks by itself.
func (e *fakeTemporal) ListWorkflow(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	return &workflowservice.ListWorkflowExecutionsResponse{}, nil
}

func (e *fakeTemporal) CheckHealth(ctx context.Context, _ *client.CheckHealthRequest) (*client.CheckHealthResponse, error) {
	return nil, e.record(ctx, "health")
}

// PendingErasures, ExpiredParticipants and DescribeWorkflowExecution are called by
// the relay itself; tests of erasures use a real store.
func (m *fakeStore) PendingErasures(context.Context, int) ([]models.Erasure, error) { return nil, nil }

func (m *fakeStore) ExpiredParticipants(context.Context, time.Time, int) ([]string, error) {
	return nil, nil
}

// DescribeWorkflowExecution knows no workflow.
func (e *fakeTemporal) DescribeWorkflowExecution(ctx context.Context, _, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return nil, errors.Join(e.record(ctx, "describe"), serviceerror.NewNotFound("no workflow"))
}

// The default study stands in for every study.
func (*fakeStore) Study(context.Context, string) (models.Study, error) {
	return models.Study{ID: models.DefaultStudy, State: models.StudyRecruiting, Version: 1}, nil
}

func (*fakeStore) Webhooks(context.Context) ([]models.Webhook, error) { return nil, nil }

func (*fakeStore) PruneDeliveries(context.Context, time.Time, int) (int64, error) { return 0, nil }

func (*fakeStore) StudyVersions(context.Context) (map[string]int64, error) {
	return map[string]int64{models.DefaultStudy: 1}, nil
}
