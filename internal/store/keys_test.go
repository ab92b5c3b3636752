package store_test

import (
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/database"
	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

// keyList is a key list of the keys with these ids; "k1=other" is a key of other
// material under the id k1.
func keyList(t *testing.T, ids ...string) *seal.Ring {
	t.Helper()
	entries := make([]string, len(ids))
	for i, id := range ids {
		key := sha256.Sum256([]byte(id))
		id, _, _ = strings.Cut(id, "=")
		entries[i] = id + ":" + base64.StdEncoding.EncodeToString(key[:])
	}
	ring, err := seal.Parse(strings.Join(entries, ","))
	require.NoError(t, err)
	return ring
}

// reopened opens the database again with another key list.
func (w *world) reopened(ids ...string) (*store.Store, error) {
	w.t.Helper()
	s, err := store.Open(w.ctx, store.Config{URL: w.url, Sealer: keyList(w.t, ids...)})
	if err == nil {
		w.t.Cleanup(func() { require.NoError(w.t, s.Close()) })
	}
	return s, err
}

func stopText(sid string) models.Inbound {
	return models.Inbound{
		ProviderSID: sid, From: phone, To: "+15017122661", Body: "STOP",
		Intent: models.IntentStop, IntentMethod: models.MethodKeyword, ReceivedAt: at(5),
	}
}

// TestKeyChangesKeepTheIndex: a STOP is matched to its sender after every change
// of the key list that keeps the old key.
func TestKeyChangesKeepTheIndex(t *testing.T) {
	for _, ids := range [][]string{{"one", "k3"}, {"k3", "one"}, {"k2", "one", "k3"}} {
		t.Run(strings.Join(ids, ","), func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				w.enrolled()
				s, err := w.reopened(ids...)
				require.NoError(t, err)
				got, err := s.Inbound.AcceptInbound(w.ctx, stopText("SM1"))
				require.NoError(t, err)
				require.Equal(t, "p1", got.Inbound.ParticipantID, "the STOP is the participant's")
				p, err := s.People.Participant(w.ctx, "p1")
				require.NoError(t, err)
				require.Equal(t, wire.StatusOptedOut, p.Status)
			})
		})
	}
}

// TestUnfitKeysAreRefused: a list that cannot read what is stored does not open
// the database, and the error says which key to put where.
func TestUnfitKeysAreRefused(t *testing.T) {
	for _, test := range []struct {
		name string
		ids  []string
		want string
	}{
		{"replaced", []string{"two"}, "rows are sealed with one (fingerprint "},
		{"same id, other key", []string{"one=other"}, "key one is another one than before (fingerprint "},
	} {
		t.Run(test.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				w.enrolled()
				_, err := w.reopened(test.ids...)
				require.ErrorContains(t, err, test.want)
			})
		})
	}
}

// forgetKeys makes the database one of a build that recorded no keys.
func (w *world) forgetKeys() {
	w.t.Helper()
	w.raw(func(db *sql.DB) {
		_, err := db.Exec("DELETE FROM payload_keys")
		require.NoError(w.t, err)
	})
}

// TestIndexKeyOfAnOlderInstallation: what recorded no keys keeps its index,
// wherever the key that made it stands in the list now.
func TestIndexKeyOfAnOlderInstallation(t *testing.T) {
	for _, ids := range [][]string{{"one"}, {"one", "k3"}, {"k3", "one"}} {
		t.Run(strings.Join(ids, ","), func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				w.enrolled()
				before := w.text("SELECT phone_index FROM participants")
				w.forgetKeys()
				s, err := w.reopened(ids...)
				require.NoError(t, err)
				require.Equal(t, before, s.Database().Index(phone))
			})
		})
	}
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.forgetKeys()
		_, err := w.reopened("two")
		require.ErrorContains(t, err, "rows are sealed with key one, which the list lacks")
	})
}

// TestUnreadableRowIsListed: a row that cannot be opened does not hide the
// others, and nothing of it is made up.
func TestUnreadableRowIsListed(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		other := person("p2", "+15558675311")
		_, err := w.People.Enroll(w.ctx, other, "tester")
		require.NoError(t, err)
		w.raw(func(db *sql.DB) {
			_, err := db.Exec("UPDATE participants SET name = (SELECT phone FROM participants WHERE id = 'p2') WHERE id = 'p1'")
			require.NoError(t, err)
		})
		rows, err := w.People.Participants(w.ctx, models.ParticipantQuery{})
		require.NoError(t, err)
		require.Len(t, rows, 2)
		require.Equal(t, "name", rows[0].Unreadable)
		require.Empty(t, rows[0].Name)
		require.Equal(t, phone, rows[0].Phone)
		require.Empty(t, rows[1].Unreadable)
		_, err = w.People.Participant(w.ctx, "p1")
		require.ErrorIs(t, err, seal.ErrTampered, "what decides reads strictly")
	})
}

// TestReseal: after a rotation all rows are sealed with the new key, the old key
// may go, and a second run has nothing to do.
func TestReseal(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.inbound("SM1", 1, "my knee hurts")
		s, err := w.reopened("k2", "one")
		require.NoError(t, err)
		var pages int
		done, err := s.Database().Reseal(w.ctx, func(string, database.Resealed) { pages++ })
		require.NoError(t, err)
		require.Positive(t, done.Values)
		require.Zero(t, done.Indexes, "the index does not hang on the key")
		require.Empty(t, done.Unreadable)
		require.Equal(t, []string{"one"}, done.Released)
		require.Positive(t, pages)
		again, err := s.Database().Reseal(w.ctx, nil)
		require.NoError(t, err)
		require.Zero(t, again.Values)

		alone, err := w.reopened("k2")
		require.NoError(t, err, "no row needs the old key")
		p, err := alone.People.Participant(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, "Ada Quill", p.Name)
		var text models.Inbound
		require.NoError(t, alone.Database().Reader(w.ctx).Where("provider_sid = ?", "SM1").Take(&text).Error)
		require.Equal(t, "my knee hurts", text.Body)
		got, err := alone.Inbound.AcceptInbound(w.ctx, stopText("SM2"))
		require.NoError(t, err)
		require.Equal(t, "p1", got.Inbound.ParticipantID)
	})
}

// TestResealMendsTheIndex: rows that a wrong index key made are found again.
func TestResealMendsTheIndex(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.from(phone, "SM1", "STOP", 1)
		want := w.text("SELECT phone_index FROM participants")
		w.raw(func(db *sql.DB) {
			for _, table := range []string{"participants", "consents"} {
				_, err := db.Exec("UPDATE " + table + " SET phone_index = 'made with another key'")
				require.NoError(t, err)
			}
		})
		done, err := w.Database().Reseal(w.ctx, nil)
		require.NoError(t, err)
		require.EqualValues(t, 1, done.Indexes)
		require.Equal(t, want, w.text("SELECT phone_index FROM participants"))
		require.Equal(t, want, w.text("SELECT phone_index FROM consents"), "a number that opted out stays so")
	})
}

// TestReasonsAreSealed: what an operator wrote about a forced mode is sealed,
// also where an earlier build left it in the clear.
func TestReasonsAreSealed(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		require.NoError(t, w.Audit.RecordAudit(w.ctx, models.AuditRow{ParticipantID: "p1", Actor: "eve", Action: "set_mode", Detail: "FEEDBACK", Reason: "her knee", At: at(1)}))
		require.NoError(t, w.Audit.RecordAudit(w.ctx, models.AuditRow{ParticipantID: "p1", Actor: "eve", Action: "set_mode", Detail: "INTAKE: her ankle: left", At: at(2)}))
		// An earlier build knew no chain.
		w.raw(exec(t, append(w.dropAuditTriggers(), "UPDATE audit SET seq = NULL, change = '', content_hash = '', hash = ''")...))
		s, err := w.reopened("one")
		require.NoError(t, err)
		dump := w.dump()
		require.NotContains(t, dump, "her knee")
		require.NotContains(t, dump, "her ankle")
		var rows []models.AuditRow
		require.NoError(t, s.Database().Reader(w.ctx).Where("action = 'set_mode'").Order("id").Find(&rows).Error)
		require.Equal(t, []string{"FEEDBACK", "her knee", "INTAKE", "her ankle: left"}, []string{rows[0].Detail, rows[0].Reason, rows[1].Detail, rows[1].Reason})
	})
}

// TestSwappedValuesDoNotOpen: a sealed value opens in its own row and column
// only.
func TestSwappedValuesDoNotOpen(t *testing.T) {
	for name, statement := range map[string]string{
		"another column": "UPDATE participants SET background = phone WHERE id = 'p1'",
		"another row":    "UPDATE participants SET phone = (SELECT phone FROM participants WHERE id = 'p2') WHERE id = 'p1'",
		"another table":  "UPDATE participants SET name = (SELECT body FROM inbound WHERE provider_sid = 'SM1') WHERE id = 'p1'",
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				w.enrolled()
				_, err := w.People.Enroll(w.ctx, person("p2", "+15558675311"), "tester")
				require.NoError(t, err)
				w.inbound("SM1", 1, "my knee hurts")
				w.raw(func(db *sql.DB) {
					_, err := db.Exec(statement)
					require.NoError(t, err)
				})
				_, err = w.People.Participant(w.ctx, "p1")
				require.ErrorIs(t, err, seal.ErrTampered)
			})
		})
	}
}

// TestEverySealedColumnIsBound: the sealed columns of all models are those that
// the database binds and reseals, and the fields that name a row stand before
// them.
func TestEverySealedColumnIsBound(t *testing.T) {
	w := onSQLite(t)
	got := map[string][]string{}
	for _, model := range append(modelRows(), memoryRows()...) {
		statement := w.Database().Reader(w.ctx).Model(model).Statement
		require.NoError(t, statement.Parse(model))
		for _, field := range statement.Schema.Fields {
			if strings.Contains(field.Tag.Get("gorm"), "serializer:sealed") {
				got[statement.Schema.Table] = append(got[statement.Schema.Table], field.DBName)
			}
		}
	}
	got["facts"] = append(got["facts"], "vector") // a field of package memory's own row
	want := map[string][]string{}
	for _, table := range database.SealedColumns() {
		want[table.Name] = slices.Sorted(slices.Values(table.Columns))
		slices.Sort(got[table.Name])
	}
	require.Equal(t, want, got, "say in internal/database/places.go what a sealed column is bound to")
}
