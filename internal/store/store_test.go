package store_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/dbtest"
	"coachline/internal/pgtest"
	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/models"
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

// undoNewest takes back migrations 21 to 63, for tests of older databases.
var undoNewest = []string{
	"ALTER TABLE brakes DROP COLUMN name",
	"DROP TABLE decision_outcomes", "DROP TABLE decision_posteriors",
	"DROP TABLE request_keys",
	"CREATE INDEX notices_waiting ON notices (id) WHERE delivered_at IS NULL",
	"DROP TABLE webhook_deliveries", "DROP TABLE webhooks",
	"ALTER TABLE outbox DROP COLUMN sent_from", "DROP TABLE people_views",
	"DROP TABLE joins", "DROP INDEX hints_join", "ALTER TABLE hints DROP COLUMN join_id", "ALTER TABLE hints DROP COLUMN purpose",
	"DROP INDEX participants_paused", "ALTER TABLE participants DROP COLUMN paused_until",
	"ALTER TABLE turns DROP COLUMN arm", "ALTER TABLE turns DROP COLUMN study_version",
	"ALTER TABLE cohort_jobs DROP COLUMN study_id", "DROP INDEX participants_study", "ALTER TABLE participants DROP COLUMN study_id", "ALTER TABLE participants DROP COLUMN arm",
	"DROP TABLE allocations", "DROP TABLE decisions", "DROP TABLE decision_heads", "DROP TABLE studies", "DROP TABLE consent_texts", "DROP TABLE study_consents",
	"ALTER TABLE outbox DROP COLUMN segments", "DROP INDEX outbox_created", "DROP INDEX participants_heard", "DROP INDEX schedules_next", "DROP INDEX prompts_target",
	"DROP INDEX participants_unreachable", "DROP TABLE audit_checks", "DROP TABLE cost_queue", "DROP TABLE costs", "DROP TABLE budgets",
	"DROP TABLE cohort_jobs", "DROP TABLE erasures", "DROP TABLE suppressions",
	"DROP TABLE change_viewers", "DROP TABLE changes",
	"DROP INDEX participants_taken_over", "ALTER TABLE participants DROP COLUMN taken_over_by", "ALTER TABLE participants DROP COLUMN taken_over_at",
	"ALTER TABLE participants DROP COLUMN taken_over_until", "ALTER TABLE outbox DROP COLUMN sent_by", "ALTER TABLE messages DROP COLUMN written_by",
	"DROP INDEX alarms_unacknowledged", "ALTER TABLE alarms DROP COLUMN acknowledged_at", "ALTER TABLE alarms DROP COLUMN acknowledged_by",
	"ALTER TABLE alarms DROP COLUMN escalated_at",
	"DROP INDEX participants_removed", "ALTER TABLE participants DROP COLUMN last_inbound_at",
	"DROP INDEX audit_seq", "DROP INDEX audit_actor", "ALTER TABLE audit DROP COLUMN seq", "ALTER TABLE audit DROP COLUMN object",
	"ALTER TABLE audit DROP COLUMN request_id", "ALTER TABLE audit DROP COLUMN address", "ALTER TABLE audit DROP COLUMN change",
	"ALTER TABLE audit DROP COLUMN content_hash", "ALTER TABLE audit DROP COLUMN hash", "DROP TABLE users", "DROP TABLE sessions", "DROP TABLE api_tokens",
	"ALTER TABLE alarms DROP COLUMN mark", "ALTER TABLE alarms DROP COLUMN marked_by", "ALTER TABLE alarms DROP COLUMN marked_at",
	"ALTER TABLE alarms DROP COLUMN tier", "ALTER TABLE alarms DROP COLUMN rule", "ALTER TABLE alarms DROP COLUMN kind",
	"ALTER TABLE alarms DROP COLUMN score", "ALTER TABLE alarms DROP COLUMN escalated", "ALTER TABLE alarms DROP COLUMN pages",
	"ALTER TABLE inbound DROP COLUMN danger_tier", "ALTER TABLE inbound DROP COLUMN danger_rule",
	"ALTER TABLE inbound DROP COLUMN danger_kind", "ALTER TABLE inbound DROP COLUMN danger_score",
	"DROP INDEX alarms_due_looks", "ALTER TABLE alarms DROP COLUMN look", "ALTER TABLE alarms DROP COLUMN looked_at", "ALTER TABLE alarms DROP COLUMN look_reason",
	"DROP TABLE memory_queue", "DROP TABLE enrolment_keys", "DROP INDEX hints_created", "ALTER TABLE consents DROP COLUMN channel", "ALTER TABLE consents DROP COLUMN caller",
	"ALTER TABLE participants DROP COLUMN greeting_at", "ALTER TABLE participants DROP COLUMN signed_up",
}

// undoMigrations lists the statements that take back the newest migrations on
// the world's database.
func (w *world) undoMigrations() []string {
	return slices.Concat(w.dropChangeTriggers(), w.dropAuditTriggers(), undoNewest)
}

// dropChangeTriggers lists the statements that remove the triggers of changes and costs.
func (w *world) dropChangeTriggers() []string {
	query, drop := "SELECT name FROM sqlite_master WHERE type = 'trigger' AND (name LIKE '%_change' OR name LIKE '%_cost' OR name LIKE '%_event')", "DROP TRIGGER %s"
	if !strings.HasPrefix(w.url, "sqlite:") {
		query = "SELECT 'tell_change' UNION SELECT 'tell_participant_change' UNION SELECT 'tell_common_change' UNION SELECT 'queue_step_cost' UNION SELECT 'queue_stage_cost' UNION SELECT 'queue_outbox_cost' UNION SELECT 'queue_inbound_cost' UNION SELECT 'refuse_row_change' UNION SELECT proname::text FROM pg_proc WHERE proname LIKE 'tell\\_%\\_%' AND proname NOT LIKE '%change' UNION SELECT 'add_event'"
		drop = "DROP FUNCTION %s CASCADE"
	}
	var statements []string
	w.raw(func(db *sql.DB) {
		rows, err := db.Query(query)
		require.NoError(w.t, err)
		defer func() { require.NoError(w.t, rows.Close()) }()
		for rows.Next() {
			var name string
			require.NoError(w.t, rows.Scan(&name))
			statements = append(statements, fmt.Sprintf(drop, name))
		}
		require.NoError(w.t, rows.Err())
	})
	return statements
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
func (w *world) turn(n int, plan models.TurnPlan, minutes int) (outboxID string) {
	w.t.Helper()
	id := models.TurnID("p1", n)
	_, err := w.Turns.BeginTurn(w.ctx, models.PrepareTurnInput{ParticipantID: "p1", TurnID: id, Number: n, Mode: models.ModeIntake, Plan: plan, Now: at(minutes)})
	require.NoError(w.t, err)
	ids, err := w.finish(outcome(id, plan.Kind, plan.PromptID, minutes))
	require.NoError(w.t, err)
	require.Equal(w.t, []string{id + "-p1"}, ids)
	return ids[0]
}

func outcome(turnID string, kind models.TurnKind, promptID string, minutes int) models.TurnOutcome {
	out := models.OutboxID(turnID, 1)
	return models.TurnOutcome{
		TurnID: turnID, ParticipantID: "p1", Outcome: "reply", PromptVersion: "v1", At: at(minutes),
		Entries: []models.Message{{Key: "out-" + turnID, Role: models.RoleAssistant, Kind: models.EntryKind(kind), Text: "text of " + turnID, OutboxID: out}},
		Outbox:  []models.Outbox{{ID: out, Part: 1, Kind: models.EntryKind(kind), PromptID: promptID, Body: "text of " + turnID}},
	}
}

func promptPlan(date string) models.TurnPlan {
	return models.TurnPlan{
		Kind: models.TurnPrompt, ScheduleID: "s1", PromptID: models.PromptID("p1", "s1", date),
		Slot: models.Slot{Date: date, TargetAt: at(10), SendAt: at(0)},
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
	require.Equal(w.t, models.OutboxSending, row.Status, row.ErrorCode)
	return claim
}

func (w *world) accepted(outboxID string, minutes int) {
	w.t.Helper()
	receipt := models.Receipt{ProviderSID: "SM-" + outboxID, Status: models.OutboxQueued}
	require.NoError(w.t, w.Outbox.RecordAccepted(w.ctx, w.ref(outboxID), receipt, at(minutes)))
}

func (w *world) outbox(id string) (status models.OutboxStatus, code string) {
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
