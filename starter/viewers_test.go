package starter

import (
	"bufio"
	"context"
	"database/sql/driver"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/auth"
	"coachline/internal/database"
	"coachline/internal/pgtest"
	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

// viewers is how many pages are open in front of the starter.
const viewers = 50

// counted counts the statements of a store, without those that watch for changes.
type counted struct {
	driver.Connector
	statements *atomic.Int64
}

func (c counted) Connect(ctx context.Context) (driver.Conn, error) {
	below, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return countedConn{below.(connection), c.statements}, nil
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

type countedConn struct {
	connection
	statements *atomic.Int64
}

// CheckNamedValue leaves arguments to the driver below.
func (c countedConn) CheckNamedValue(value *driver.NamedValue) error {
	if below, ok := c.connection.(driver.NamedValueChecker); ok {
		return below.CheckNamedValue(value)
	}
	return driver.ErrSkip
}

func (c countedConn) count(query string) {
	if !strings.Contains(query, "change") {
		c.statements.Add(1)
	}
}

func (c countedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.count(query)
	return c.connection.ExecContext(ctx, query, args)
}

func (c countedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.count(query)
	return c.connection.QueryContext(ctx, query, args)
}

// replying is a starter with its own store, and a second store through which replies
// go on, as of a worker.
type replying struct {
	tb      testing.TB
	address string
	worker  *store.Store
	// served and replied count the statements of the two stores.
	served, replied atomic.Int64
	replies         int
}

func startReplying(tb testing.TB, url string) *replying {
	tb.Helper()
	r := &replying{tb: tb}
	ring, err := seal.Parse("k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	require.NoError(tb, err)
	open := func(url string, count *atomic.Int64) *store.Store {
		ctx := database.WithConnector(context.Background(), func(c driver.Connector) driver.Connector { return counted{c, count} })
		s, err := store.Open(ctx, store.Config{URL: url, Sealer: ring, Sender: ourNumber})
		require.NoError(tb, err)
		tb.Cleanup(func() { require.NoError(tb, s.Close()) })
		return s
	}
	rows := open(url, &r.served)
	if strings.HasPrefix(url, "sqlite:") { // the same options would be the same connections
		url += "?_pragma=cache_size(1000)"
	}
	r.worker = open(url, &r.replied)
	_, err = rows.People.Enroll(context.Background(), models.Participant{ID: "conv_1", Phone: herNumber, PersonTexts: models.PersonTexts[string]{Name: "Ada"}, Timezone: "UTC", EnrolledAt: time.Now()}, auth.Operator)
	require.NoError(tb, err)
	r.address = serveReplying(tb, rows)
	return r
}

// reply is all that a store does for one text and its answer. It returns the instants
// at which its transactions began: an event of one can come before its commit returns.
func (r *replying) reply() (committed []time.Time) {
	r.tb.Helper()
	ctx, s := context.Background(), r.worker
	began := time.Now()
	done := func(err error) {
		r.tb.Helper()
		require.NoError(r.tb, err)
		committed, began = append(committed, began), time.Now()
	}
	r.replies++
	n := strconv.Itoa(r.replies)
	accepted, err := s.Inbound.AcceptInbound(ctx, models.Inbound{ProviderSID: "SM" + n, From: herNumber, Body: "I walked for half an hour", ReceivedAt: time.Now()})
	done(err)
	turn := models.TurnID("conv_1", r.replies)
	_, _, err = s.Turns.OpenTurn(ctx, wire.PrepareTurnInput{
		ParticipantID: "conv_1", TurnID: turn, Number: r.replies, Mode: wire.ModeIntake, Plan: wire.TurnPlan{Kind: wire.TurnReply},
		InboundIDs: []int64{accepted.Inbound.ID}, Now: time.Now(),
	}, 50)
	done(err)
	_, err = s.Turns.SaveStep(ctx, models.Step{TurnID: turn, Number: 1, Text: "Well done.", FinishReason: "stop", Model: "bench", Trace: "{}", CreatedAt: time.Now()})
	done(err)
	row := models.Outbox{ID: models.OutboxID(turn, 1), Part: 1, Kind: models.KindReply, Body: "Well done."}
	ended, err := s.Turns.FinishTurn(ctx, models.TurnOutcome{
		TurnID: turn, ParticipantID: "conv_1", Outcome: "step", Claim: true, At: time.Now(), Outbox: []models.Outbox{row},
		Entries: []models.Message{{Key: turn + "-text", Role: models.RoleAssistant, Kind: models.KindReply, Text: "Well done.", OutboxID: row.ID, At: time.Now()}},
	})
	done(err)
	require.True(r.tb, ended.First.Post)
	_, err = s.Outbox.StartPost(ctx, ended.First, time.Now())
	done(err)
	done(s.Outbox.RecordAccepted(ctx, ended.First.Ref(), models.Receipt{ProviderSID: "SMout" + n, Status: wire.OutboxQueued}, time.Now()))
	return committed
}

// openPage is the stream of a page: when its events came.
type openPage struct {
	mu     sync.Mutex
	events []time.Time
	ended  bool
}

// open opens pages that follow Ada or everybody, and waits until each is told.
func (r *replying) open(count int) []*openPage {
	r.tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	client := &http.Client{Transport: &http.Transport{}}
	var group sync.WaitGroup
	r.tb.Cleanup(func() { cancel(); group.Wait(); client.CloseIdleConnections() })
	var pages []*openPage
	for i := range count {
		of := []string{"*", "conv_1"}[i%2]
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.address+"/console/live?of="+of, http.NoBody)
		require.NoError(r.tb, err)
		answer, err := client.Do(req)
		require.NoError(r.tb, err)
		require.Equal(r.tb, http.StatusOK, answer.StatusCode)
		page := &openPage{}
		pages = append(pages, page)
		group.Go(func() {
			defer func() { _ = answer.Body.Close() }()
			page.read(answer)
		})
	}
	for _, page := range pages {
		require.Eventually(r.tb, func() bool { return !page.firstSince(time.Time{}).IsZero() }, 20*time.Second, time.Millisecond)
	}
	return pages
}

func (p *openPage) read(answer *http.Response) {
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if lines.Text() == "event: change" {
			p.mu.Lock()
			p.events = append(p.events, time.Now())
			p.mu.Unlock()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}

// firstSince is the first event from an instant on, after which the page that is
// fetched shows what was committed before; zero while there is none.
func (p *openPage) firstSince(at time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.IndexFunc(p.events, func(event time.Time) bool { return !event.Before(at) }); i >= 0 {
		return p.events[i]
	}
	return time.Time{}
}

// lateness waits until every page has heard of every commit, and returns how long
// that took at the 95th percentile and at most.
func (r *replying) lateness(pages []*openPage, committed []time.Time) (p95, most time.Duration) {
	r.tb.Helper()
	var all []time.Duration
	for _, page := range pages {
		for _, at := range committed {
			require.Eventually(r.tb, func() bool { return !page.firstSince(at).IsZero() }, 20*time.Second, time.Millisecond, "a page was not told of a commit")
			all = append(all, page.firstSince(at).Sub(at))
		}
		page.mu.Lock()
		require.False(r.tb, page.ended, "a stream is lost")
		page.mu.Unlock()
	}
	if len(all) == 0 {
		return 0, 0
	}
	slices.Sort(all)
	return all[(len(all)*95+99)/100-1], all[len(all)-1]
}

func replyDatabases(tb testing.TB) map[string]string {
	return map[string]string{"sqlite": "sqlite:" + filepath.Join(tb.TempDir(), "coach.db"), "postgres": pgtest.Start(tb)}
}

// TestFiftyStreamsWhileReplies opens 50 streams over HTTP while replies go on: a
// reply is as many statements as without them, the starter asks its database no more
// for the streams, each stream hears of each commit, and none is lost.
func TestFiftyStreamsWhileReplies(t *testing.T) {
	const steps = 20
	for name, url := range replyDatabases(t) {
		t.Run(name, func(t *testing.T) {
			r := startReplying(t, url)
			cost := func(pages []*openPage) (replied, served int64) {
				r.reply() // prepares statements
				r.replied.Store(0)
				r.served.Store(0)
				var committed []time.Time
				for range steps {
					committed = append(committed, r.reply()...)
				}
				p95, most := r.lateness(pages, committed)
				replied, served = r.replied.Load(), r.served.Load()
				t.Logf("%d streams: %.1f statements a commit, the starter %d in all; commit to event: p95 %s, at most %s",
					len(pages), float64(replied)/float64(len(committed)), served, p95.Round(time.Millisecond), most.Round(time.Millisecond))
				return replied, served
			}
			alone, before := cost(nil)
			watched, after := cost(r.open(viewers))
			require.Equal(t, alone, watched)
			require.Less(t, after-before, int64(viewers*steps), "not one for each stream and reply")
		})
	}
}

// BenchmarkRepliesWithStreams is a reply's part of the store, with and without 50
// streams.
func BenchmarkRepliesWithStreams(b *testing.B) {
	for name, url := range replyDatabases(b) {
		r := startReplying(b, url)
		for _, count := range []int{0, viewers} {
			b.Run(name+"/"+strconv.Itoa(count), func(b *testing.B) {
				pages := r.open(count)
				r.replied.Store(0)
				before := r.replies
				var committed []time.Time
				for b.Loop() {
					committed = append(committed, r.reply()...)
				}
				b.StopTimer()
				p95, most := r.lateness(pages, committed[max(0, len(committed)-600):])
				b.ReportMetric(float64(r.replied.Load())/float64(r.replies-before), "statements/op")
				b.ReportMetric(float64(p95.Milliseconds()), "ms-p95-event")
				b.ReportMetric(float64(most.Milliseconds()), "ms-most-event")
			})
		}
	}
}

// serveReplying serves a store without a token, so that pages of this machine need
// no sign-in.
func serveReplying(tb testing.TB, rows *store.Store) string {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	server, err := New(ctx, Config{
		HTTP: HTTPConfig{Addr: "127.0.0.1:0"}, Store: rows, Changes: store.NewChanges(rows, time.Now), Temporal: &fakeTemporal{},
		Carrier:  CarrierConfig{Verifier: signed{}, AccountSID: testAccount, OurNumbers: []string{ourNumber}},
		Defaults: Defaults{Zone: "America/New_York", Region: "US"}, Relay: RelayConfig{Interval: time.Hour}, Now: time.Now,
	})
	require.NoError(tb, err)
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx) }()
	tb.Cleanup(func() { cancel(); require.NoError(tb, <-done) })
	return "http://" + server.Addr()
}
