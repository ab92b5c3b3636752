package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/mocks"

	"coachline/activities"
	"coachline/internal/alert"
	"coachline/internal/config"
	"coachline/internal/dbtest"
	"coachline/internal/seal"
	"coachline/internal/sim/twilio"
	"coachline/internal/sms"
	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
	"coachline/starter"
)

const (
	annsPhone = "+12025550123"
	oursPhone = "+15017122661"
)

// bothRoles is a starter behind HTTP and the activities of a worker over one
// store, with a carrier, a model that hears what the test says, and a pager's
// receiver.
type bothRoles struct {
	t     *testing.T
	rows  *store.Store
	turns activities.Turns
	url   string
	said  string

	mu    sync.Mutex
	texts []string // posted to the carrier
	pages []models.AlertPage
	keys  []string // their Idempotency-Key
}

// inProcess runs the activities that the relay starts, each id once, as Temporal
// does; everything else it is told is taken.
type inProcess struct {
	mocks.Client
	front *activities.NoticeActivities
	mu    sync.Mutex
	ran   map[string]bool
}

func (e *inProcess) ExecuteActivity(ctx context.Context, o client.StartActivityOptions, name any, args ...any) (client.ActivityHandle, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ran[o.ID] {
		return nil, nil
	}
	e.ran[o.ID] = true
	var err error
	switch name {
	case wire.ActivitySafetyText:
		_, err = e.front.SendSafetyText(ctx, args[0].(wire.AlertInput))
	case wire.ActivityPage:
		_, err = e.front.SendPage(ctx, args[0].(wire.AlertInput))
	case wire.ActivitySendHint:
		_, err = e.front.SendHint(ctx, args[0].(wire.SendHintInput))
	case wire.ActivitySendAsk:
		_, err = e.front.SendAsk(ctx, args[0].(wire.SendAskInput))
	}
	return nil, err
}

func (e *inProcess) ExecuteWorkflow(context.Context, client.StartWorkflowOptions, any, ...any) (client.WorkflowRun, error) {
	return nil, nil
}

func (e *inProcess) SignalWithStartWorkflow(context.Context, string, string, any, client.StartWorkflowOptions, any, ...any) (client.WorkflowRun, error) {
	return nil, nil
}

func (e *inProcess) UpdateWorkflow(context.Context, client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	return &mocks.WorkflowUpdateHandle{}, fmt.Errorf("no workflow runs here")
}

func (e *inProcess) ListWorkflow(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	return &workflowservice.ListWorkflowExecutionsResponse{}, nil
}

type anyRequest struct{}

func (anyRequest) Check(*http.Request, url.Values) error { return nil }

// hears is the model for speech.
type hears struct{ b *bothRoles }

func (h hears) Transcribe(context.Context, models.Recording) (string, error) { return h.b.said, nil }

func startBothRoles(t *testing.T) *bothRoles {
	t.Helper()
	b := &bothRoles{t: t}
	ring, err := seal.Parse("k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	require.NoError(t, err)
	b.rows, err = store.Open(t.Context(), store.Config{URL: dbtest.SQLite(t), Sealer: ring})
	require.NoError(t, err)
	_, err = b.rows.People.Enroll(t.Context(), models.Participant{ID: "ann", Phone: annsPhone, Timezone: "UTC", Locale: "en-US", EnrolledAt: time.Now()}, "operator")
	require.NoError(t, err)

	carrier := b.carrier()
	front := b.front(carrier)
	b.turns = withTranscriber(config.Config{Model: config.Model{Transcribe: "whisper"}}, b.rows.Turns, transcriber{
		notes: b.rows.Inbound, carrier: carrier, model: hears{b}, log: slog.New(slog.DiscardHandler), now: time.Now,
	})
	ctx, cancel := context.WithCancel(context.Background())
	server, err := starter.New(ctx, starter.Config{
		HTTP: starter.HTTPConfig{Addr: "127.0.0.1:0"}, Store: b.rows, Temporal: &inProcess{front: front, ran: map[string]bool{}},
		Carrier:  starter.CarrierConfig{Verifier: anyRequest{}, AccountSID: account, OurNumbers: []string{oursPhone}, Listens: true},
		Defaults: starter.Defaults{Zone: "UTC", Region: "US"},
		Relay:    starter.RelayConfig{Interval: 5 * time.Millisecond, MinAge: time.Nanosecond},
		Logger:   slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-done); require.NoError(t, b.rows.Close()) })
	b.url = "http://" + server.Addr()
	return b
}

// carrier is the simulated phone network; what is posted to it is kept.
func (b *bothRoles) carrier() *sms.Client {
	phones, err := twilio.New(twilio.Config{AccountSID: account, AuthToken: "secret1", From: oursPhone})
	require.NoError(b.t, err)
	handler := phones.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			raw, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(strings.NewReader(string(raw)))
			form, _ := url.ParseQuery(string(raw))
			b.mu.Lock()
			b.texts = append(b.texts, form.Get("Body"))
			b.mu.Unlock()
		}
		handler.ServeHTTP(w, r)
	}))
	b.t.Cleanup(func() { server.Close(); require.NoError(b.t, phones.Close()) })
	client, err := sms.New(sms.Config{AccountSID: account, AuthToken: "secret1", From: oursPhone, BaseURL: server.URL})
	require.NoError(b.t, err)
	return client
}

func (b *bothRoles) front(carrier *sms.Client) *activities.NoticeActivities {
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		var page models.AlertPage
		if err := json.NewDecoder(r.Body).Decode(&page); err != nil {
			b.t.Errorf("the page is no JSON: %v", err)
		}
		b.pages, b.keys = append(b.pages, page), append(b.keys, r.Header.Get(alert.KeyHeader))
	}))
	b.t.Cleanup(receiver.Close)
	library, err := prompts.Load("")
	require.NoError(b.t, err)
	return &activities.NoticeActivities{
		Store: b.rows.Hints, Alerts: b.rows.Alerts, Pager: alert.New(alert.Config{URL: receiver.URL, Timeout: time.Minute}), AlertsTeam: true,
		Carrier: carrier, Posts: &activities.SendActivities{Store: b.rows.Outbox, Carrier: carrier, Now: time.Now},
		Prompts: library, Programme: "Steps", Locale: "en-US", Now: time.Now, HasWords: true,
	}
}

func (b *bothRoles) post(path, kind, body string) {
	b.t.Helper()
	answer, err := http.Post(b.url+path, kind, strings.NewReader(body))
	require.NoError(b.t, err)
	raw, err := io.ReadAll(answer.Body)
	require.NoError(b.t, err)
	require.NoError(b.t, answer.Body.Close())
	require.Less(b.t, answer.StatusCode, 300, string(raw))
}

func (b *bothRoles) webhook(body string, media bool) {
	form := url.Values{
		"MessageSid": {"MM" + strings.Repeat("0", 31) + "1"}, "AccountSid": {account}, "From": {annsPhone}, "To": {oursPhone}, "Body": {body}, "NumMedia": {"0"},
	}
	if media {
		form.Set("NumMedia", "1")
		form.Set("MediaContentType0", "audio/wav")
		form.Set("MediaUrl0", noteURL)
	}
	b.post("/twilio/inbound", "application/x-www-form-urlencoded", form.Encode())
}

// waysIn are all callers that store what a person says. TestWaysIn at the root
// of the repository finds them in the code; each has its end-to-end run here.
var waysIn = map[string]func(b *bothRoles, words string){
	"sms": func(b *bothRoles, words string) { b.webhook(words, false) },
	"chat": func(b *bothRoles, words string) {
		b.post("/conversation/participants/ann/chat", "application/json", fmt.Sprintf(`{"body":%q}`, words))
	},
	"voice": func(b *bothRoles, words string) {
		b.said = words
		b.webhook("", true)
		for range 2 { // a retried activity hears and raises nothing again
			begun, err := b.turns.BeginTurn(b.t.Context(), wire.PrepareTurnInput{
				ParticipantID: "ann", TurnID: "ann-t1", Number: 1, Mode: wire.ModeIntake,
				Plan: wire.TurnPlan{Kind: wire.TurnReply}, InboundIDs: []int64{1}, Now: time.Now(),
			})
			require.NoError(b.t, err)
			require.True(b.t, begun.Skip, "no model answers it")
		}
	},
}

// A crisis marks the participant, pages once and sends the safety text once, on
// the channel of the message, for each caller that stores the same text.
func TestEveryWayInAlerts(t *testing.T) {
	for name, say := range waysIn {
		t.Run(name, func(t *testing.T) {
			b := startBothRoles(t)
			say(b, "I want to kill myself")
			require.Eventually(t, func() bool {
				row, err := b.rows.Alerts.Alert(t.Context(), "alarm-1")
				return err == nil && row.ToldAt != nil && row.PagedAt != nil
			}, 20*time.Second, 5*time.Millisecond)
			ann, err := b.rows.People.Participant(t.Context(), "ann")
			require.NoError(t, err)
			require.Equal(t, wire.AttentionCrisis, ann.Attention)
			history, err := b.rows.People.History(t.Context(), "ann", 10, time.Time{})
			require.NoError(t, err)
			require.Len(t, history, 2)
			require.Contains(t, history[0].Text, "I want to kill myself")
			require.Equal(t, models.DangerSelfHarm, history[0].Danger)
			require.Equal(t, models.KindSafety, history[1].Kind)
			require.Contains(t, history[1].Text, "988")
			require.Equal(t, history[0].Channel, history[1].Channel)

			b.mu.Lock()
			defer b.mu.Unlock()
			require.Equal(t, []string{"alarm-1"}, b.keys)
			require.Equal(t, models.AlertPage{
				ID: "alarm-1", ParticipantID: "ann", Kind: "crisis", At: history[0].At.UTC(), Rule: b.pages[0].Rule, Words: "kill myself", Link: "/console/people/ann",
			}, b.pages[0])
			if name == "chat" {
				require.Empty(t, b.texts)
			} else {
				require.Equal(t, []string{history[1].Text}, b.texts)
			}
		})
	}
}

// A crisis of a number that is not enrolled is answered with the safety text, pages and
// can be read by an operator, although strangers are not answered here.
func TestStrangerInCrisisPages(t *testing.T) {
	b := startBothRoles(t)
	require.NoError(t, b.rows.People.RemoveParticipant(t.Context(), "ann", "operator", time.Now()))
	b.webhook("I want to kill myself", false)
	require.Eventually(t, func() bool {
		row, err := b.rows.Alerts.Alert(t.Context(), "alarm-1")
		b.mu.Lock()
		defer b.mu.Unlock()
		return err == nil && row.PagedAt != nil && len(b.texts) == 1
	}, 20*time.Second, 5*time.Millisecond)
	require.Contains(t, b.texts[0], "988")
	require.NotContains(t, b.texts[0], "team")
	require.Empty(t, b.pages[0].ParticipantID)
	require.Equal(t, "/console/alerts/alarm-1", b.pages[0].Link)
	answer, err := http.Get(b.url + "/alerts/alarm-1/message")
	require.NoError(t, err)
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode, string(raw))
	require.Contains(t, string(raw), "I want to kill myself")
	require.Contains(t, string(raw), annsPhone)
}

// What may mean STOP is asked about once, on the channel of the message, and the
// coach finds the question in the conversation.
func TestEveryWayInAsks(t *testing.T) {
	for name, say := range waysIn {
		t.Run(name, func(t *testing.T) {
			b := startBothRoles(t)
			say(b, "too many texts")
			var history []models.HistoryEntry
			require.Eventually(t, func() bool {
				var err error
				history, err = b.rows.People.History(t.Context(), "ann", 10, time.Time{})
				return err == nil && len(history) == 2 && history[1].Delivery != wire.OutboxReady && history[1].Delivery != wire.OutboxSending
			}, 20*time.Second, 5*time.Millisecond)
			require.Equal(t, models.KindHelp, history[1].Kind)
			require.Contains(t, history[1].Text, "reply STOP")
			require.Equal(t, history[0].Channel, history[1].Channel)
			b.mu.Lock()
			defer b.mu.Unlock()
			require.Empty(t, b.pages)
			if name == "chat" {
				require.Empty(t, b.texts)
			} else {
				require.Equal(t, []string{history[1].Text}, b.texts)
			}
		})
	}
}

// A STOP opts out on each channel, and is in the consent ledger.
func TestEveryWayInOptsOut(t *testing.T) {
	for name, say := range waysIn {
		t.Run(name, func(t *testing.T) {
			b := startBothRoles(t)
			say(b, "Stop.")
			ann, err := b.rows.People.Participant(t.Context(), "ann")
			require.NoError(t, err)
			require.Equal(t, wire.StatusOptedOut, ann.Status)
			past := b.rows.Records
			entries, err := past.Consents(t.Context(), "ann")
			require.NoError(t, err)
			require.Len(t, entries, 1)
			require.Equal(t, models.ConsentOptOut, entries[0].Action)
		})
	}
}

// A folder of texts in a language that is not screened keeps the worker from
// starting.
func TestLocaleFolderWithoutScreening(t *testing.T) {
	for locale, want := range map[string]string{"it": "COACH_PROMPTS_DIR: folder it: messages in that language are not screened for crisis and opt-out", "pt-PT": ""} {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, locale), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, locale, "help.md"), []byte("{{.Programme}} STOP"), 0o600))
		_, _, err := loadWords(config.Config{Worker: config.Worker{PromptsDir: dir}}, toolParts{rows: &store.Store{}})
		if want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
}
