package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"coachline/internal/metrics"
	"coachline/models"
	"coachline/models/wire"
)

var begin = time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)

// pending is a store with notices, or without an answer.
type pending struct {
	rows []models.Notice
	held *models.SenderHold
	open []models.AttentionCount
	err  error
	idle error
}

func (p pending) backlog() metrics.Backlog {
	return metrics.Backlog{Notices: p.PendingNotices, SenderHolds: p.SenderHolds, Attention: p.CountAttention,
		Workers: func(context.Context) error { return p.idle }}
}

func (p pending) SenderHolds(context.Context) ([]models.SenderHold, error) {
	if p.held == nil {
		return nil, p.err
	}
	return []models.SenderHold{*p.held}, p.err
}

func (p pending) CountAttention(context.Context) ([]models.AttentionCount, error) {
	return p.open, p.err
}

func (p pending) PendingNotices(context.Context, time.Time, int) ([]models.Notice, error) {
	return p.rows, p.err
}

func newMetrics(t *testing.T) *metrics.Metrics {
	t.Helper()
	m, err := metrics.New(metrics.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return m
}

func scrape(t *testing.T, from http.Handler) string {
	t.Helper()
	out := httptest.NewRecorder()
	from.ServeHTTP(out, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, out.Code)
	return out.Body.String()
}

// holds requires whole lines, which Prometheus's format makes of name, labels
// and value.
func holds(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		require.Contains(t, "\n"+text, "\n"+line+"\n")
	}
}

type model struct {
	answer models.ChatResponse
	err    error
}

func (m model) Complete(context.Context, models.ChatRequest) (models.ChatResponse, error) {
	return m.answer, m.err
}

type network struct{ err error }

func (c network) Send(context.Context, models.SMS) (models.Receipt, error) {
	return models.Receipt{}, c.err
}

func (c network) Find(context.Context, models.SMS, time.Duration) (models.Lookup, error) {
	return models.Lookup{}, c.err
}

func (c network) Fetch(context.Context, string) (models.StatusCallback, error) {
	return models.StatusCallback{}, c.err
}

func TestInboundTexts(t *testing.T) {
	m := newMetrics(t)
	for _, accepted := range []models.AcceptedInbound{
		{Inbound: models.Inbound{Seq: 1}, NoticeID: 1},
		{Inbound: models.Inbound{Seq: 2, Intent: models.IntentYes}, NoticeID: 2}, // an ordinary yes
		{Duplicate: true, Inbound: models.Inbound{Intent: models.IntentStop}, NoticeID: 3},
		{Inbound: models.Inbound{Limit: models.LimitRate}, NoticeID: 4},
		{Inbound: models.Inbound{Danger: models.DangerHarm}, AlertID: "alarm-8"},
		{Inbound: models.Inbound{Danger: models.DangerSelfHarm, DangerTier: models.TierB}, AlertID: "alarm-9"},
		{Inbound: models.Inbound{Intent: models.IntentStop, IntentMethod: models.MethodKeyword}, NoticeID: 5},
		{Inbound: models.Inbound{Intent: models.IntentStop, IntentMethod: models.MethodKeyword}}, // said it before
		{Inbound: models.Inbound{Intent: models.IntentStart, IntentMethod: models.MethodPhrase}, NoticeID: 6},
		{Inbound: models.Inbound{Intent: models.IntentHelp}, NoticeID: 7},
	} {
		m.Text(accepted)
	}
	text := scrape(t, m.Handler())
	holds(t, text,
		`coachline_inbound_texts_total{reason="",verdict="accepted"} 8`,
		`coachline_attention_total{kind="crisis"} 1`,
		`coachline_attention_total{kind="weak_sign"} 1`,
		`coachline_inbound_texts_total{reason="",verdict="duplicate"} 1`,
		`coachline_inbound_texts_total{reason="rate_limited",verdict="held"} 1`,
		`coachline_consent_changes_total{action="opt_out",method="keyword"} 1`,
		`coachline_consent_changes_total{action="opt_in",method="phrase"} 1`)
}

func TestWebhooks(t *testing.T) {
	for _, test := range []struct {
		name, path string
		status     int
		want       string
	}{
		{"taken", "/twilio/inbound", 200, `coachline_webhook_duration_seconds_count{code="200",hook="inbound"} 1`},
		{"signature", "/twilio/inbound", 403, `coachline_inbound_texts_total{reason="signature",verdict="refused"} 1`},
		{"too large", "/twilio/inbound", 413, `coachline_inbound_texts_total{reason="too_large",verdict="refused"} 1`},
		{"not a form", "/twilio/inbound", 415, `coachline_inbound_texts_total{reason="content_type",verdict="refused"} 1`},
		{"method", "/twilio/inbound", 405, `coachline_inbound_texts_total{reason="method",verdict="refused"} 1`},
		{"malformed", "/twilio/inbound", 400, `coachline_inbound_texts_total{reason="malformed",verdict="refused"} 1`},
		{"database away", "/twilio/inbound", 503, `coachline_inbound_texts_total{reason="",verdict="unavailable"} 1`},
		{"report", "/twilio/status", 503, `coachline_webhook_duration_seconds_count{code="503",hook="status"} 1`},
		{"report is no text", "/twilio/status", 503, `coachline_inbound_texts_total{reason="",verdict="unavailable"} 0`},
		{"another page is not measured", "/twilio/+12025550123", 404, `coachline_inbound_texts_total{reason="",verdict="accepted"} 0`},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMetrics(t)
			out := httptest.NewRecorder()
			var flushed error
			m.Webhooks(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				flushed = http.NewResponseController(w).Flush()
				w.WriteHeader(test.status)
			})).ServeHTTP(&late{out}, httptest.NewRequest(http.MethodPost, test.path, nil))
			require.NoError(t, flushed, "the writer below is reached")
			text := scrape(t, m.Handler())
			holds(t, text, test.want)
			require.NotContains(t, text, "2025550123")
		})
	}
}

// late lets a flush come before the status.
type late struct{ *httptest.ResponseRecorder }

func (l *late) Flush() {}

func TestModelCalls(t *testing.T) {
	m := newMetrics(t)
	answer := models.ChatResponse{Text: "x", Usage: models.Usage{Prompt: 100, Cached: 60, Completion: 7}}
	got, err := m.Model(model{answer: answer}).Complete(t.Context(), models.ChatRequest{})
	require.NoError(t, err)
	require.Equal(t, answer, got)
	busy := &models.ModelError{Class: models.ModelBusy}
	for _, want := range []error{busy, errors.New("no class")} {
		_, err = m.Model(model{err: want}).Complete(t.Context(), models.ChatRequest{})
		require.Equal(t, want, err, "passed on as it is")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = m.Model(model{err: busy}).Complete(gone, models.ChatRequest{})
	require.Error(t, err)
	holds(t, scrape(t, m.Handler()),
		`coachline_model_call_duration_seconds_count{outcome="ok"} 1`,
		`coachline_model_call_duration_seconds_count{outcome="busy"} 1`,
		`coachline_model_call_duration_seconds_count{outcome="error"} 1`,
		`coachline_model_call_duration_seconds_count{outcome="canceled"} 1`,
		`coachline_model_tokens_total{type="prompt"} 100`,
		`coachline_model_tokens_total{type="cached"} 60`,
		`coachline_model_tokens_total{type="completion"} 7`)
}

// row is an outbox row of a kind that the send checks let pass.
func row(kind models.EntryKind) models.SendClaim {
	return models.SendClaim{Post: true, Outbox: models.Outbox{Kind: kind, Status: wire.OutboxSending}}
}

func TestSends(t *testing.T) {
	m := newMetrics(t)
	body := models.SMS{Body: strings.Repeat("a", 161)}
	refused := &models.CarrierError{Class: models.CarrierBadNumber, Code: "21211"}

	ctx := metrics.Begin(t.Context())
	m.Claimed(ctx, row(models.KindReply))
	_, err := m.Carrier(network{}).Send(ctx, body)
	require.NoError(t, err)
	m.Sent(ctx, wire.OutboxAccepted)

	ctx = metrics.Begin(t.Context())
	m.Claimed(ctx, row(models.KindPrompt))
	_, err = m.Carrier(network{refused}).Send(ctx, body)
	require.ErrorIs(t, err, refused)
	m.NotSent(ctx, models.SendFailure{Status: wire.OutboxFailed, Code: refused.Code})

	ctx = metrics.Begin(t.Context())
	m.Claimed(ctx, row(models.KindReminder))
	m.NotSent(ctx, models.SendFailure{Status: wire.OutboxFailed, Code: "stale"})

	ctx = metrics.Begin(t.Context())
	m.Claimed(ctx, row(models.KindReminder))
	list, err := m.Carrier(network{}).Find(ctx, body, time.Minute)
	require.NoError(t, err)
	require.Empty(t, list.Matches)
	m.NotSent(ctx, models.SendFailure{Status: wire.OutboxUnknown})

	m.Claimed(metrics.Begin(t.Context()), models.SendClaim{
		Outbox: models.Outbox{Kind: models.KindReply, Status: wire.OutboxCanceled, ErrorCode: "opted_out"},
	})
	m.Claimed(metrics.Begin(t.Context()), models.SendClaim{Outbox: models.Outbox{Kind: models.KindReply, Status: wire.OutboxDelivered}})
	m.Reconciled(wire.ReconcileResult{Checked: 5, Settled: 3}, nil)
	m.Reconciled(wire.ReconcileResult{Checked: 9}, refused)

	text := scrape(t, m.Handler())
	holds(t, text,
		`coachline_sends_total{class="",kind="reply",status="accepted"} 1`,
		`coachline_sends_total{class="bad_number",kind="prompt",status="failed"} 1`,
		`coachline_sends_total{class="stale",kind="reminder",status="failed"} 1`,
		`coachline_sends_total{class="",kind="reminder",status="unknown"} 1`,
		`coachline_sends_total{class="opted_out",kind="reply",status="canceled"} 1`,
		`coachline_segments_total 2`,
		`coachline_carrier_call_duration_seconds_count{call="send",outcome="bad_number"} 1`,
		`coachline_carrier_call_duration_seconds_count{call="find",outcome="missing"} 1`,
		`coachline_reconciled_texts_total{result="settled"} 3`,
		`coachline_reconciled_texts_total{result="open"} 2`,
		`coachline_reconcile_runs_total{outcome="error"} 1`)
	require.NotContains(t, text, `status="delivered"`, "what was sent before is not sent again")
}

func TestTurns(t *testing.T) {
	m := newMetrics(t)
	end := func(in wire.PersistTurnInput, out wire.SendTurnResult) {
		ctx := metrics.Begin(t.Context())
		said := func(turn string, role models.Role, seconds int) models.Message {
			return models.Message{TurnID: turn, Role: role, At: begin.Add(time.Duration(seconds) * time.Second)}
		}
		metrics.Of(ctx).Loaded(models.TurnContext{Turn: models.Turn{ID: "t2"}, Window: []models.Message{
			said("t1", models.RoleUser, -60), said("t2", models.RoleUser, 1), said("t2", models.RoleUser, 0), said("t2", models.RoleAssistant, -5),
		}})
		m.TurnEnded(ctx, in, out)
	}
	taken := func(seconds int) wire.SendTurnResult {
		return wire.SendTurnResult{First: wire.SendSMSResult{Status: wire.OutboxAccepted, AcceptedAt: begin.Add(time.Duration(seconds) * time.Second)}}
	}
	plan := func(kind wire.TurnKind) wire.PersistTurnInput {
		return wire.PersistTurnInput{Source: wire.SourceStep, Plan: wire.TurnPlan{Kind: kind, Slot: wire.Slot{TargetAt: begin}}}
	}
	end(plan(wire.TurnReply), taken(4))
	end(plan(wire.TurnPrompt), taken(59))
	end(plan(wire.TurnPrompt), taken(61))
	end(plan(wire.TurnPrompt), wire.SendTurnResult{First: wire.SendSMSResult{Status: wire.OutboxFailed}})
	end(plan(wire.TurnPrompt), wire.SendTurnResult{
		Begun: &wire.PrepareTurnResult{Skip: true}, First: wire.SendSMSResult{Status: wire.OutboxCanceled},
	})
	end(plan(wire.TurnReminder), wire.SendTurnResult{First: wire.SendSMSResult{Status: wire.OutboxCanceled}})
	m.Kept(wire.TurnMessage)
	m.Missed([]wire.MissedPrompt{{Reason: "outage"}, {Reason: "quiet_hours"}, {Reason: "outage"}})
	m.ToolRun("scheduler", false)
	m.ToolRun("", true)
	m.Decided([]wire.Effect{{Kind: wire.EffectSetMode, Mode: wire.ModeFeedback}, {Kind: wire.EffectSetDue, Mode: wire.ModeIntake}})
	holds(t, scrape(t, m.Handler()),
		`coachline_turns_total{kind="reply",outcome="step"} 1`,
		`coachline_turns_total{kind="prompt",outcome="skipped"} 1`,
		`coachline_turns_total{kind="reminder",outcome="canceled"} 1`,
		`coachline_turns_total{kind="message",outcome="kept"} 1`,
		`coachline_turn_duration_seconds_sum 4`,
		`coachline_turn_duration_seconds_count 1`,
		`coachline_turn_texts_sum 2`,
		`coachline_prompts_total{outcome="sent",reason=""} 1`,
		`coachline_prompts_total{outcome="late",reason=""} 1`,
		`coachline_prompts_total{outcome="failed",reason=""} 1`,
		`coachline_prompts_total{outcome="missed",reason="outage"} 2`,
		`coachline_tool_runs_total{result="ok",tool="scheduler"} 1`,
		`coachline_tool_runs_total{result="failed",tool="unknown"} 1`,
		`coachline_mode_changes_total{mode="feedback"} 1`)
}

func TestBacklog(t *testing.T) {
	m := newMetrics(t)
	t.Run("nothing waits", func(t *testing.T) {
		holds(t, scrape(t, m.HandlerWith(pending{}.backlog())), "coachline_notices_waiting 0", "coachline_notices_oldest_seconds 0", "coachline_workers_ready 1")
		holds(t, scrape(t, m.HandlerWith(pending{idle: errors.New("no worker runs")}.backlog())), "coachline_workers_ready 0")
	})
	t.Run("Temporal is asked when the database was read", func(t *testing.T) {
		waiting, read := pending{}.backlog(), false
		notices := waiting.Notices
		waiting.Notices = func(ctx context.Context, before time.Time, limit int) ([]models.Notice, error) {
			read = true
			return notices(ctx, before, limit)
		}
		waiting.Workers = func(context.Context) error {
			require.True(t, read, "a server that is away would use up the time of the others")
			return nil
		}
		holds(t, scrape(t, m.HandlerWith(waiting)), "coachline_workers_ready 1")
	})
	t.Run("the oldest counts", func(t *testing.T) {
		now := time.Now()
		text := scrape(t, m.HandlerWith(pending{rows: []models.Notice{{CreatedAt: now.Add(-time.Hour)}, {CreatedAt: now.Add(-2 * time.Hour)}}}.backlog()))
		holds(t, text, "coachline_notices_waiting 2")
		require.Regexp(t, `(?m)^coachline_notices_oldest_seconds 720\d`, text)
	})
	t.Run("people to look after", func(t *testing.T) {
		counts := []models.AttentionCount{{Kind: wire.AttentionCrisis, Raised: 3, Open: 2}, {Kind: wire.AttentionFlood}}
		holds(t, scrape(t, m.HandlerWith(pending{open: counts}.backlog())), `coachline_attention_open{kind="crisis"} 2`,
			`coachline_attention_raised_total{kind="crisis"} 3`, `coachline_attention_open{kind="flood"} 0`)
	})
	t.Run("a stopped sender", func(t *testing.T) {
		holds(t, scrape(t, m.HandlerWith(pending{}.backlog())), `coachline_sender_brakes{class="registration"} 0`)
		held := &models.SenderHold{Class: models.CarrierRegistration}
		holds(t, scrape(t, m.HandlerWith(pending{held: held}.backlog())),
			`coachline_sender_brakes{class="registration"} 1`, `coachline_sender_brakes{class="window"} 0`)
	})
	t.Run("a database that is away takes nothing else along", func(t *testing.T) {
		text := scrape(t, m.HandlerWith(pending{err: errors.New("away")}.backlog()))
		require.NotContains(t, text, "coachline_notices_waiting ")
		require.NotContains(t, text, "coachline_sender_brakes{")
		require.Contains(t, text, "go_goroutines")
	})
}

func TestTemporalsMetrics(t *testing.T) {
	m := newMetrics(t)
	coach := m.Temporal().WithTags(map[string]string{"task_queue": "coach"})
	coach.Counter("coachline_drained_signals").Inc(2)
	coach.WithTags(map[string]string{"task_queue": "sms", "operation": "poll"}).Counter("coachline_drained_signals").Inc(1)
	coach.Gauge("temporal_sticky_cache_size").Update(3)
	coach.Timer("temporal_request_latency").Record(20 * time.Millisecond)
	holds(t, scrape(t, m.Handler()),
		`coachline_drained_signals_total{task_queue="coach"} 2`,
		`coachline_drained_signals_total{operation="poll",task_queue="sms"} 1`,
		`temporal_sticky_cache_size{task_queue="coach"} 3`,
		`temporal_request_latency_seconds_bucket{task_queue="coach",le="0.01"} 0`,
		`temporal_request_latency_seconds_bucket{task_queue="coach",le="0.025"} 1`)
}

func TestEndpoint(t *testing.T) {
	for _, profiles := range []bool{true, false} {
		t.Run(fmt.Sprintf("profiles %v", profiles), func(t *testing.T) { testEndpoint(t, profiles) })
	}
}

func testEndpoint(t *testing.T, profiles bool) {
	m := newMetrics(t)
	endpoint, err := m.Open(t.Context(), "127.0.0.1:0", profiles)
	require.NoError(t, err)
	done := make(chan struct{})
	go func() { defer close(done); endpoint.Serve() }()
	profile := map[bool]int{true: 200, false: 404}[profiles]
	for path, want := range map[string]int{
		"/livez": 200, "/metrics": 200, "/": 404, "/debug/pprof/": profile, "/debug/pprof/heap": profile, "/debug/pprof/profile?seconds=1": profile,
	} {
		resp, err := http.Get("http://" + endpoint.Addr() + path)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, errors.Join(err, resp.Body.Close()))
		require.Equal(t, want, resp.StatusCode, path)
	}
	_, err = m.Open(t.Context(), endpoint.Addr(), false)
	require.ErrorContains(t, err, "opening the address", "a taken port is found at once")
	require.NoError(t, endpoint.Close(t.Context()))
	<-done
}

// personal matches what no label may be called or hold: people, numbers, ids.
var (
	personalName  = regexp.MustCompile(`(?i)phone|number|participant|person|^name$|_id$|^id$|run|turn|body|text|token`)
	personalValue = regexp.MustCompile(`\+?\d{4,}|conv_|participant-|-t\d+|-p\d+|[0-9a-f]{8}-[0-9a-f]{4}|[A-Z]{2}[0-9a-f]{32}|\s|@`)
	labelPair     = regexp.MustCompile(`[{,](\w+)="((?:[^"\\]|\\.)*)"`)
)

// TestNoLabelIsPersonal gives every way in what it must not show.
func TestNoLabelIsPersonal(t *testing.T) {
	m := newMetrics(t)
	for _, hostile := range []string{"+12025550123", "conv_1-t42", "Ada Lovelace", "ada@example.org", "21211"} {
		ctx := metrics.Begin(t.Context())
		m.Text(models.AcceptedInbound{NoticeID: 1, Inbound: models.Inbound{
			ParticipantID: hostile, From: hostile, Body: hostile, Intent: models.IntentStop, IntentMethod: models.ConsentMethod(hostile),
		}})
		m.Text(models.AcceptedInbound{Inbound: models.Inbound{Limit: models.InboundLimit(hostile)}})
		m.Claimed(ctx, row(models.EntryKind(hostile)))
		_, err := m.Carrier(network{&models.CarrierError{Class: models.CarrierClass(hostile)}}).Send(ctx, models.SMS{To: hostile})
		require.Error(t, err)
		m.NotSent(ctx, models.SendFailure{Status: wire.OutboxStatus(hostile), Code: hostile, Class: models.CarrierConsent})
		m.TurnEnded(ctx, wire.PersistTurnInput{Source: wire.TextSource(hostile), Plan: wire.TurnPlan{Kind: wire.TurnKind(hostile)}}, wire.SendTurnResult{})
		m.Missed([]wire.MissedPrompt{{Reason: hostile}})
		m.ToolRun(hostile, true)
		_, err = m.Model(model{err: &models.ModelError{Class: models.ModelErrorClass(hostile)}}).Complete(ctx, models.ChatRequest{})
		require.Error(t, err)
		m.WorkflowCall(metrics.CallSignal, nil)
		m.Reconciled(wire.ReconcileResult{}, nil)
		m.Webhooks(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/twilio/inbound", nil))
	}
	seen := map[string]bool{}
	for line := range strings.SplitSeq(scrape(t, m.HandlerWith(pending{}.backlog())), "\n") {
		if !strings.HasPrefix(line, "coachline_") {
			continue
		}
		seen[strings.FieldsFunc(line, func(r rune) bool { return r == '{' || r == ' ' })[0]] = true
		for _, pair := range labelPair.FindAllStringSubmatch(line, -1) {
			if pair[1] != "le" {
				require.NotRegexp(t, personalName, pair[1], line)
				require.NotRegexp(t, personalValue, pair[2], line)
			}
		}
	}
	require.Greater(t, len(seen), 15, "the walk met the metrics")
	require.Regexp(t, personalValue, "+12025550123", "the pattern finds what it is for")
}

func TestOutcomeOfACall(t *testing.T) {
	for _, test := range []struct {
		name string
		in   error
		want metrics.Outcome
	}{
		{"told", nil, metrics.OutcomeTold},
		{"runs already", serviceerror.NewWorkflowExecutionAlreadyStarted("", "", ""), metrics.OutcomeTold},
		{"closed", serviceerror.NewNotFound(""), metrics.OutcomeClosed},
		{"away", errors.New("away"), metrics.OutcomeFailed},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := metrics.New(metrics.Config{})
			require.NoError(t, err)
			m.WorkflowCall(metrics.CallStart, test.in)
			holds(t, scrape(t, m.Handler()), `coachline_workflow_calls_total{call="start",outcome="`+string(test.want)+`"} 1`)
		})
	}
}
