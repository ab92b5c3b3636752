package memory_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

// Vectors of a model that is not in use any more are compared with none, and made anew once,
// whichever worker comes first.
func TestVectorsOfAnotherModel(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		before, now := w.WithVectorsOf("before"), w.WithVectorsOf("now")
		for i := range 3 {
			_, err := before.SaveFact(w.ctx, models.Fact{
				ParticipantID: "ann", Kind: models.FactEvent, Text: fmt.Sprintf("fact %d", i+1), TurnID: w.turn("ann", i+1), CreatedAt: at(i + 1),
			}, vectorAt(i))
			require.NoError(t, err)
		}
		likeFirst := models.FactQuery{ParticipantID: "ann", Vector: vectorAt(0)}
		found, err := before.Find(w.ctx, likeFirst)
		require.NoError(t, err)
		require.Equal(t, "fact 1", found[0].Fact.Text)
		found, err = now.Find(w.ctx, likeFirst)
		require.NoError(t, err)
		require.Empty(t, found, "a likeness between two models says nothing")
		stale, err := w.FactsWithoutVector(w.ctx, "ann", 10)
		require.NoError(t, err)
		require.Empty(t, stale, "a process without vectors makes none")

		stale, err = now.FactsWithoutVector(w.ctx, "ann", 2)
		require.NoError(t, err)
		require.Len(t, stale, 2, "some at a time")
		require.Equal(t, "fact 3", stale[0].Text)
		// One of them says something else by the time its vector comes.
		_, err = now.UpdateFact(w.ctx, models.Fact{ID: stale[1].ID, ParticipantID: "ann", Text: "changed", TurnID: w.turn("ann", 4), UpdatedAt: at(9)}, vectorAt(2))
		require.NoError(t, err)
		errs := make([]error, 2)
		together(2, func(i int) {
			errs[i] = now.KeepVectors(w.ctx, "ann", stale, [][]float32{vectorAt(1), vectorAt(1)})
		})
		require.NoError(t, errs[0])
		require.NoError(t, errs[1])

		found, err = now.Find(w.ctx, models.FactQuery{ParticipantID: "ann", Vector: vectorAt(1)})
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, "fact 3", found[0].Fact.Text)
		left, err := now.FactsWithoutVector(w.ctx, "ann", 10)
		require.NoError(t, err)
		require.Len(t, left, 1)
		require.Equal(t, "fact 1", left[0].Text)
	})
}

// vectorAt returns one of three vectors at right angles.
func vectorAt(i int) []float32 {
	out := make([]float32, 3)
	out[i] = 1
	return out
}
