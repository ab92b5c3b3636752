package store_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm/schema"

	"coachline/internal/database"
	"coachline/internal/pgtest"
	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

func TestOpenRefuses(t *testing.T) {
	tests := []struct{ name, url, want string }{
		{"empty", "", "DATABASE_URL: it must begin with"},
		{"other database", "mysql://root:hunter2@localhost/db", "DATABASE_URL: it must begin with"},
		{"bare path", "./coach.db", "DATABASE_URL: it must begin with"},
		{"no file", "sqlite:", "DATABASE_URL: no file named"},
		{"bad query", "sqlite:x.db?%zz", "query of DATABASE_URL"},
		{"bad postgres", "postgres://u:hunter2@host:port/db", "DATABASE_URL: not a valid PostgreSQL URL"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := store.Open(t.Context(), store.Config{URL: tt.url, Sealer: newBox(t, "one")})
			require.ErrorContains(t, err, tt.want)
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
	_, err := store.Open(t.Context(), store.Config{URL: "sqlite::memory:"})
	require.ErrorContains(t, err, "sealer is required")
}

func TestOpenAgainKeepsRows(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		require.NoError(t, w.Close())
		again := openStore(t, w.url)
		require.NoError(t, again.Ping(w.ctx))
		p, err := again.People.Participant(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, phone, p.Phone)
		require.Equal(t, 1, w.count("SELECT count(*) FROM goose_db_version WHERE version_id = 1"))
	})
}

func TestOpenAtOnce(t *testing.T) {
	urls := map[string]string{
		"sqlite":   "sqlite:" + filepath.Join(t.TempDir(), "coach.db"),
		"postgres": pgtest.Start(t),
	}
	for name, url := range urls {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var stores []*store.Store
			for _, err := range together(5, func(i int) error {
				own := url
				if name == "sqlite" { // the same options would be the same connections
					own += fmt.Sprintf("?_pragma=cache_size(%d)", 1000+i)
				}
				s, err := store.Open(t.Context(), store.Config{URL: own, Sealer: newBox(t, "one")})
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					stores = append(stores, s)
				}
				return err
			}) {
				require.NoError(t, err)
			}
			w := &world{t: t, url: url}
			require.Equal(t, 1, w.count("SELECT count(*) FROM goose_db_version WHERE version_id = 1"))
			for _, s := range stores {
				require.NoError(t, s.Close())
			}
		})
	}
}

// The parts of a process share a file, until the last of them closes it.
func TestPartsShareAFile(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "coach.db")
	open := func() *store.Store {
		s, err := store.Open(t.Context(), store.Config{URL: url, Sealer: newBox(t, "one")})
		require.NoError(t, err)
		return s
	}
	one, two := open(), open()
	_, err := one.People.Enroll(t.Context(), person("p1", phone), "operator")
	require.NoError(t, err)
	require.NoError(t, one.Close())
	require.NoError(t, one.Close(), "once more is once")
	_, err = two.People.Participant(t.Context(), "p1")
	require.NoError(t, err)
	_, err = two.People.Enroll(t.Context(), person("p2", "+12025550199"), "operator")
	require.NoError(t, err)
	require.NoError(t, two.Close())
	require.Error(t, two.Ping(t.Context()))
	again := open()
	_, err = again.People.Participant(t.Context(), "p2")
	require.NoError(t, err)
	require.NoError(t, again.Close())
}

func TestMemory(t *testing.T) {
	w := newWorld(t, "sqlite::memory:")
	w.enrolled()
	w.inbound("SM1", 1, "hello")
	w.turn(1, wire.TurnPlan{Kind: wire.TurnReply}, 2)
	tc, err := w.Turns.TurnContext(w.ctx, "p1-t1", 50)
	require.NoError(t, err)
	require.Equal(t, "Ada Quill", tc.Participant.Name)
}

func TestSQLiteSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "folder", "coach.db")
	s, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + file + "?_pragma=synchronous(full)", Sealer: newBox(t, "one")})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	info, err := os.Stat(filepath.Dir(file))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	w := &world{t: t, url: "sqlite:" + file}
	require.Equal(t, "wal", w.text("PRAGMA journal_mode"))
}

// modelRows has a row of every type of models that is one; TestSchemaMatchesModels
// names a table that has none.
func modelRows() []any {
	return []any{
		&models.Token{}, &models.Alert{}, &models.Allocation{}, &models.AttentionEntry{}, &models.AuditRow{}, &models.Budget{}, &models.Cohort{},
		&models.Consent{}, &models.ConsentText{}, &models.Cost{}, &models.CountedOutcome{}, &models.DecisionHead{}, &models.DecisionPoint{},
		&models.DecisionPosterior{}, &models.Disclosure{}, &models.EnrolmentKey{}, &models.Erasure{}, &models.FormerPhone{}, &models.Hint{}, &models.Hold{}, &models.Inbound{},
		&models.Join{}, &models.MemoryJob{}, &models.Message{}, &models.Notice{}, &models.Outbox{}, &models.Participant{}, &models.PeopleView{},
		&models.Profile{}, &models.Prompt{}, &models.RequestKey{}, &models.ScheduleRow{}, &models.SenderHold{}, &models.Session{}, &models.Step{},
		&models.Study{}, &models.StudyConsent{}, &models.Suppression{}, &models.ToolRun{}, &models.Turn{}, &models.User{}, &models.Webhook{},
		&models.WebhookDelivery{},
	}
}

// memoryRows has a row of every type of models whose table package memory holds against
// its own rows.
func memoryRows() []any {
	return []any{&models.Fact{}, &models.FactVersion{}, &models.Note{}, &models.Stage{}, &models.Summary{}}
}

// GORM derives tables and columns from the names of types and fields: a renamed
// type needs a TableName method, a renamed field a column tag. On both databases
// every field has its column, every column its field, and every table its type.
func TestSchemaMatchesModels(t *testing.T) {
	want := map[string][]string{}
	for _, row := range modelRows() {
		parsed, err := schema.Parse(row, &sync.Map{}, database.Naming{})
		require.NoError(t, err)
		want[parsed.Table] = parsed.DBNames
	}
	got := map[string][]string{}
	for _, name := range schemaColumns(t) {
		table, column, _ := strings.Cut(name, ".")
		got[table] = append(got[table], column)
	}
	// Package memory holds its own tables against its own rows; viewers, changes,
	// the queue of costs and checks of the audit have no models.
	for _, elsewhere := range []string{"goose_db_version", "payload_keys", "facts", "fact_versions", "notes", "summaries", "stages", "capabilities", "change_viewers", "changes", "cost_queue", "audit_checks"} {
		delete(got, elsewhere)
	}
	for table, columns := range got {
		require.ElementsMatch(t, columns, want[table], table)
	}
	require.Len(t, want, len(got))
}

// Nothing a person said, and nothing that names one, is readable in any
// column of any table.
func TestSealedAtRest(t *testing.T) {
	secrets := []string{"5558675310", "Ada Quill", "Ada Changed", "cello", "knee hurts", "mint tea", "stretch now", "look it up", "flossing"}
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		in := w.inbound("SM1", 1, "my knee hurts")
		_, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{ParticipantID: "p1", TurnID: "p1-t1", Number: 1,
			Plan: wire.TurnPlan{Kind: wire.TurnReply}, InboundIDs: []int64{in.Inbound.ID}, Now: at(2)})
		require.NoError(t, err)
		require.NoError(t, w.saveStep(models.Step{TurnID: "p1-t1", Number: 1, Text: "look it up", Calls: `["look it up"]`}))
		profile, err := w.People.Profile(w.ctx, "p1")
		require.NoError(t, err)
		profile.HabitDomain, profile.PreparedPrompt = "flossing", "stretch now"
		run := models.ToolRun{TurnID: "p1-t1", Step: 1, Name: "save_user_profile", Result: "flossing"}
		require.NoError(t, w.Turns.CommitTool(w.ctx, models.ToolCommit{Run: run, Profile: &profile}))
		_, err = w.Turns.FinishTurn(w.ctx, models.TurnOutcome{TurnID: "p1-t1", ParticipantID: "p1", Outcome: "reply", At: at(3), HabitPrompt: "stretch now",
			Entries: []models.Message{{Key: "a", Role: models.RoleAssistant, Kind: models.KindReply, Text: "mint tea"}},
			Outbox:  []models.Outbox{{ID: "p1-t1-p1", Part: 1, Kind: models.KindReply, Body: "mint tea"}}})
		require.NoError(t, err)
		name := "Ada Changed"
		_, err = w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "p1", Patch: models.ParticipantPatch{PersonTexts: models.PersonTexts[*string]{Name: &name}}, Now: at(4)})
		require.NoError(t, err)
		_, _, err = w.Outbox.QueueOperatorMessage(w.ctx, models.OperatorMessage{ParticipantID: "p1", Body: "mint tea", Key: "k", Now: at(5)})
		require.NoError(t, err)

		dump := w.dump()
		require.Contains(t, dump, "p1-t1-p1", "the dump holds the rows")
		for _, s := range secrets {
			require.NotContains(t, dump, s)
		}
		tc, err := w.Turns.TurnContext(w.ctx, "p1-t1", 50)
		require.NoError(t, err)
		require.Equal(t, []string{"my knee hurts", "mint tea"}, texts(tc.Window))
		require.Equal(t, "stretch now", tc.Profile.LastHabitPrompt)
		require.Equal(t, "look it up", tc.Steps[0].Text)
		require.Equal(t, "Ada Changed", tc.Participant.Name)
	})
}

// dump is everything in every table as text.
func (w *world) dump() string {
	w.t.Helper()
	var b strings.Builder
	w.raw(func(db *sql.DB) {
		for _, table := range []string{"participants", "profiles", "messages", "inbound", "outbox", "prompts",
			"schedules", "turns", "steps", "tool_runs", "notices", "audit", "consents"} {
			w.dumpTable(&b, db, table)
		}
	})
	return b.String()
}

func (w *world) dumpTable(b *strings.Builder, db *sql.DB, table string) {
	w.t.Helper()
	rows, err := db.Query("SELECT * FROM " + table)
	require.NoError(w.t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	require.NoError(w.t, err)
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		require.NoError(w.t, rows.Scan(values...))
		for _, v := range values {
			fmt.Fprintf(b, "%v|", *v.(*any))
		}
		b.WriteByte('\n')
	}
	require.NoError(w.t, rows.Err())
}

func texts(rows []models.Message) []string {
	var out []string
	for _, m := range rows {
		out = append(out, m.Text)
	}
	return out
}
