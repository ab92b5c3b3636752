package memory_test

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm/schema"

	"coachline/internal/dbtest"
	"coachline/internal/memory"
	"coachline/internal/pgtest"
	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

const testKeys = "k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// at is an instant some minutes after the start of a test's story.
func at(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }

// world is a memory beside a store with two people: ann and ben.
type world struct {
	*memory.Store
	rows *store.Store
	t    testing.TB
	ctx  context.Context
	url  string
	n    int
}

// onBoth runs a test on SQLite and on PostgreSQL, each on an empty database.
func onBoth(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, newWorld(t, onSQLite(t))) })
	t.Run("postgres", func(t *testing.T) { test(t, newWorld(t, dbtest.Postgres(t))) })
}

func onSQLite(t testing.TB) string { return dbtest.SQLite(t) }

func newWorld(t testing.TB, url string) *world {
	t.Helper()
	ring, err := seal.Parse(testKeys)
	require.NoError(t, err)
	rows, err := store.Open(t.Context(), store.Config{URL: url, Sealer: ring})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })
	facts := rows.Memory
	w := &world{Store: facts, rows: rows, t: t, ctx: t.Context(), url: url}
	w.enrol("ann")
	w.enrol("ben")
	return w
}

func (w *world) enrol(id string) {
	w.t.Helper()
	w.n++
	p := models.Participant{ID: id, Phone: fmt.Sprintf("+1555%07d", w.n), Timezone: "UTC", EnrolledAt: start}
	_, err := w.rows.People.Enroll(w.ctx, p, "operator")
	require.NoError(w.t, err)
}

func (w *world) remove(id string) {
	w.t.Helper()
	require.NoError(w.t, w.rows.People.RemoveParticipant(w.ctx, id, "operator", at(500)))
}

// turn begins turn n of a participant.
func (w *world) turn(id string, n int) string {
	w.t.Helper()
	turn := models.TurnID(id, n)
	_, err := w.rows.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{
		ParticipantID: id, TurnID: turn, Number: n, Mode: wire.ModeIntake, Plan: wire.TurnPlan{Kind: wire.TurnReply}, Now: at(n),
	})
	require.NoError(w.t, err)
	return turn
}

// raw runs fn on a connection that knows nothing of us.
func (w *world) raw(fn func(db *sql.DB)) {
	w.t.Helper()
	driver, name := "pgx", w.url
	if path, ok := strings.CutPrefix(w.url, "sqlite:"); ok {
		driver, name = "sqlite", path
	}
	db, err := sql.Open(driver, name)
	require.NoError(w.t, err)
	fn(db)
	require.NoError(w.t, db.Close())
}

// table is everything in a table, a line a row; bytes are in hex.
func (w *world) table(name string) string {
	w.t.Helper()
	var b strings.Builder
	w.raw(func(db *sql.DB) {
		rows, err := db.Query("SELECT * FROM " + name)
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
			for i, v := range values {
				value := *v.(*any)
				if bytes, ok := value.([]byte); ok {
					value = hex.EncodeToString(bytes)
				}
				fmt.Fprintf(&b, "%s=%v|", columns[i], value)
			}
			b.WriteByte('\n')
		}
		require.NoError(w.t, rows.Err())
	})
	return b.String()
}

// together runs fn n times at once.
func together(n int, fn func(i int)) {
	var wg sync.WaitGroup
	gate := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-gate
			fn(i)
		})
	}
	close(gate)
	wg.Wait()
}

// Every field of a row has its column and every column its field, on both
// databases; the vector of a fact has a column and no field.
func TestSchemaMatchesModels(t *testing.T) {
	rows := map[string]any{
		"facts": models.Fact{}, "fact_versions": models.FactVersion{}, "notes": models.Note{},
		"summaries": models.Summary{}, "stages": models.Stage{}, "capabilities": models.Capability{},
	}
	onBoth(t, func(t *testing.T, w *world) {
		for table, row := range rows {
			var want []string
			for f := range reflect.TypeOf(row).Fields() {
				if f.Tag.Get("gorm") == "-" {
					continue
				}
				want = append(want, schema.NamingStrategy{}.ColumnName("", f.Name))
			}
			if table == "facts" {
				want = append(want, "vector", "vector_model")
			}
			w.raw(func(db *sql.DB) {
				got, err := db.Query("SELECT * FROM " + table + " LIMIT 0")
				require.NoError(t, err)
				defer got.Close()
				columns, err := got.Columns()
				require.NoError(t, err)
				require.NoError(t, got.Err())
				require.ElementsMatch(t, want, columns, table)
			})
		}
	})
}

// Nothing that is remembered of a person can be read in any column, and the
// numbers of a vector cannot either.
func TestSealedAtRest(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		turn := w.turn("ann", 1)
		fact := w.save("ann", "plays the cello", 1, 0, 0)
		w.update("ann", fact.ID, "plays the oboe", 0, 1, 0)
		require.NoError(t, w.PutNote(w.ctx, models.Note{ParticipantID: "ann", LocalDate: "2026-03-02", Text: "knee hurts"}))
		require.NoError(t, w.PutSummary(w.ctx, models.Summary{ParticipantID: "ann", Text: "mint tea"}))
		require.NoError(t, w.SaveStage(w.ctx, models.Stage{TurnID: turn, Number: 1, Output: "walks at dawn"}))
		var dump strings.Builder
		for _, table := range []string{"facts", "fact_versions", "notes", "summaries", "stages"} {
			dump.WriteString(w.table(table))
		}
		require.Contains(t, dump.String(), "participant_id=ann", "the dump holds the rows")
		for _, secret := range []string{"cello", "oboe", "knee", "mint", "dawn", "0000803f"} {
			require.NotContains(t, dump.String(), secret)
		}
	})
}

func TestRecall(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		got, err := w.Recall(w.ctx, "ann")
		require.NoError(t, err)
		require.Equal(t, models.Memory{Facts: []models.Fact{}, Notes: []models.Note{}, Summary: models.Summary{ParticipantID: "ann"}}, got)

		w.save("ann", "walks at 6am")
		w.save("ann", "has a dog")
		w.update("ann", "f1", "walks at 7am")
		w.save("ben", "swims")
		for day := range 5 {
			note := models.Note{ParticipantID: "ann", LocalDate: fmt.Sprintf("2026-03-0%d", 1+day), Text: fmt.Sprint("day ", day), UpdatedAt: at(day)}
			require.NoError(t, w.PutNote(w.ctx, note))
		}
		require.NoError(t, w.PutSummary(w.ctx, models.Summary{ParticipantID: "ann", Text: "early days", UptoMessage: 7, UpdatedAt: at(9)}))

		got, err = w.Recall(w.ctx, "ann")
		require.NoError(t, err)
		require.Equal(t, []string{"walks at 7am", "has a dog"}, texts(got.Facts))
		var days []string
		for _, note := range got.Notes {
			days = append(days, note.LocalDate+" "+note.Text)
		}
		require.Equal(t, []string{"2026-03-05 day 4", "2026-03-04 day 3", "2026-03-03 day 2"}, days)
		require.Equal(t, models.Summary{ParticipantID: "ann", Text: "early days", UptoMessage: 7, Version: 1, UpdatedAt: at(9)}, got.Summary)
	})
}

// The rows of a participant who was removed stay, as the conversation does, and
// are neither shown nor added to.
func TestRemoved(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.save("ann", "has a dog", 1)
		w.remove("ann")
		calls := map[string]func(id string) error{
			"Recall":  func(id string) error { _, err := w.Recall(w.ctx, id); return err },
			"Facts":   func(id string) error { _, err := w.Facts(w.ctx, id); return err },
			"History": func(id string) error { _, err := w.History(w.ctx, id, "f1"); return err },
			"Notes":   func(id string) error { _, err := w.Notes(w.ctx, id, 3); return err },
			"Find": func(id string) error {
				_, err := w.Find(w.ctx, models.FactQuery{ParticipantID: id, Words: []string{"dog"}})
				return err
			},
			"SaveFact": func(id string) error {
				_, err := w.SaveFact(w.ctx, models.Fact{ParticipantID: id, Kind: models.FactGoal, Text: "x", TurnID: "t", CreatedAt: at(1)}, nil)
				return err
			},
			"UpdateFact": func(id string) error {
				_, err := w.UpdateFact(w.ctx, models.Fact{ParticipantID: id, ID: "f1", Text: "x", TurnID: "t", UpdatedAt: at(1)}, nil)
				return err
			},
			"PutNote": func(id string) error {
				return w.PutNote(w.ctx, models.Note{ParticipantID: id, LocalDate: "2026-03-02", Text: "x"})
			},
			"PutSummary": func(id string) error { return w.PutSummary(w.ctx, models.Summary{ParticipantID: id, Text: "x"}) },
		}
		for name, call := range calls {
			require.ErrorIs(t, call("ann"), models.ErrNotFound, name)
			require.ErrorIs(t, call("nobody"), models.ErrNotFound, name)
		}
		require.Contains(t, w.table("facts"), "id=f1")
	})
}
