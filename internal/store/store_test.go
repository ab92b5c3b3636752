package store_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"coachline/internal/dbtest"
	"coachline/internal/pgtest"
	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

func TestMain(m *testing.M) {
	registerPager()
	os.Exit(pgtest.Main(m))
}

var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// at is an instant some minutes after the start of a test's story.
func at(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }

// newBox is a key ring with one key, whose material derives from its name.
func newBox(t testing.TB, key string) *seal.Ring {
	t.Helper()
	sum := sha256.Sum256([]byte(key))
	ring, err := seal.Parse(key + ":" + base64.StdEncoding.EncodeToString(sum[:]))
	require.NoError(t, err)
	return ring
}

// world is a database with its store.
type world struct {
	*store.Store
	t   *testing.T
	ctx context.Context
	url string
	// beside is a connection to PostgreSQL beside the store's, once raw needs one.
	beside *sql.DB
}

// onEachDatabase runs a test on SQLite and on PostgreSQL at once, each with the URL of
// a database that has the schema and no rows. Both run when the caller has returned; in
// short SQLite alone.
func onEachDatabase(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	for name, start := range map[string]func(testing.TB) string{"sqlite": dbtest.SQLite, "postgres": dbtest.Postgres} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "postgres" {
				t.Skip("in short SQLite alone")
			}
			t.Parallel()
			test(t, start(t))
		})
	}
}

// onBoth is onEachDatabase with the store open.
func onBoth(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	onEachDatabase(t, func(t *testing.T, url string) { test(t, newWorld(t, url)) })
}

func onSQLite(t *testing.T) *world {
	t.Helper()
	return newWorld(t, dbtest.SQLite(t))
}

func newWorld(t *testing.T, url string) *world {
	t.Helper()
	return &world{Store: openStore(t, url), t: t, ctx: t.Context(), url: url}
}

func openStore(t *testing.T, url string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{URL: url, Sealer: newBox(t, "one")})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// raw runs fn on a connection that knows nothing of the store.
func (w *world) raw(fn func(db *sql.DB)) {
	w.t.Helper()
	if path, ok := strings.CutPrefix(w.url, "sqlite:"); ok {
		db, err := sql.Open("sqlite", path)
		require.NoError(w.t, err)
		fn(db)
		require.NoError(w.t, db.Close())
		return
	}
	if w.beside == nil { // to connect takes longer than most queries
		db, err := sql.Open("pgx", w.url)
		require.NoError(w.t, err)
		w.t.Cleanup(func() { require.NoError(w.t, db.Close()) })
		w.beside = db
	}
	fn(w.beside)
}

// becomeOlder has the world's rows stand in a database that has the first migrations
// alone, without what later ones added. The store is closed.
func (w *world) becomeOlder(version int64) {
	w.t.Helper()
	require.NoError(w.t, w.Close())
	newer := *w
	dialect, folder := goose.DialectSQLite3, "sqlite"
	w.url, w.beside = "sqlite:"+filepath.Join(w.t.TempDir(), "older.db"), nil
	if strings.HasPrefix(newer.url, "postgres") {
		dialect, folder, w.url = goose.DialectPostgres, "postgres", pgtest.Start(w.t)
	}
	w.raw(func(db *sql.DB) {
		provider, err := goose.NewProvider(dialect, db, os.DirFS(filepath.Join("..", "database", "migrations", folder)), goose.WithDisableGlobalRegistry(true))
		require.NoError(w.t, err)
		_, err = provider.UpTo(w.ctx, version)
		require.NoError(w.t, err)
	})
	had := newer.columns()
	names := map[string][]string{}
	for _, c := range w.columns() {
		if c.table != "goose_db_version" && slices.Contains(had, c) {
			names[c.table] = append(names[c.table], c.name)
		}
	}
	newer.raw(func(from *sql.DB) {
		w.raw(func(to *sql.DB) {
			conn, err := to.Conn(w.ctx)
			require.NoError(w.t, err)
			defer conn.Close()
			run := func(statement string) {
				_, err := conn.ExecContext(w.ctx, statement)
				require.NoError(w.t, err)
			}
			if dialect == goose.DialectPostgres { // tables come in any order
				run("SET session_replication_role = replica")
				defer run(followIDs)
			}
			for table, columns := range names {
				copyRows(w.t, from, conn, table, columns)
			}
		})
	})
}

// followIDs has ids that PostgreSQL assigns go on after those that there are.
const followIDs = `DO $$
DECLARE c record;
BEGIN
    FOR c IN SELECT table_name, column_name FROM information_schema.columns WHERE is_identity = 'YES' LOOP
        EXECUTE format('SELECT setval(pg_get_serial_sequence(%1$L, %2$L), max(%2$I)) FROM %1$I HAVING max(%2$I) > 0', c.table_name, c.column_name);
    END LOOP;
END $$`

// copyRows copies the columns of a table from one database to another of its kind.
func copyRows(t *testing.T, from *sql.DB, to *sql.Conn, table string, columns []string) {
	t.Helper()
	list := `"` + strings.Join(columns, `", "`) + `"`
	rows, err := from.QueryContext(t.Context(), "SELECT "+list+" FROM "+table)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		values, into, places := make([]any, len(columns)), make([]any, len(columns)), make([]string, len(columns))
		for i := range values {
			into[i], places[i] = &values[i], fmt.Sprint("$", i+1)
		}
		require.NoError(t, rows.Scan(into...))
		_, err := to.ExecContext(t.Context(), "INSERT INTO "+table+" ("+list+") VALUES ("+strings.Join(places, ", ")+")", values...)
		require.NoError(t, err, table)
	}
	require.NoError(t, rows.Err())
}

func (w *world) dropAuditTriggers() []string {
	if strings.HasPrefix(w.url, "sqlite:") {
		return []string{"DROP TRIGGER audit_keep", "DROP TRIGGER audit_fixed"}
	}
	return []string{"DROP TRIGGER audit_keep ON audit", "DROP TRIGGER audit_fixed ON audit", "DROP FUNCTION refuse_audit_change"}
}

func (w *world) count(query string) int {
	w.t.Helper()
	var n int
	w.raw(func(db *sql.DB) { require.NoError(w.t, db.QueryRow(query).Scan(&n)) })
	return n
}

func (w *world) text(query string) string {
	w.t.Helper()
	var s string
	w.raw(func(db *sql.DB) { require.NoError(w.t, db.QueryRow(query).Scan(&s)) })
	return s
}

func person(id, phone string) models.Participant {
	return models.Participant{
		ID: id, Phone: phone, PersonTexts: models.PersonTexts[string]{Name: "Ada Quill", Gender: "woman", Background: "plays the cello"},
		Timezone: "America/New_York", ZoneAssumed: true, Locale: "en-US", EnrolledAt: start,
	}
}

const (
	phone    = "+15558675310"
	testKeys = "k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
)

// enrolled adds the participant most tests are about: p1.
func (w *world) enrolled() models.Participant {
	w.t.Helper()
	p, err := w.People.Enroll(w.ctx, person("p1", phone), "operator")
	require.NoError(w.t, err)
	return p
}

// text in from p1, received some minutes after the start.
func (w *world) inbound(sid string, minutes int, body string) models.AcceptedInbound {
	w.t.Helper()
	got, err := w.Inbound.AcceptInbound(w.ctx, models.Inbound{ProviderSID: sid, From: phone, To: "+15017122661", Body: body, ReceivedAt: at(minutes)})
	require.NoError(w.t, err)
	return got
}

// turn begins and finishes turn n of p1, which sends one text.
func (w *world) turn(n int, plan wire.TurnPlan, minutes int) (outboxID string) {
	w.t.Helper()
	id := models.TurnID("p1", n)
	_, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{ParticipantID: "p1", TurnID: id, Number: n, Mode: wire.ModeIntake, Plan: plan, Now: at(minutes)})
	require.NoError(w.t, err)
	ids, err := w.finish(outcome(id, plan.Kind, plan.PromptID, minutes))
	require.NoError(w.t, err)
	require.Equal(w.t, []string{id + "-p1"}, ids)
	return ids[0]
}

func outcome(turnID string, kind wire.TurnKind, promptID string, minutes int) models.TurnOutcome {
	out := models.OutboxID(turnID, 1)
	return models.TurnOutcome{
		TurnID: turnID, ParticipantID: "p1", Outcome: "reply", PromptVersion: "v1", At: at(minutes),
		Entries: []models.Message{{Key: "out-" + turnID, Role: models.RoleAssistant, Kind: models.EntryKind(kind), Text: "text of " + turnID, OutboxID: out}},
		Outbox:  []models.Outbox{{ID: out, Part: 1, Kind: models.EntryKind(kind), PromptID: promptID, Body: "text of " + turnID}},
	}
}

func promptPlan(date string) wire.TurnPlan {
	return wire.TurnPlan{
		Kind: wire.TurnPrompt, ScheduleID: "s1", PromptID: models.PromptID("p1", "s1", date),
		Slot: wire.Slot{Date: date, TargetAt: at(10), SendAt: at(0)},
	}
}

// sent posts an outbox row and has the carrier take it.
func (w *world) sent(outboxID string, minutes int) {
	w.t.Helper()
	w.post(outboxID, minutes)
	w.accepted(outboxID, minutes)
}

// post claims an outbox row and writes it to the carrier, whose answer is still
// out.
func (w *world) post(outboxID string, minutes int) models.SendClaim {
	w.t.Helper()
	claim, err := w.Outbox.ClaimSend(w.ctx, outboxID, at(minutes))
	require.NoError(w.t, err)
	require.True(w.t, claim.Post && !claim.Resumed, "claim: %+v", claim.Outbox)
	row, err := w.Outbox.StartPost(w.ctx, claim, at(minutes))
	require.NoError(w.t, err)
	require.Equal(w.t, wire.OutboxSending, row.Status, row.ErrorCode)
	return claim
}

func (w *world) accepted(outboxID string, minutes int) {
	w.t.Helper()
	receipt := models.Receipt{ProviderSID: "SM-" + outboxID, Status: wire.OutboxQueued}
	require.NoError(w.t, w.Outbox.RecordAccepted(w.ctx, w.ref(outboxID), receipt, at(minutes)))
}

func (w *world) outbox(id string) (status wire.OutboxStatus, code string) {
	w.t.Helper()
	claim, err := w.Outbox.ClaimSend(w.ctx, id, at(999))
	require.NoError(w.t, err)
	require.False(w.t, claim.Post, "row %s was not settled", id)
	return claim.Outbox.Status, claim.Outbox.ErrorCode
}

func (w *world) promptState(id string) models.PromptState {
	w.t.Helper()
	return models.PromptState(w.text(fmt.Sprintf("SELECT state FROM prompts WHERE id = '%s'", id)))
}

func (w *world) noticeKinds() []models.NoticeKind {
	w.t.Helper()
	_, rows, err := w.Notices.Untold(w.ctx, "p1")
	require.NoError(w.t, err)
	var kinds []models.NoticeKind
	for _, r := range rows {
		kinds = append(kinds, r.Kind)
	}
	return kinds
}

// together runs fn n times at once and returns the errors.
func together(n int, fn func(i int) error) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	gate := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-gate
			errs[i] = fn(i)
		})
	}
	close(gate)
	wg.Wait()
	return errs
}

// finish ends a turn and returns the rows to send.
func (w *world) finish(o models.TurnOutcome) ([]string, error) {
	ended, err := w.Turns.FinishTurn(w.ctx, o)
	return ended.OutboxIDs, err
}

func (w *world) saveStep(step models.Step) error {
	_, err := w.Turns.SaveStep(w.ctx, step)
	return err
}

// ref names the newest claim on a row.
func (w *world) ref(id string) models.ClaimRef {
	w.t.Helper()
	row, err := w.Outbox.Row(w.ctx, id)
	if errors.Is(err, models.ErrNotFound) {
		return models.ClaimRef{OutboxID: id}
	}
	require.NoError(w.t, err)
	return models.SendClaim{Outbox: row}.Ref()
}
