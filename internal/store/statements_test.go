package store_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/database"
	"coachline/internal/dbtest"
	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

// statements are what a store sends to its database.
type statements struct {
	mu   sync.Mutex
	sent []string
}

func (s *statements) note(query string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, query)
}

// watch opens a store whose connections note their statements.
func (s *statements) watch(t *testing.T, cfg store.Config) *world {
	t.Helper()
	cfg.Sealer = newBox(t, "one")
	ctx := database.WithConnector(t.Context(), func(c driver.Connector) driver.Connector { return watched{c, s} })
	opened, err := store.Open(ctx, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, opened.Close()) })
	return &world{Store: opened, t: t, ctx: t.Context(), url: cfg.URL}
}

type watched struct {
	driver.Connector
	statements *statements
}

func (w watched) Connect(ctx context.Context) (driver.Conn, error) {
	below, err := w.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return watchedConn{below.(connection), w.statements}, nil
}

// connection is what both drivers provide.
type connection interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.SessionResetter
}

type watchedConn struct {
	connection
	statements *statements
}

// CheckNamedValue leaves arguments to the driver below.
func (c watchedConn) CheckNamedValue(value *driver.NamedValue) error {
	if below, ok := c.connection.(driver.NamedValueChecker); ok {
		return below.CheckNamedValue(value)
	}
	return driver.ErrSkip
}

func (c watchedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.statements.note(query)
	return c.connection.ExecContext(ctx, query, args)
}

func (c watchedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.statements.note(query)
	return c.connection.QueryContext(ctx, query, args)
}

// TestStatementsOfATurn holds the price of a text and its answer in statements,
// without and with what judges senders.
func TestStatementsOfATurn(t *testing.T) {
	for _, tt := range []struct {
		name  string
		rules store.InboundLimits
		want  int
	}{
		{"no rules", store.InboundLimits{}, 26},
		{"all rules", store.InboundLimits{PerMinute: 10, PerDay: 100, Mute: time.Hour}, 27},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				require.NoError(t, w.Close())
				var seen statements
				w = seen.watch(t, store.Config{URL: w.url, Limits: tt.rules})
				_, err := w.People.Enroll(w.ctx, person("p1", phone), "operator")
				require.NoError(t, err)
				_, told, err := w.Notices.Untold(w.ctx, "p1") // of the start
				require.NoError(t, err)
				require.NoError(t, w.Notices.NoticesDelivered(w.ctx, []int64{told[0].ID}, start))
				for n := 1; n <= 3; n++ {
					seen.sent = nil
					w.exchange(n)
				}
				require.Len(t, seen.sent, tt.want, strings.Join(seen.sent, "\n"))
			})
		})
	}
}

// exchange is all that a store does for one text and its answer: the front's part,
// the relay's and the worker's.
func (w *world) exchange(n int) {
	w.t.Helper()
	now := start.Add(time.Duration(n) * time.Minute)
	accepted, err := w.Inbound.AcceptInbound(w.ctx, models.Inbound{ProviderSID: "SM" + strconv.Itoa(n), From: phone, Body: "I walked for half an hour", ReceivedAt: now})
	require.NoError(w.t, err)
	_, _, err = w.Notices.Untold(w.ctx, "p1")
	require.NoError(w.t, err)
	require.NoError(w.t, w.Notices.NoticesDelivered(w.ctx, []int64{accepted.NoticeID}, now))
	turn := models.TurnID("p1", n)
	_, _, err = w.Turns.OpenTurn(w.ctx, wire.PrepareTurnInput{
		ParticipantID: "p1", TurnID: turn, Number: n, Mode: wire.ModeIntake, Plan: replyPlan, InboundIDs: []int64{accepted.Inbound.ID}, Now: now,
	}, 50)
	require.NoError(w.t, err)
	_, err = w.Turns.SaveStep(w.ctx, models.Step{TurnID: turn, Number: 1, Text: "Well done.", FinishReason: "stop", Model: "bench", Trace: "{}", CreatedAt: now})
	require.NoError(w.t, err)
	row := models.Outbox{ID: models.OutboxID(turn, 1), Part: 1, Kind: models.KindReply, Body: "Well done."}
	ended, err := w.Turns.FinishTurn(w.ctx, models.TurnOutcome{
		TurnID: turn, ParticipantID: "p1", Outcome: "step", Claim: true, At: now, Outbox: []models.Outbox{row},
		Entries: []models.Message{{Key: turn + "-text", Role: models.RoleAssistant, Kind: models.KindReply, Text: "Well done.", OutboxID: row.ID, At: now}},
	})
	require.NoError(w.t, err)
	require.True(w.t, ended.First.Post)
	_, err = w.Outbox.StartPost(w.ctx, ended.First, now)
	require.NoError(w.t, err)
	require.NoError(w.t, w.Outbox.RecordAccepted(w.ctx, ended.First.Ref(), models.Receipt{ProviderSID: "SMout" + strconv.Itoa(n), Status: wire.OutboxQueued}, now))
}

// planOf is how SQLite would run a query.
func planOf(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	plan, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "?"))...)
	require.NoError(t, err)
	defer func() { require.NoError(t, plan.Close()) }()
	var steps []string
	for plan.Next() {
		var id, parent, unused int
		var step string
		require.NoError(t, plan.Scan(&id, &parent, &unused, &step))
		steps = append(steps, step)
	}
	require.NoError(t, plan.Err())
	return strings.Join(steps, "\n")
}

// TestWaitingNoticesAreReadByIndex: what waits is found without reading what was
// delivered.
func TestWaitingNoticesAreReadByIndex(t *testing.T) {
	var seen statements
	w := seen.watch(t, store.Config{URL: dbtest.SQLite(t)})
	_, err := w.People.Enroll(w.ctx, person("p1", phone), "operator")
	require.NoError(t, err)
	seen.sent = nil
	rows, err := w.Notices.PendingNotices(w.ctx, start.Add(time.Hour), 10)
	require.NoError(t, err)
	require.Len(t, rows, 1)
	_, _, err = w.Notices.Untold(w.ctx, "p1")
	require.NoError(t, err)
	require.Len(t, seen.sent, 3, "the last reads the participant")
	w.raw(func(db *sql.DB) {
		for _, query := range seen.sent[:2] {
			require.Contains(t, planOf(t, db, query), "notices USING INDEX notices_waiting_of")
		}
	})
}
