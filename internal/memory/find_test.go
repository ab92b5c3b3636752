package memory_test

import (
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/dbtest"
	"coachline/models"
	"coachline/models/wire"
)

func (w *world) find(q models.FactQuery) []string {
	w.t.Helper()
	if q.ParticipantID == "" {
		q.ParticipantID = "ann"
	}
	found, err := w.Find(w.ctx, q)
	require.NoError(w.t, err)
	var out []string
	for _, hit := range found {
		require.Equal(w.t, q.ParticipantID, hit.Fact.ParticipantID)
		how := fmt.Sprintf("similar %.2f", hit.Likeness)
		if hit.ByWords {
			how = "words"
		}
		out = append(out, hit.Fact.ID+" "+how)
	}
	return out
}

func TestFind(t *testing.T) {
	east, north := []float32{2, 0, 0}, []float32{0, 9, 0}
	some := func(minutes int) *time.Time { t := at(minutes); return &t }
	tests := []struct {
		name string
		in   models.FactQuery
		want []string
	}{
		{"by similarity, best first", models.FactQuery{Vector: east, Limit: 5}, []string{"f1 similar 1.00", "f2 similar 0.60"}},
		{"what is as far as usual never counts", models.FactQuery{Vector: east}, []string{"f1 similar 1.00", "f2 similar 0.60"}},
		{"opposite and unlike facts never count", models.FactQuery{Vector: east, Limit: 9}, []string{"f1 similar 1.00", "f2 similar 0.60"}},
		{"a fact without a vector by words, in turn with the similar ones", models.FactQuery{Vector: east, Words: []string{"oat", "cello"}, Limit: 4}, []string{"f5 words", "f1 similar 1.00", "f4 words", "f2 similar 0.60"}},
		{"words where nothing is similar", models.FactQuery{Vector: []float32{0, 0, -1}, Words: []string{"cello"}}, []string{"f4 words"}},
		{"embedding failed", models.FactQuery{Words: []string{"walks", "knee"}}, []string{"f2 words", "f1 words"}},
		{"another model's vectors", models.FactQuery{Vector: []float32{1, 0}, Words: []string{"knee"}}, []string{"f2 words"}},
		{"vector without direction", models.FactQuery{Vector: []float32{0, 0, 0}, Words: []string{"knee"}}, []string{"f2 words"}},
		{"equal scores newest first", models.FactQuery{Words: []string{"walks"}}, []string{"f2 words", "f1 words"}},
		{"limit", models.FactQuery{Words: []string{"walks"}, Limit: 1}, []string{"f2 words"}},
		{"case, signs, stem", models.FactQuery{Words: []string{"WALKING", "Mueslis!"}}, []string{"f5 words", "f2 words", "f1 words"}},
		{"stem of a short word", models.FactQuery{Words: []string{"oats"}}, []string{"f5 words"}},
		{"parts of words do not count", models.FactQuery{Words: []string{"nee"}}, nil},
		{"a word given twice", models.FactQuery{Words: []string{"knee", "Knee", "swims"}}, []string{"f2 words"}},
		{"from", models.FactQuery{Vector: east, From: some(2)}, []string{"f2 similar 0.60"}},
		{"to", models.FactQuery{Vector: east, To: some(1)}, []string{"f1 similar 1.00"}},
		{"both ends count", models.FactQuery{Vector: east, From: some(1), To: some(2)}, []string{"f1 similar 1.00", "f2 similar 0.60"}},
		{"nothing to go by", models.FactQuery{}, nil},
		{"words of somebody else", models.FactQuery{Words: []string{"swims"}}, nil},
		{"a vector of somebody else", models.FactQuery{Vector: north}, nil},
		{"somebody else", models.FactQuery{ParticipantID: "ben", Vector: north}, []string{"f1 similar 1.00"}},
	}
	onBoth(t, func(t *testing.T, w *world) {
		w.n = 0
		w.save("ann", "walks at dawn", 5, 0, 0)
		w.save("ann", "walks less since the knee hurts", 3, 0, 4)
		w.save("ann", "hates rain", -1, 0, 0)
		w.save("ann", "plays the cello", 0, 0, 1)
		w.save("ann", "eats oat muesli")
		w.save("ben", "swims", 0, 1, 0)
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, w.find(tt.in)) })
		}
		t.Run("no numbers", func(t *testing.T) {
			_, err := w.Find(w.ctx, models.FactQuery{ParticipantID: "ann", Vector: []float32{float32(math.NaN())}})
			var field *models.FieldError
			require.ErrorAs(t, err, &field)
		})
	})
}

// full gives ann many facts of unlike vectors, and returns the last one's.
func (w *world) full(facts, dimensions int) []float32 {
	w.t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	var vector []float32
	for i := range facts {
		vector = make([]float32, dimensions)
		for j := range vector {
			vector[j] = float32(random.NormFloat64())
		}
		w.save("ann", fmt.Sprintf("fact number %d, which says something of the person in a sentence of the usual length", i), vector...)
	}
	return vector
}

func TestFull(t *testing.T) {
	w := newWorld(t, onSQLite(t))
	w.full(500, 32)
	fact := models.Fact{ParticipantID: "ann", Kind: models.FactGoal, Text: "one more", TurnID: "last", CreatedAt: at(1)}
	_, err := w.SaveFact(w.ctx, fact, nil)
	require.ErrorIs(t, err, models.ErrMemoryFull)
	require.Len(t, w.facts("ann"), 500)

	require.NoError(t, w.Forget(w.ctx, models.Forgetting{ParticipantID: "ann", FactID: "f7", At: at(2)}))
	got, err := w.SaveFact(w.ctx, fact, nil)
	require.NoError(t, err)
	require.Equal(t, "f501", got.ID, "ids are not given out again")
}

// BenchmarkFind is one search in the largest memory of one person: 500 facts
// with vectors of 1,536 dimensions.
func BenchmarkFind(b *testing.B) {
	urls := map[string]func() string{
		"sqlite":   func() string { return dbtest.SQLite(b) },
		"postgres": func() string { return dbtest.Postgres(b) },
	}
	for name, url := range urls {
		w := newWorld(b, url())
		vector := w.full(500, 1536)
		queries := map[string]models.FactQuery{
			"similarity": {ParticipantID: "ann", Vector: vector, Words: []string{"person"}},
			"words":      {ParticipantID: "ann", Words: []string{"person", "sentence"}},
		}
		for kind, q := range queries {
			b.Run(name+"/"+kind, func(b *testing.B) {
				for b.Loop() {
					found, err := w.Find(w.ctx, q)
					require.NoError(b, err)
					require.NotEmpty(b, found)
				}
			})
		}
	}
}

// Notes that no longer come with every reply are found by words, and only where a
// search asks for them.
func TestFindInDiary(t *testing.T) {
	w := newWorld(t, onSQLite(t))
	for i, day := range []string{"2026-01-05", "2026-02-01", "2026-02-02", "2026-02-03"} {
		note := models.Note{ParticipantID: "ann", LocalDate: day, Text: fmt.Sprintf("Talked about canoeing, part %d.", i), UpdatedAt: at(i)}
		require.NoError(t, w.PutNote(w.ctx, note))
	}
	q := models.FactQuery{Words: []string{"canoe"}, Diary: true}
	require.Equal(t, []string{"note-2026-01-05 words"}, w.find(q), "the last three come with every reply")
	from := time.Date(2026, 1, 6, 0, 0, 0, 0, time.UTC)
	q.From = &from
	require.Empty(t, w.find(q))
	require.Empty(t, w.find(models.FactQuery{Words: []string{"canoe"}}))
}

// What was written before our newest text is found where a search asks for it, within its
// time, but nothing from before a wish to forget.
func TestFindInMessages(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		in, err := w.rows.Inbound.AcceptInbound(w.ctx, models.Inbound{ProviderSID: "SM1", From: "+15550000001", Body: "not today, it rained", ReceivedAt: at(1)})
		require.NoError(t, err)
		_, err = w.rows.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{
			ParticipantID: "ann", TurnID: models.TurnID("ann", 1), Number: 1, Mode: wire.ModeIntake, Plan: wire.TurnPlan{Kind: wire.TurnReply}, InboundIDs: []int64{in.Inbound.ID}, Now: at(1),
		})
		require.NoError(t, err)
		q := models.FactQuery{Words: []string{"rain"}, Messages: true}
		require.Empty(t, w.find(q), "what is being answered is no memory")
		w.raw(func(db *sql.DB) {
			_, err := db.Exec(`INSERT INTO messages (participant_id, turn_id, key, role, kind, text, outbox_id, at) SELECT participant_id, turn_id, 'r', 'assistant', 'reply', '', '', at FROM messages`)
			require.NoError(t, err)
		})
		require.Len(t, w.find(q), 1)
		require.Empty(t, w.find(models.FactQuery{Words: []string{"rain"}}))
		later := at(2)
		require.Empty(t, w.find(models.FactQuery{Words: []string{"rain"}, Messages: true, From: &later}))
		_, err = w.SaveFact(w.ctx, models.Fact{ParticipantID: "ann", Kind: models.FactEvent, Text: "Walks.", TurnID: models.TurnID("ann", 1), CreatedAt: at(2), UpdatedAt: at(2)}, nil)
		require.NoError(t, err)
		_, err = w.ForgetAll(w.ctx, models.Forgetting{ParticipantID: "ann", Actor: "participant", At: at(3)})
		require.NoError(t, err)
		require.Empty(t, w.find(q))
	})
}
