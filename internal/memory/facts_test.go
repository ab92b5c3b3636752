package memory_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"coachline/models"
)

// save and update take a turn of their own each time, a minute after the last.
func (w *world) save(id, text string, vector ...float32) models.Fact {
	w.t.Helper()
	w.n++
	fact, err := w.SaveFact(w.ctx, models.Fact{
		ParticipantID: id, Kind: models.FactPreference, Text: text, TurnID: models.TurnID(id, w.n), SourceID: int64(w.n), CreatedAt: at(w.n),
	}, vector)
	require.NoError(w.t, err)
	return fact
}

func (w *world) update(id, factID, text string, vector ...float32) models.Fact {
	w.t.Helper()
	w.n++
	fact, err := w.UpdateFact(w.ctx, models.Fact{
		ParticipantID: id, ID: factID, Text: text, TurnID: models.TurnID(id, w.n), SourceID: int64(w.n), UpdatedAt: at(w.n),
	}, vector)
	require.NoError(w.t, err)
	return fact
}

func texts(facts []models.Fact) []string {
	var out []string
	for _, fact := range facts {
		out = append(out, fact.Text)
	}
	return out
}

func (w *world) facts(id string) []models.Fact {
	w.t.Helper()
	facts, err := w.Facts(w.ctx, id)
	require.NoError(w.t, err)
	return facts
}

func TestSaveFact(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		first := models.Fact{ParticipantID: "ann", ID: "f99", Kind: models.FactGoal, Text: "wants to sleep by 11", TurnID: "ann-t1", SourceID: 4, CreatedAt: at(1)}
		got, err := w.SaveFact(w.ctx, first, []float32{3, 4})
		require.NoError(t, err)
		want := first
		want.ID, want.Version, want.UpdatedAt = "f1", 1, at(1)
		require.Equal(t, want, got)
		require.Equal(t, []models.Fact{want}, w.facts("ann"))

		again := first
		again.Text = "another wording of a second attempt"
		got, err = w.SaveFact(w.ctx, again, nil)
		require.NoError(t, err)
		require.Equal(t, want, got, "a turn stores one fact")

		require.Equal(t, "f2", w.save("ann", "has a dog").ID)
		require.Equal(t, "f1", w.save("ben", "has a dog").ID, "ids are per person, and so are duplicates")

		changed := w.update("ann", "f1", "wants to sleep by 10")
		got, err = w.SaveFact(w.ctx, first, nil)
		require.NoError(t, err)
		require.Equal(t, changed, got, "also after an update")
		require.Len(t, w.facts("ann"), 2)
	})
}

func TestSaveFactRefuses(t *testing.T) {
	w := newWorld(t, onSQLite(t))
	good := models.Fact{ParticipantID: "ann", Kind: models.FactGoal, Text: "x", TurnID: "t1", CreatedAt: at(1)}
	tests := []struct {
		name   string
		change func(f *models.Fact)
		vector []float32
		want   string
	}{
		{"blank text", func(f *models.Fact) { f.Text = " \n" }, nil, "text"},
		{"unknown kind", func(f *models.Fact) { f.Kind = "secret" }, nil, "kind"},
		{"no turn", func(f *models.Fact) { f.TurnID = "" }, nil, "turn_id"},
		{"no instant", func(f *models.Fact) { f.CreatedAt = time.Time{} }, nil, "created_at"},
		{"no number", nil, []float32{1, float32(math.NaN())}, "vector"},
		{"endless", nil, []float32{1, float32(math.Inf(1))}, "vector"},
		{"far too long", nil, make([]float32, 10_000), "vector"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fact := good
			if tt.change != nil {
				tt.change(&fact)
			}
			_, err := w.SaveFact(w.ctx, fact, tt.vector)
			var field *models.FieldError
			require.ErrorAs(t, err, &field)
			require.Equal(t, tt.want, field.Field)
			require.Empty(t, w.facts("ann"))
		})
	}
}

func TestNearDuplicates(t *testing.T) {
	tests := []struct {
		name   string
		text   string
		vector []float32
		twice  bool
	}{
		{"same words", "Walks at DAWN!", nil, true},
		{"same words, far vector", "walks at  dawn", []float32{0, 1}, true},
		{"near vector", "goes for walks at dawn", []float32{1, 0.2}, true},
		{"just below", "goes for walks at dawn", []float32{1, 0.34}, false},
		{"near vector, other words", "goes out early", []float32{1, 0.2}, false},
		{"near vector, a number more", "walks at dawn, 20 minutes", []float32{1, 0.2}, false},
		{"opposite vector", "never walks", []float32{-1, 0}, false},
		{"vector of another length", "goes out early", []float32{1, 0, 0}, false},
		{"no vector", "goes out early", nil, false},
		{"more words", "walks at dawn with Rex", nil, false},
		{"signs only", "!!!", nil, false},
	}
	onBoth(t, func(t *testing.T, w *world) {
		for i, tt := range tests {
			id := fmt.Sprintf("p%d", i)
			w.enrol(id)
			w.save(id, "walks at dawn", 1, 0)
			fact := models.Fact{ParticipantID: id, Kind: models.FactEvent, Text: tt.text, TurnID: "other", CreatedAt: at(1)}
			_, err := w.SaveFact(w.ctx, fact, tt.vector)
			var same *models.DuplicateFactError
			if !tt.twice {
				require.NoError(t, err, tt.name)
				continue
			}
			require.ErrorAs(t, err, &same, tt.name)
			require.Equal(t, "f1", same.FactID)
			require.NotContains(t, err.Error(), "alks", "errors hold no texts")
			require.Len(t, w.facts(id), 1)
		}
	})
}

// The fact keeps its id, and what it said stays in its history.
func TestUpdateFact(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.save("ann", "walks at 6am", 1, 0)
		other := w.save("ben", "walks at 6am", 1, 0)
		change := models.Fact{ParticipantID: "ann", ID: "f1", Kind: models.FactGoal, Text: "walks at 7am", TurnID: "ann-t50", SourceID: 50, UpdatedAt: at(50)}
		t.Run("facts are written with their history", func(t *testing.T) {
			got, err := w.UpdateFact(w.ctx, change, []float32{0, 1})
			require.NoError(t, err)
			require.Equal(t, 2, got.Version)
			require.Equal(t, at(50), got.UpdatedAt)
			require.Equal(t, []models.Fact{got}, w.facts("ann"))
			history, err := w.History(w.ctx, "ann", "f1")
			require.NoError(t, err)
			require.Equal(t, []models.FactVersion{
				{FactID: "f1", ParticipantID: "ann", Version: 2, Kind: models.FactGoal, Text: "walks at 7am", SourceID: 50, TurnID: "ann-t50", At: at(50)},
				{FactID: "f1", ParticipantID: "ann", Version: 1, Kind: models.FactPreference, Text: "walks at 6am", SourceID: 3, TurnID: "ann-t3", At: at(3)},
			}, history)
			found, err := w.Find(w.ctx, models.FactQuery{ParticipantID: "ann", Vector: []float32{0, 1}})
			require.NoError(t, err)
			require.Len(t, found, 1, "the vector is the new text's")
		})
		t.Run("again in the same turn", func(t *testing.T) {
			second := change
			second.Text = "another wording of a second attempt"
			got, err := w.UpdateFact(w.ctx, second, nil)
			require.NoError(t, err)
			require.Equal(t, "walks at 7am", got.Text)

			newest := w.update("ann", "f1", "walks at 8am")
			got, err = w.UpdateFact(w.ctx, change, nil)
			require.NoError(t, err)
			require.Equal(t, newest, got, "also after a later turn's update")
			require.Equal(t, models.FactGoal, got.Kind, "an update without a kind keeps it")
		})
		t.Run("nothing new", func(t *testing.T) {
			require.Equal(t, 3, w.update("ann", "f1", "walks at 8am").Version)
		})
		t.Run("unknown id", func(t *testing.T) {
			for _, id := range []string{"f2", "", "F1", "f1 "} {
				unknown := change
				unknown.ID, unknown.TurnID = id, "ann-t60"
				_, err := w.UpdateFact(w.ctx, unknown, nil)
				require.ErrorIs(t, err, models.ErrNotFound, id)
				_, err = w.History(w.ctx, "ann", id)
				require.ErrorIs(t, err, models.ErrNotFound, id)
			}
			require.Equal(t, []models.Fact{other}, w.facts("ben"), "f1 of somebody else stays as it is")
		})
		t.Run("refused", func(t *testing.T) {
			var field *models.FieldError
			for name, bad := range map[string]models.Fact{
				"text":       {ParticipantID: "ann", ID: "f1", TurnID: "t", UpdatedAt: at(1)},
				"turn_id":    {ParticipantID: "ann", ID: "f1", Text: "x", UpdatedAt: at(1)},
				"updated_at": {ParticipantID: "ann", ID: "f1", Text: "x", TurnID: "t"},
				"kind":       {ParticipantID: "ann", ID: "f1", Text: "x", TurnID: "t", Kind: "secret", UpdatedAt: at(1)},
			} {
				_, err := w.UpdateFact(w.ctx, bad, nil)
				require.ErrorAs(t, err, &field, name)
				require.Equal(t, name, field.Field)
			}
		})
	})
}

func TestSavesAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		const n = 8
		var ids [n]string
		var errs [2 * n]error
		together(2*n, func(i int) {
			// Each turn comes twice, as a retry beside its first attempt does.
			turn := i / 2
			fact := models.Fact{
				ParticipantID: "ann", Kind: models.FactEvent, Text: fmt.Sprint("fact ", turn), TurnID: fmt.Sprint("t", turn), CreatedAt: at(turn),
			}
			got, err := w.SaveFact(w.ctx, fact, nil)
			errs[i] = err
			if i%2 == 0 {
				ids[turn] = got.ID
			}
		})
		for _, err := range errs {
			require.NoError(t, err)
		}
		slices.Sort(ids[:])
		require.Equal(t, [n]string{"f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8"}, ids)
		require.Len(t, w.facts("ann"), n)
	})
}

func TestUpdatesAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.save("ann", "zero")
		const n = 6
		var errs [n]error
		together(n, func(i int) {
			change := models.Fact{ParticipantID: "ann", ID: "f1", Text: fmt.Sprint("text ", i), TurnID: fmt.Sprint("u", i), UpdatedAt: at(i)}
			_, errs[i] = w.UpdateFact(w.ctx, change, nil)
		})
		for _, err := range errs {
			require.NoError(t, err)
		}
		history, err := w.History(w.ctx, "ann", "f1")
		require.NoError(t, err)
		require.Len(t, history, n+1)
		for i, version := range history {
			require.Equal(t, n+1-i, version.Version)
		}
	})
}

// told is what a test expects to be known of one person.
type told struct{ versions map[string][]string }

// For every sequence of facts and changes, each participant's facts are
// theirs alone, and every version is kept in order.
func TestPropertyIsolation(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		run := 0
		rapid.Check(t, func(rt *rapid.T) {
			run++
			people := []string{fmt.Sprintf("a%d", run), fmt.Sprintf("b%d", run)}
			known := map[string]*told{}
			for _, id := range people {
				w.enrol(id)
				known[id] = &told{versions: map[string][]string{}}
			}
			for step := range rapid.IntRange(1, 6).Draw(rt, "steps") {
				id := rapid.SampledFrom(people).Draw(rt, "who")
				w.tell(rt, known[id], telling{id: id, text: fmt.Sprintf("%s told %d", id, step), vector: axis(step)})
			}
			for i, id := range people {
				w.mustKnow(rt, id, known[id])
				w.mustNotFind(rt, people[1-i], id+" told")
			}
		})
	})
}

type telling struct {
	id, text string
	vector   []float32
}

// axis is a vector that is unlike those of all other steps.
func axis(step int) []float32 {
	v := make([]float32, 8)
	v[step] = 1
	return v
}

// tell saves, changes or forgets something.
func (w *world) tell(rt *rapid.T, known *told, in telling) {
	factID := fmt.Sprintf("f%d", rapid.IntRange(1, len(known.versions)+1).Draw(rt, "fact"))
	versions := known.versions[factID]
	switch action := rapid.SampledFrom([]string{"save", "update", "update", "forget"}).Draw(rt, "action"); {
	case action == "save":
		fact := w.save(in.id, in.text, in.vector...)
		require.Equal(rt, fmt.Sprintf("f%d", len(known.versions)+1), fact.ID)
		known.versions[fact.ID] = []string{in.text}
	case action == "update" && len(versions) > 0:
		w.update(in.id, factID, in.text, in.vector...)
		known.versions[factID] = append([]string{in.text}, versions...)
	case action == "forget" && versions != nil:
		require.NoError(rt, w.Forget(w.ctx, models.Forgetting{ParticipantID: in.id, FactID: factID, At: at(w.n)}))
		known.versions[factID] = []string{}
	default:
		_, err := w.UpdateFact(w.ctx, models.Fact{ParticipantID: in.id, ID: "f77", Text: "x", TurnID: "x", UpdatedAt: at(1)}, nil)
		require.ErrorIs(rt, err, models.ErrNotFound)
	}
}

func (w *world) mustKnow(rt *rapid.T, id string, known *told) {
	alive := 0
	for factID, want := range known.versions {
		history, err := w.History(w.ctx, id, factID)
		if len(want) == 0 {
			require.ErrorIs(rt, err, models.ErrNotFound)
			continue
		}
		alive++
		require.NoError(rt, err)
		var got []string
		for i, version := range history {
			require.Equal(rt, len(want)-i, version.Version)
			got = append(got, version.Text)
		}
		require.Equal(rt, want, got)
	}
	require.Len(rt, w.facts(id), alive)
}

func (w *world) mustNotFind(rt *rapid.T, id, foreign string) {
	for _, q := range []models.FactQuery{{Vector: []float32{1, 1, 1, 1, 1, 1, 1, 1}}, {Words: []string{"told"}}} {
		q.ParticipantID, q.Limit = id, 100
		found, err := w.Find(w.ctx, q)
		require.NoError(rt, err)
		for _, hit := range found {
			require.Equal(rt, id, hit.Fact.ParticipantID)
			require.False(rt, strings.HasPrefix(hit.Fact.Text, foreign), hit.Fact.Text)
		}
	}
}
