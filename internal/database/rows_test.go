package database

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"coachline/internal/pgtest"
	"coachline/models"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// onBoth runs a test on an empty database of each kind.
func onBoth(t *testing.T, test func(t *testing.T, d *Database)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, openPlain(t, "sqlite:"+filepath.Join(t.TempDir(), "rows.db"))) })
	t.Run("postgres", func(t *testing.T) { test(t, openPlain(t, pgtest.Start(t))) })
}

var rowsAt = time.Date(2026, 3, 2, 9, 0, 0, 123456000, time.UTC)

// filledRow is a row of a model with a value in every column but its id.
func filledRow[T any](t *testing.T, fixed T) T {
	t.Helper()
	row := reflect.ValueOf(&fixed).Elem()
	table, err := tableOf(row.Type())
	require.NoError(t, err)
	for _, field := range table.fields {
		value := field.ReflectValueOf(t.Context(), row)
		if field == table.serial || !value.IsZero() {
			continue
		}
		switch at := value.Addr().Interface().(type) {
		case *time.Time:
			*at = rowsAt
			continue
		case **time.Time:
			*at = new(rowsAt)
			continue
		}
		switch value.Kind() {
		case reflect.String:
			value.SetString(field.DBName)
		case reflect.Bool:
			value.SetBool(true)
		case reflect.Int, reflect.Int64:
			value.SetInt(7)
		case reflect.Float64:
			value.SetFloat(0.5)
		}
	}
	return fixed
}

// checkRow inserts rows with and without values and reads each with both functions.
func checkRow[T any](t *testing.T, tx *gorm.DB, key string, rows ...T) {
	t.Helper()
	for _, row := range rows {
		added, err := InsertOnce(tx, &row)
		require.NoError(t, err)
		require.True(t, added)
		again := row
		table, err := tableOf(reflect.TypeFor[T]())
		require.NoError(t, err)
		value := reflect.ValueOf(&again).Elem()
		if table.serial != nil {
			require.Error(t, Insert(tx, &again), "its id is given")
			table.serial.ReflectValueOf(t.Context(), value).SetZero()
		}
		id := reflect.Indirect(reflect.ValueOf(row)).FieldByName(key).Interface()
		name := table.schema.LookUpField(key).DBName
		var want T
		require.NoError(t, tx.Where(name+" = ?", id).Take(&want).Error)
		got, err := Select[T](name+" = ?").ForUpdate().Take(tx, id)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, row, got, "as it was written")
		if table.serial == nil || name != table.serial.DBName {
			added, err = InsertOnce(tx, &again)
			require.NoError(t, err)
			require.False(t, added)
		}
	}
}

func TestRowsAreThoseOfGorm(t *testing.T) {
	onBoth(t, func(t *testing.T, d *Database) {
		require.NoError(t, d.Write(t.Context(), func(tx *gorm.DB) error {
			p := models.Participant{ID: "p1", Phone: "+12025550101", PhoneIndex: "i1", CreatedAt: rowsAt, UpdatedAt: rowsAt, EnrolledAt: rowsAt}
			checkRow(t, tx, "ID", p, filledRow(t, models.Participant{ID: "p2"}))
			turn := models.Turn{ID: "p1-t1", ParticipantID: "p1", StartedAt: rowsAt}
			checkRow(t, tx, "ID", turn, filledRow(t, models.Turn{ID: "p1-t2", ParticipantID: "p1", Number: 2}))
			checkRow(t, tx, "ProviderSID", models.Inbound{ProviderSID: "SM1", ReceivedAt: rowsAt},
				filledRow(t, models.Inbound{ProviderSID: "SM2", ParticipantID: "p1", OptOutType: ""}))
			checkRow(t, tx, "Key", models.Message{ParticipantID: "p1", TurnID: "p1-t1", Key: "a", At: rowsAt},
				filledRow(t, models.Message{ParticipantID: "p1", TurnID: "p1-t1"}))
			checkRow(t, tx, "Number", models.Step{TurnID: "p1-t1", Number: 1, CreatedAt: rowsAt}, filledRow(t, models.Step{TurnID: "p1-t1", Number: 2}))
			checkRow(t, tx, "ID", models.Outbox{ID: "o1", ParticipantID: "p1", CreatedAt: rowsAt, UpdatedAt: rowsAt},
				filledRow(t, models.Outbox{ID: "o2", ParticipantID: "p1"}))
			checkRow(t, tx, "ID", filledRow(t, models.Prompt{ID: "p1-a-2026-03-02", ParticipantID: "p1"}))
			checkRow(t, tx, "ParticipantID", models.Profile{ParticipantID: "p1", UpdatedAt: rowsAt},
				filledRow(t, models.Profile{ParticipantID: "p2", Tone: models.Tone{Tags: []string{"short"}}}))
			return nil
		}))
	})
}

func TestInsertGivesIDs(t *testing.T) {
	onBoth(t, func(t *testing.T, d *Database) {
		require.NoError(t, d.Write(t.Context(), func(tx *gorm.DB) error {
			p := filledRow(t, models.Participant{ID: "p1"})
			require.NoError(t, Insert(tx, &p))
			var last int64
			for range 2 {
				notice := models.Notice{ParticipantID: "p1", Kind: models.NoticeStart}
				require.NoError(t, Insert(tx, &notice))
				require.Greater(t, notice.ID, last)
				require.WithinDuration(t, time.Now(), notice.CreatedAt, time.Hour, "an instant that is not set is now")
				last = notice.ID
			}
			return nil
		}))
		busy := InsertWith("EXISTS (SELECT 1 FROM participants WHERE participants.id = ?)")
		for id, want := range map[string]bool{"p1": true, "p9": false} {
			notice := models.Notice{ParticipantID: "p1", Kind: models.NoticeStart}
			var found bool
			require.NoError(t, d.WriteOne(t.Context(), func(rows *gorm.DB) error { return busy.Insert(rows, &notice, []any{&found}, id) }))
			require.Equal(t, want, found)
			var kept models.Notice
			require.NoError(t, d.Reader(t.Context()).Take(&kept, notice.ID).Error)
			require.Equal(t, models.NoticeStart, kept.Kind)
		}
		p := filledRow(t, models.Participant{ID: "p1"})
		require.ErrorIs(t, d.WriteOne(t.Context(), func(rows *gorm.DB) error { return Insert(rows, &p) }), models.ErrConflict)
		stray := models.Turn{ID: "p9-t1", ParticipantID: "p9"}
		require.ErrorIs(t, d.WriteOne(t.Context(), func(rows *gorm.DB) error { return Insert(rows, &stray) }), models.ErrNotFound)
	})
}

// TestWithRowID: a row gets the id that its context names, those of other tables the
// database's.
func TestWithRowID(t *testing.T) {
	onBoth(t, func(t *testing.T, d *Database) {
		give := func(table string, id int64) context.Context { return WithRowID(t.Context(), table, id) }
		withMore := InsertWith("1 = ?")
		require.NoError(t, d.Write(t.Context(), func(tx *gorm.DB) error {
			p := filledRow(t, models.Participant{ID: "p1"})
			return Insert(tx, &p)
		}))
		for _, insert := range []func(rows *gorm.DB, notice *models.Notice) error{
			func(rows *gorm.DB, notice *models.Notice) error { return Insert(rows, notice) },
			func(rows *gorm.DB, notice *models.Notice) error {
				var more bool
				err := withMore.Insert(rows, notice, []any{&more}, 1)
				require.True(t, more)
				return err
			},
		} {
			ids := map[int64]int64{}
			for _, ctx := range []context.Context{give("notices", 71), give("inbound", 81), give("notices", 51)} {
				notice := models.Notice{ParticipantID: "p1", Kind: models.NoticeStart, Ref: "told"}
				require.NoError(t, d.WriteOne(ctx, func(rows *gorm.DB) error { return insert(rows, &notice) }))
				var kept models.Notice
				require.NoError(t, d.Reader(t.Context()).Take(&kept, notice.ID).Error)
				require.Equal(t, "told", kept.Ref)
				ids[notice.ID]++
			}
			require.Len(t, ids, 3)
			require.Contains(t, ids, int64(71))
			require.Contains(t, ids, int64(51))
			require.NotContains(t, ids, int64(81))
			require.NoError(t, d.WriteOne(t.Context(), func(rows *gorm.DB) error { return rows.Where("id > 0").Delete(&models.Notice{}).Error }))
		}
	})
}

func TestUpdateReadsWhatItWrote(t *testing.T) {
	raise := Update[models.Participant]("next_seq = next_seq + ?", "id = ?").With("next_seq > 8")
	onBoth(t, func(t *testing.T, d *Database) {
		p := filledRow(t, models.Participant{ID: "p1"})
		require.NoError(t, d.Write(t.Context(), func(tx *gorm.DB) error { return Insert(tx, &p) }))
		require.NoError(t, d.Write(t.Context(), func(tx *gorm.DB) error {
			var high bool
			got, err := raise.TakeWith(tx, []any{&high}, 2, "p1")
			require.NoError(t, err)
			require.True(t, high)
			p.NextSeq += 2
			require.Equal(t, p, got)
			_, err = raise.TakeWith(tx, []any{&high}, 2, "p9")
			require.ErrorIs(t, err, gorm.ErrRecordNotFound)
			return nil
		}))
	})
}

func TestLockJoinedReadsEachModel(t *testing.T) {
	near := LockJoined("JOIN profiles ON profiles.participant_id = participants.id WHERE participants.id = ?", "next_seq > ?")
	onBoth(t, func(t *testing.T, d *Database) {
		p := filledRow(t, models.Participant{ID: "p1"})
		profile := filledRow(t, models.Profile{ParticipantID: "p1", Tone: models.Tone{Tags: []string{"short"}}})
		require.NoError(t, d.Write(t.Context(), func(tx *gorm.DB) error {
			require.NoError(t, Insert(tx, &p))
			return Insert(tx, &profile)
		}))
		require.NoError(t, d.Write(t.Context(), func(tx *gorm.DB) error {
			var gotP models.Participant
			var gotProfile models.Profile
			var high bool
			found, err := near.Take(tx, []any{&gotP, &gotProfile}, []any{&high}, 6, "p1")
			require.NoError(t, err)
			require.True(t, found)
			require.True(t, high)
			require.Equal(t, p, gotP)
			require.Equal(t, profile, gotProfile)
			found, err = near.Take(tx, []any{&gotP, &gotProfile}, []any{&high}, 6, "p9")
			require.NoError(t, err)
			require.False(t, found)
			return nil
		}))
	})
}
