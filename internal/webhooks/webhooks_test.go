package webhooks_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"coachline/internal/webhooks"
	"coachline/models"
)

var start = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// table is the deliveries of one webhook, claimed as the store does: of each
// participant the oldest that is open and due.
type table struct {
	mu     sync.Mutex
	hook   models.Webhook
	rows   []models.WebhookDelivery
	pruned time.Time
}

func newTable(url string, people ...string) *table {
	t := &table{hook: models.Webhook{ID: "whk_1", URL: url, Secret: webhooks.NewSecret(), State: models.WebhookActive}}
	for i, person := range people {
		t.rows = append(t.rows, models.WebhookDelivery{
			ID: int64(i + 1), WebhookID: "whk_1", Type: "message.received", ParticipantID: person, StudyID: "walk", ObjectID: "7", At: start, NextAt: start,
		})
	}
	return t
}

func (t *table) List(context.Context) ([]models.Webhook, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return []models.Webhook{t.hook}, nil
}

func (t *table) ClaimDeliveries(_ context.Context, _ string, now, until time.Time, limit int) (taken []models.WebhookDelivery, _ error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	seen := map[string]bool{}
	for i, row := range t.rows {
		if row.DeliveredAt != nil || seen[row.ParticipantID] {
			continue
		}
		seen[row.ParticipantID] = true
		if !row.NextAt.After(now) && len(taken) < limit {
			t.rows[i].NextAt, t.rows[i].Attempts = until, row.Attempts+1
			taken = append(taken, t.rows[i])
		}
	}
	return taken, nil
}

func (t *table) RecordDelivery(_ context.Context, a models.WebhookAttempt) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	row := &t.rows[a.Delivery.ID-1]
	row.Answer, row.Error, row.NextAt = a.Answer, a.Error, a.Next
	if a.Error == "" {
		row.DeliveredAt = &a.Now
	}
	if a.Gone {
		t.hook.State = models.WebhookDisabled
	}
	return nil
}

func (t *table) PruneDeliveries(_ context.Context, before time.Time, _ int) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pruned = before
	return 0, nil
}

func (t *table) Study(_ context.Context, id string) (models.Study, error) {
	return models.Study{ID: id, PseudonymKey: []byte(strings.Repeat("k", 32))}, nil
}

// counts is how many tries had an outcome.
type counts struct {
	mu      sync.Mutex
	tries   map[string]int
	failing int
}

func (c *counts) WebhookTried(outcome string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tries == nil {
		c.tries = map[string]int{}
	}
	c.tries[outcome]++
}

func (c *counts) WebhooksFailing(n int) { c.failing = n }

func newSender(t *testing.T, rows *table, c *counts, allow ...netip.AddrPort) *webhooks.Sender {
	t.Helper()
	return webhooks.New(webhooks.Config{Store: rows, Study: rows.Study, Allow: allow, Counter: c, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return start }})
}

func addressOf(t *testing.T, server *httptest.Server) netip.AddrPort {
	t.Helper()
	at, err := netip.ParseAddrPort(strings.TrimPrefix(server.URL, "http://"))
	require.NoError(t, err)
	return at
}

// TestEventIsSigned checks an event as a receiver does, with the library of the
// standard, with both secrets while one replaces the other.
func TestEventIsSigned(t *testing.T) {
	var got *http.Request
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
	}))
	t.Cleanup(server.Close)
	rows := newTable(server.URL+"/events", "conv_1")
	old, rotated := rows.hook.Secret, time.Now()
	rows.hook.Secret, rows.hook.RotatedAt = webhooks.NewSecret()+" "+old, &rotated
	sender := webhooks.New(webhooks.Config{Store: rows, Study: rows.Study, Allow: []netip.AddrPort{addressOf(t, server)}, Counter: &counts{}, Logger: slog.Default(), Now: time.Now})
	require.NoError(t, sender.DeliverDue(t.Context(), rows.hook))
	require.Equal(t, "msg_1", got.Header.Get("webhook-id"))
	for _, secret := range strings.Fields(rows.hook.Secret) {
		receiver, err := standardwebhooks.NewWebhook(secret)
		require.NoError(t, err)
		require.NoError(t, receiver.Verify(body, got.Header))
	}
	stranger, err := standardwebhooks.NewWebhook(webhooks.NewSecret())
	require.NoError(t, err)
	require.Error(t, stranger.Verify(body, got.Header))

	var event webhooks.Event
	require.NoError(t, json.Unmarshal(body, &event))
	require.Equal(t, "message.received", event.Type)
	require.Equal(t, start, event.Timestamp)
	require.Equal(t, "conv_1", event.Data.ParticipantID)
	require.Len(t, event.Data.Pseudonym, 32)
	require.NotNil(t, rows.rows[0].DeliveredAt)
	require.Len(t, rows.hook.Secrets(rotated.Add(25*time.Hour)), 1)
}

// TestOrderOfEachParticipant has one participant's first event fail: their second one
// waits for it, and others' do not.
func TestOrderOfEachParticipant(t *testing.T) {
	var mu sync.Mutex
	var got []string
	refuse := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		id := r.Header.Get("webhook-id")
		if id == "msg_1" && refuse {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		got = append(got, id)
	}))
	t.Cleanup(server.Close)
	rows, c := newTable(server.URL, "conv_1", "conv_2", "conv_1", "conv_2"), &counts{}
	sender := newSender(t, rows, c, addressOf(t, server))
	require.NoError(t, sender.DeliverDue(t.Context(), rows.hook))
	require.Equal(t, []string{"msg_2", "msg_4"}, got)
	require.Contains(t, rows.rows[0].Error, "answered 503")
	require.True(t, rows.rows[0].NextAt.After(start))

	refuse = false
	rows.rows[0].NextAt = start
	require.NoError(t, sender.DeliverDue(t.Context(), rows.hook))
	require.Equal(t, []string{"msg_2", "msg_4", "msg_1", "msg_3"}, got)
	require.Equal(t, map[string]int{"delivered": 4, "failed": 1}, c.tries)
}

// TestReceiverThatIsGone answers 410: nothing more is posted to it.
func TestReceiverThatIsGone(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }))
	t.Cleanup(server.Close)
	rows, c := newTable(server.URL, "conv_1"), &counts{}
	require.NoError(t, newSender(t, rows, c, addressOf(t, server)).DeliverDue(t.Context(), rows.hook))
	require.Equal(t, models.WebhookDisabled, rows.hook.State)
	require.Equal(t, map[string]int{"gone": 1}, c.tries)
}

// TestPrivateAddressesAreRefused: an address of our own network is not reached, also
// not by a redirect, and the error does not show the address.
func TestPrivateAddressesAreRefused(t *testing.T) {
	inside := 0
	secret := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside++ }))
	t.Cleanup(secret.Close)
	rows := newTable(secret.URL+"/?key=hunter2", "conv_1")
	require.NoError(t, newSender(t, rows, &counts{}).DeliverDue(t.Context(), rows.hook))
	require.Contains(t, rows.rows[0].Error, "no answer")
	require.NotContains(t, rows.rows[0].Error, "hunter2")

	outside := httptest.NewServer(http.RedirectHandler(secret.URL, http.StatusTemporaryRedirect))
	t.Cleanup(outside.Close)
	rows = newTable(outside.URL, "conv_1")
	require.NoError(t, newSender(t, rows, &counts{}, addressOf(t, outside)).DeliverDue(t.Context(), rows.hook))
	require.Contains(t, rows.rows[0].Error, "307")
	require.Zero(t, inside)
}

func TestCheckURL(t *testing.T) {
	allow := []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:9000")}
	for _, good := range []string{"https://example.org/events?key=1", "http://127.0.0.1:9000/events"} {
		require.NoError(t, webhooks.CheckURL(good, allow), good)
	}
	for _, bad := range []string{"", "example.org", "http://example.org", "http://127.0.0.1:9001", "https://a:b@example.org", "https://example.org/#a", "ftp://example.org", "https://" + strings.Repeat("a", 2000)} {
		var field *models.FieldError
		require.ErrorAs(t, webhooks.CheckURL(bad, allow), &field, bad)
		require.Equal(t, "url", field.Field)
	}
}

// TestHangingReceiver has one receiver never answer: another one is told meanwhile,
// and Run ends when it is stopped.
func TestHangingReceiver(t *testing.T) {
	hang := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(slow.Close)
	told := make(chan string, 1)
	quick := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { told <- r.Header.Get("webhook-id") }))
	t.Cleanup(quick.Close)
	t.Cleanup(func() { close(hang) })
	two := &twoTables{slow: newTable(slow.URL, "conv_1"), quick: newTable(quick.URL, "conv_1")}
	two.quick.hook.ID = "whk_2"
	c := &counts{}
	sender := webhooks.New(webhooks.Config{Store: two, Study: two.slow.Study, Allow: []netip.AddrPort{addressOf(t, slow), addressOf(t, quick)}, Counter: c, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		sender.Run(ctx)
	}()
	require.Equal(t, "msg_1", <-told)
	cancel()
	<-done
	require.Nil(t, two.slow.rows[0].DeliveredAt)
	require.Empty(t, two.slow.rows[0].Error, "what was stopped in the middle is tried again after its lease")
}

// twoTables are two webhooks with deliveries of their own.
type twoTables struct{ slow, quick *table }

func (t *twoTables) of(id string) *table {
	if id == t.quick.hook.ID {
		return t.quick
	}
	return t.slow
}

func (t *twoTables) List(context.Context) ([]models.Webhook, error) {
	return []models.Webhook{t.slow.hook, t.quick.hook}, nil
}

func (t *twoTables) ClaimDeliveries(ctx context.Context, id string, now, until time.Time, limit int) ([]models.WebhookDelivery, error) {
	return t.of(id).ClaimDeliveries(ctx, id, now, until, limit)
}

func (t *twoTables) RecordDelivery(ctx context.Context, a models.WebhookAttempt) error {
	return t.quick.RecordDelivery(ctx, a)
}

func (t *twoTables) PruneDeliveries(context.Context, time.Time, int) (int64, error) { return 0, nil }

func (t *twoTables) Study(ctx context.Context, id string) (models.Study, error) {
	return t.slow.Study(ctx, id)
}

// TestWaitsGrow lets a receiver fail for days of a clock that is skipped.
func TestWaitsGrow(t *testing.T) {
	var waits []time.Duration
	for attempts := 1; attempts < 14; attempts++ {
		waits = append(waits, webhooks.WaitAfter(attempts))
	}
	require.True(t, slices.IsSortedFunc(waits[:10], func(a, b time.Duration) int { return int(a - b) }))
	require.GreaterOrEqual(t, waits[0], 5*time.Second)
	require.Less(t, waits[12], 67*time.Minute)
	require.GreaterOrEqual(t, waits[12], time.Hour)
}

// TestOldDeliveriesAreDeleted: what is older than 30 days goes when Run begins.
func TestOldDeliveriesAreDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := newTable("https://example.org")
		ctx, cancel := context.WithCancel(t.Context())
		sender := webhooks.New(webhooks.Config{Store: rows, Study: rows.Study, Counter: &counts{}, Logger: slog.Default(), Now: time.Now})
		go sender.Run(ctx)
		synctest.Wait()
		require.Equal(t, time.Now().Add(-30*24*time.Hour), rows.pruned)
		cancel()
		synctest.Wait()
	})
}
