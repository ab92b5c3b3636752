package activities_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"coachline/activities"
	"coachline/internal/dbtest"
	"coachline/internal/seal"
	"coachline/internal/sim/twilio"
	"coachline/internal/sms"
	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

const (
	lineAccount = "AC00000000000000000000000000000001"
	lineToken   = "12345"
	lineSender  = "+15017122661"
	linePhone   = "+12025550123"
)

// phoneLine sends through the real store and the real carrier client to the
// simulated carrier over HTTP. One clock drives all three.
type phoneLine struct {
	t     *testing.T
	store *store.Store
	posts *activities.SendActivities
	env   *testsuite.TestActivityEnvironment
	url   string
	turns int

	mu    sync.Mutex
	clock time.Time
	// listedFrom is when the carrier's list begins to show texts; zero: at once.
	listedFrom time.Time
	lookUps    int
	posted     []time.Time
	validity   []string
}

func newPhoneLine(t *testing.T) *phoneLine {
	t.Helper()
	l := &phoneLine{t: t, clock: now}
	ring, err := seal.Parse(testKeys)
	require.NoError(t, err)
	l.store, err = store.Open(t.Context(), store.Config{URL: dbtest.SQLite(t), Sealer: ring})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.store.Close()) })
	_, err = l.store.People.Enroll(t.Context(), models.Participant{ID: ann, Phone: linePhone, Timezone: "UTC", EnrolledAt: now}, "operator")
	require.NoError(t, err)
	network, err := twilio.New(twilio.Config{AccountSID: lineAccount, AuthToken: lineToken, From: lineSender, Now: l.now})
	require.NoError(t, err)
	server := httptest.NewServer(l.watch(network.Handler()))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		require.NoError(t, network.Close())
	})
	l.url = server.URL
	l.posts = &activities.SendActivities{Store: l.store.Outbox, Now: l.now}
	l.connect(&http.Transport{})
	var suite testsuite.WorkflowTestSuite
	l.env = suite.NewTestActivityEnvironment()
	l.env.RegisterActivity(l.posts)
	return l
}

// watch notes the calls of the carrier and delays what its list shows.
func (l *phoneLine) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/2010-04-01/") {
			next.ServeHTTP(w, r)
			return
		}
		l.mu.Lock()
		hidden := r.Method == http.MethodGet && l.clock.Before(l.listedFrom)
		l.mu.Unlock()
		if r.Method == http.MethodGet {
			l.mu.Lock()
			l.lookUps++
			l.mu.Unlock()
		}
		if hidden {
			w.Header().Set("Date", l.now().UTC().Format(http.TimeFormat))
			_, _ = io.WriteString(w, `{"messages":[]}`)
			return
		}
		if r.Method == http.MethodPost {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return // the text was not written
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			l.note(r, body)
		}
		next.ServeHTTP(w, r)
	})
}

func (l *phoneLine) note(r *http.Request, body []byte) {
	copied := r.Clone(r.Context())
	copied.Body = io.NopCloser(bytes.NewReader(body))
	_ = copied.ParseForm()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.posted = append(l.posted, l.clock)
	l.validity = append(l.validity, copied.PostForm.Get("ValidityPeriod"))
}

func (l *phoneLine) now() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.clock
}

func (l *phoneLine) pass(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock = l.clock.Add(d)
}

func (l *phoneLine) arm(fault map[string]any) {
	l.t.Helper()
	text, err := json.Marshal(fault)
	require.NoError(l.t, err)
	res, err := http.Post(l.url+"/sim/faults", "application/json", bytes.NewReader(text))
	require.NoError(l.t, err)
	require.NoError(l.t, res.Body.Close())
	require.Equal(l.t, http.StatusCreated, res.StatusCode)
}

// queue writes a text of ann's that no attempt has claimed.
func (l *phoneLine) queue(kind models.EntryKind) string {
	l.t.Helper()
	plan := wire.TurnPlan{Kind: wire.TurnKind(kind)}
	if kind == models.KindReminder {
		plan.PromptID = l.prompted()
	}
	l.turns++
	turn := models.TurnID(ann, l.turns)
	if kind == models.KindPrompt {
		plan.PromptID, plan.ScheduleID, plan.Slot.Date = "prompt-"+turn, "s1", l.now().Format(time.DateOnly)
	}
	_, err := l.store.Turns.BeginTurn(l.t.Context(), wire.PrepareTurnInput{
		ParticipantID: ann, TurnID: turn, Number: l.turns, Mode: wire.ModeIntake, Plan: plan, Now: l.now(),
	})
	require.NoError(l.t, err)
	id := models.OutboxID(turn, 1)
	_, err = l.store.Turns.FinishTurn(l.t.Context(), models.TurnOutcome{
		TurnID: turn, ParticipantID: ann, Outcome: "step", At: l.now(),
		Entries: []models.Message{{Key: turn, Role: models.RoleAssistant, Kind: kind, Text: "text of " + turn, OutboxID: id, At: l.now()}},
		Outbox:  []models.Outbox{{ID: id, Part: 1, Kind: kind, PromptID: plan.PromptID, Body: "text of " + turn}},
	})
	require.NoError(l.t, err)
	return id
}

// prompted is a prompt that the carrier took and that waits for its answer.
func (l *phoneLine) prompted() string {
	l.t.Helper()
	out, _ := l.settle(l.queue(models.KindPrompt))
	require.False(l.t, out.AcceptedAt.IsZero())
	l.mu.Lock()
	defer l.mu.Unlock()
	l.posted, l.validity = nil, nil
	return "prompt-" + models.TurnID(ann, l.turns)
}

// attempt runs the activity once; delay is when it asks to be run again, 0 when
// it is done.
func (l *phoneLine) attempt(id string) (out wire.SendSMSResult, delay time.Duration) {
	l.t.Helper()
	value, err := l.env.ExecuteActivity(l.posts.SendSMS, wire.SendSMSInput{OutboxID: id})
	if err == nil {
		require.NoError(l.t, value.Get(&out))
		return out, 0
	}
	var app *temporal.ApplicationError
	require.ErrorAs(l.t, err, &app)
	require.False(l.t, app.NonRetryable(), err)
	return out, max(app.NextRetryDelay(), time.Millisecond)
}

// settle runs the activity until it is done, as the engine would, and returns
// how long that took by the clock.
func (l *phoneLine) settle(id string) (wire.SendSMSResult, time.Duration) {
	l.t.Helper()
	began := l.now()
	for range 500 {
		out, delay := l.attempt(id)
		if delay == 0 {
			return out, l.now().Sub(began)
		}
		l.pass(delay)
	}
	require.Fail(l.t, "the send is never settled")
	return wire.SendSMSResult{}, 0
}

// taken are the texts that the carrier has taken.
func (l *phoneLine) taken() []string {
	l.t.Helper()
	req, err := http.NewRequestWithContext(l.t.Context(), http.MethodGet, l.url+"/sim/phones/"+linePhone+"/messages", http.NoBody)
	require.NoError(l.t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(l.t, err)
	defer func() { require.NoError(l.t, res.Body.Close()) }()
	var shown struct {
		Messages []struct {
			Body string `json:"body"`
		} `json:"messages"`
	}
	require.NoError(l.t, json.NewDecoder(res.Body).Decode(&shown))
	bodies := []string{}
	for _, m := range shown.Messages {
		bodies = append(bodies, m.Body)
	}
	return bodies
}

func (l *phoneLine) report(id string, status wire.OutboxStatus) {
	l.t.Helper()
	found, err := l.store.Outbox.AcceptStatus(l.t.Context(), models.StatusCallback{OutboxID: id, ProviderSID: "SM-" + id, Status: status, At: l.now()})
	require.NoError(l.t, err)
	require.True(l.t, found)
}

// A 5xx answer says nothing of whether the carrier took the text, with or
// without a code of its own.
func TestServerErrorIsLookedUpBeforeItIsPostedAgain(t *testing.T) {
	for _, code := range []int{0, 20500, 20503, 30008, 20429} {
		for _, status := range []int{500, 503} {
			t.Run("", func(t *testing.T) {
				l := newPhoneLine(t)
				id := l.queue(models.KindReply)
				l.arm(map[string]any{"target": "carrier", "kind": "http", "status": status, "code": code})
				out, took := l.settle(id)
				require.False(t, out.AcceptedAt.IsZero())
				require.Len(t, l.taken(), 1, "it was not taken the first time")
				require.Less(t, took, time.Minute)
				require.Positive(t, l.lookUps)
			})
		}
	}
}

func TestServerErrorAfterAcceptanceIsNotPostedAgain(t *testing.T) {
	l := newPhoneLine(t)
	id := l.queue(models.KindReply)
	l.arm(map[string]any{"target": "carrier", "kind": "malformed", "status": 503})
	out, took := l.settle(id)
	require.False(t, out.AcceptedAt.IsZero())
	require.Len(t, l.taken(), 1)
	require.Len(t, l.posted, 1)
	require.Less(t, took, 5*time.Second)
}

// A status callback settles a text of unknown result when its row is read next,
// which comes within a second or two.
func TestStatusCallbackSettlesAtOnce(t *testing.T) {
	l := newPhoneLine(t)
	id := l.queue(models.KindReply)
	l.arm(map[string]any{"target": "carrier", "kind": "http", "status": 500, "code": 20500})
	_, delay := l.attempt(id)
	require.LessOrEqual(t, delay, 2*time.Second)
	l.report(id, wire.OutboxDelivered)
	l.pass(delay)
	out, delay := l.attempt(id)
	require.Zero(t, delay)
	require.Equal(t, wire.OutboxDelivered, out.Status)
	require.Len(t, l.posted, 1)
	require.Zero(t, l.lookUps)
}

// The absence check starts when the text is written: a row that waited before
// that, as in a queue, was not missing at the carrier meanwhile.
func TestAbsenceIsMeasuredFromThePost(t *testing.T) {
	for _, waited := range []time.Duration{0, 45 * time.Second, 10 * time.Minute} {
		t.Run(waited.String(), func(t *testing.T) {
			l := newPhoneLine(t)
			decided := l.now()
			l.pass(waited)
			l.arm(map[string]any{"target": "carrier", "kind": "timeout_after_accept"})
			l.listedFrom = l.now().Add(32 * time.Second)
			out := l.endTurn(decided)
			require.False(t, out.AcceptedAt.IsZero())
			require.Len(t, l.taken(), 1, "posts: %v", l.posted)
		})
	}
}

// endTurn ends a turn that was decided at an instant, and runs the activity
// until it is done.
func (l *phoneLine) endTurn(decided time.Time) wire.SendSMSResult {
	l.t.Helper()
	library, err := prompts.Load("")
	require.NoError(l.t, err)
	closing := &activities.TurnEnd{
		Turns: &activities.TurnLoader{Store: l.store.Turns, Outbox: l.store.Outbox, Prompts: library}, Posts: l.posts, Keeper: noMemory{}, After: &later{},
	}
	l.env.RegisterActivity(closing)
	l.turns++
	in := wire.PrepareTurnInput{ParticipantID: ann, TurnID: models.TurnID(ann, l.turns), Number: l.turns, Mode: wire.ModeIntake,
		Plan: wire.TurnPlan{Kind: wire.TurnReply}, Now: decided}
	for range 100 {
		value, err := l.env.ExecuteActivity(closing.SendTurn, wire.SendTurnInput{Begin: &in, End: wire.PersistTurnInput{
			ParticipantID: ann, TurnID: in.TurnID, Mode: in.Mode, Plan: in.Plan, Source: wire.SourceFallback, Now: decided,
		}})
		if err == nil {
			var out wire.SendTurnResult
			require.NoError(l.t, value.Get(&out))
			return out.First
		}
		var app *temporal.ApplicationError
		require.ErrorAs(l.t, err, &app)
		require.False(l.t, app.NonRetryable(), err)
		l.pass(max(app.NextRetryDelay(), time.Millisecond))
	}
	require.Fail(l.t, "the turn is never over")
	return wire.SendSMSResult{}
}

// noMemory keeps nothing of a turn.
type noMemory struct{}

func (noMemory) Worth(models.TurnContext) bool                      { return false }
func (noMemory) Remember(context.Context, models.TurnContext) error { return nil }

// Refusals leave nothing in doubt and are no posts that may have arrived.
func TestRefusedAttemptsDoNotCountAsPosts(t *testing.T) {
	l := newPhoneLine(t)
	id := l.queue(models.KindReply)
	l.arm(map[string]any{"target": "carrier", "kind": "http", "status": 429, "code": 20429, "count": 6})
	l.arm(map[string]any{"target": "carrier", "kind": "timeout", "delay_ms": 1})
	out, _ := l.settle(id)
	require.False(t, out.AcceptedAt.IsZero(), "status %s", out.Status)
	require.Equal(t, []string{"text of " + models.TurnID(ann, 1)}, l.taken())
}

// A STOP that is stored while the connection to the carrier comes about is
// seen before the text is written.
func TestStopDuringASlowConnect(t *testing.T) {
	l := newPhoneLine(t)
	id := l.queue(models.KindReply)
	l.slowConnect(func() {
		_, err := l.store.Inbound.AcceptInbound(t.Context(), models.Inbound{
			ProviderSID: "SM-stop", From: linePhone, Body: "STOP", Intent: models.IntentStop,
			IntentMethod: models.MethodKeyword, ReceivedAt: l.now(),
		})
		require.NoError(t, err)
	})
	out, delay := l.attempt(id)
	require.Empty(t, l.taken())
	require.Empty(t, l.posted)
	require.Zero(t, delay)
	require.Equal(t, wire.SendSMSResult{Status: wire.OutboxCanceled, Code: "opted_out"}, out)
}

// The carrier may hold a text for as long as it is of use, and not for its own
// ten hours; what we start is of use for half an hour.
func TestValidityIsWhatIsLeftOfTheUse(t *testing.T) {
	for kind, want := range map[models.EntryKind]string{
		models.KindPrompt: "1200", models.KindReminder: "1200", models.KindFeedbackQuestion: "1200", models.KindFeedbackFollowup: "1200",
		models.KindCheckIn: "1200", models.KindResult: "1200", models.KindDebug: "1200",
		models.KindReply: "36000", models.KindGreeting: "36000", models.KindOperator: "36000", models.KindHelp: "36000", models.KindSafety: "36000",
	} {
		t.Run(string(kind), func(t *testing.T) {
			l := newPhoneLine(t)
			id := l.queue(kind)
			l.pass(10 * time.Minute)
			out, _ := l.settle(id)
			require.False(t, out.AcceptedAt.IsZero(), "%s %s", out.Status, out.Code)
			require.Equal(t, []string{want}, l.validity)
		})
	}
}

// slowConnect has meanwhile run while the next connection to the carrier is
// being made.
func (l *phoneLine) slowConnect(meanwhile func()) {
	l.t.Helper()
	var once sync.Once
	dialer := &net.Dialer{}
	l.connect(&http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		once.Do(meanwhile)
		return dialer.DialContext(ctx, network, address)
	}})
}

// connect makes the carrier client anew, on a transport of its own.
func (l *phoneLine) connect(transport *http.Transport) {
	l.t.Helper()
	l.t.Cleanup(transport.CloseIdleConnections)
	client, err := sms.New(sms.Config{
		AccountSID: lineAccount, AuthToken: lineToken, From: lineSender, BaseURL: l.url, Timeout: time.Second, Transport: transport,
	})
	require.NoError(l.t, err)
	l.posts.Carrier = client
}

// A text of unknown result is left after a minute where its turn asks for that,
// and settled without it.
func TestLongUnsettledTextIsLeft(t *testing.T) {
	l := newPhoneLine(t)
	id := l.queue(models.KindReply)
	l.arm(map[string]any{"target": "carrier", "kind": "timeout", "delay_ms": 1, "count": 2})
	began := l.now()
	for {
		value, err := l.env.ExecuteActivity(l.posts.SendSMS, wire.SendSMSInput{OutboxID: id, LeaveUnsettled: true})
		if err == nil {
			var out wire.SendSMSResult
			require.NoError(t, value.Get(&out))
			require.Equal(t, wire.SendSMSResult{Status: wire.OutboxSending}, out)
			break
		}
		var app *temporal.ApplicationError
		require.ErrorAs(t, err, &app)
		l.pass(max(app.NextRetryDelay(), time.Millisecond))
		require.Less(t, l.now().Sub(began), 2*time.Minute)
	}
	require.Greater(t, l.now().Sub(began), time.Minute)
	require.Less(t, l.now().Sub(began), 75*time.Second)
	out, _ := l.settle(id)
	require.False(t, out.AcceptedAt.IsZero())
	require.Len(t, l.taken(), 1)
}

// sameAnswer is a carrier that takes every text under one id.
type sameAnswer struct{ posts int }

func (c *sameAnswer) Send(ctx context.Context, sms models.SMS) (models.Receipt, error) {
	if err := sms.MayWrite(ctx); err != nil {
		return models.Receipt{}, err
	}
	c.posts++
	return models.Receipt{ProviderSID: "SM1", Status: wire.OutboxQueued}, nil
}

func (c *sameAnswer) Find(context.Context, models.SMS, time.Duration) (models.Lookup, error) {
	return models.Lookup{At: now, Matches: []models.Receipt{{ProviderSID: "SM1"}}}, nil
}

// The carrier answers 201 with the id of another text: it has taken this one, and
// nothing is posted again.
func TestKnownIDIsNotPostedAgain(t *testing.T) {
	t.Parallel()
	l := newPhoneLine(t)
	carrier := &sameAnswer{}
	l.posts.Carrier = carrier
	first, _ := l.attempt(l.queue(models.KindReply))
	require.Equal(t, wire.OutboxQueued, first.Status)
	second := l.queue(models.KindReply)
	for range 3 {
		out, retry := l.attempt(second)
		require.Zero(t, retry)
		require.Equal(t, wire.OutboxUnknown, out.Status)
		l.pass(10 * time.Minute)
	}
	require.Equal(t, 2, carrier.posts)
}
