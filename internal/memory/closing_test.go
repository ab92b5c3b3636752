package memory_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

// version returns the state of a person's memory.
func (w *world) version(id string) int64 {
	w.t.Helper()
	person, err := w.rows.People.Participant(w.ctx, id)
	require.NoError(w.t, err)
	return person.MemoryVersion
}

// A conversation is closed as a whole or not at all, once, and never from a
// memory that has changed meanwhile.
func TestCloseConversation(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		turn := w.turn("ann", 1)
		fact := func(id string, kind models.FactKind, text string) models.FactChange {
			return models.FactChange{Fact: models.Fact{ID: id, ParticipantID: "ann", Kind: kind, Text: text, TurnID: turn, CreatedAt: at(5), UpdatedAt: at(5)}}
		}
		finish := func(version, upto int64, facts ...models.FactChange) error {
			known, err := w.Recall(w.ctx, "ann")
			require.NoError(t, err)
			note := models.Note{ParticipantID: "ann", LocalDate: "2026-03-02", Text: "walked", UptoMessage: upto, UpdatedAt: at(5)}
			if len(known.Notes) > 0 {
				note.Version = known.Notes[0].Version
			}
			return w.CloseConversation(w.ctx, models.Closing{
				ParticipantID: "ann", MemoryVersion: version, Facts: facts, Note: note,
				Summary: &models.Summary{ParticipantID: "ann", Text: "walks", UptoMessage: upto, Version: known.Summary.Version, UpdatedAt: at(5)},
			})
		}
		require.NoError(t, finish(w.version("ann"), 5,
			fact("", models.FactIdentity, "Lives in Berlin."), fact("", models.FactGoal, "Wants to row."), fact("", models.FactGoal, "wants to row!"), fact("f9", models.FactGoal, "Is of nobody.")))
		known, err := w.Recall(w.ctx, "ann")
		require.NoError(t, err)
		require.Len(t, known.Facts, 2, "no fact twice, and none that is unknown")
		require.Equal(t, "walked", known.Notes[0].Text)
		require.Equal(t, "walks", known.Summary.Text)

		before := w.version("ann")
		require.NoError(t, finish(before, 7, fact("f1", "identity", "Lives in Leeds.")))
		versions, err := w.History(w.ctx, "ann", "f1")
		require.NoError(t, err)
		require.Len(t, versions, 2)
		require.Equal(t, []string{"Lives in Leeds.", "Lives in Berlin."}, []string{versions[0].Text, versions[1].Text})
		require.ErrorIs(t, finish(before, 9, fact("", models.FactGoal, "Wants to swim.")), models.ErrStale, "it was read before the last one")

		before = w.version("ann")
		require.NoError(t, w.Forget(w.ctx, models.Forgetting{ParticipantID: "ann", FactID: "f2", Actor: "participant", At: at(6)}))
		require.ErrorIs(t, finish(before, 9, fact("", models.FactGoal, "Wants to row.")), models.ErrStale, "what was forgotten does not come back")
		bad := fact("", models.FactGoal, "Wants to swim.")
		bad.Fact.Kind = "rumour"
		var field *models.FieldError
		require.ErrorAs(t, finish(w.version("ann"), 9, fact("", models.FactGoal, "Wants to sail."), bad), &field)
		known, err = w.Recall(w.ctx, "ann")
		require.NoError(t, err)
		require.Len(t, known.Facts, 1, "all or nothing")
		w.remove("ann")
		err = w.CloseConversation(w.ctx, models.Closing{ParticipantID: "ann", Note: models.Note{ParticipantID: "ann", LocalDate: "2026-03-02"}})
		require.ErrorIs(t, err, models.ErrNotFound)
	})
}
