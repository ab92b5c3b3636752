package memory_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

// forgets is what the audit says of a participant's forgetting.
func (w *world) forgets(id string) []string {
	w.t.Helper()
	var out []string
	w.raw(func(db *sql.DB) {
		rows, err := db.Query("SELECT actor, action, detail FROM audit WHERE participant_id = '" + id + "' AND action LIKE 'forget%' ORDER BY id")
		require.NoError(w.t, err)
		defer rows.Close()
		for rows.Next() {
			var actor, action, detail string
			require.NoError(w.t, rows.Scan(&actor, &action, &detail))
			out = append(out, actor+" "+action+" "+detail)
		}
		require.NoError(w.t, rows.Err())
	})
	return out
}

// empty requires that the rows which hold all of the keys hold nothing in the
// columns.
func (w *world) empty(table string, keys []string, columns ...string) {
	w.t.Helper()
	found := false
	for row := range strings.Lines(w.table(table)) {
		if slices.ContainsFunc(keys, func(key string) bool { return !strings.Contains("|"+row, "|"+key+"|") }) {
			continue
		}
		found = true
		for _, column := range columns {
			require.Contains(w.t, "|"+row, "|"+column+"=|", table)
		}
	}
	require.True(w.t, found, "%s has rows with %s", table, keys)
}

func TestForget(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		turn := w.turn("ann", 1)
		kept := models.Stage{TurnID: turn, Number: 1, Name: models.StageExtract, InputHash: "h", Output: "knee"}
		require.NoError(t, w.SaveStage(w.ctx, kept))
		first := w.save("ann", "knee hurts", 1, 0)
		w.update("ann", "f1", "knee hurts less", 1, 0)
		w.save("ann", "has a dog", 0, 1)
		w.save("ben", "knee hurts", 1, 0)

		forget := models.Forgetting{ParticipantID: "ann", FactID: "f1", Actor: "participant", At: at(90)}
		for range 2 {
			require.NoError(t, w.Forget(w.ctx, forget))
		}
		require.Equal(t, []string{"participant forget f1"}, w.forgets("ann"), "the second time changes nothing")
		w.empty("facts", []string{"participant_id=ann", "id=f1"}, "kind", "text", "vector")
		w.empty("fact_versions", []string{"participant_id=ann", "fact_id=f1"}, "kind", "text")
		w.empty("stages", []string{"turn_id=" + turn}, "output", "input_hash")

		require.Equal(t, []string{"has a dog"}, texts(w.facts("ann")))
		require.Nil(t, w.find(models.FactQuery{Vector: []float32{1, 0}, Words: []string{"knee"}}))
		_, err := w.History(w.ctx, "ann", "f1")
		require.ErrorIs(t, err, models.ErrNotFound)
		_, err = w.UpdateFact(w.ctx, models.Fact{ParticipantID: "ann", ID: "f1", Text: "back", TurnID: "t", UpdatedAt: at(91)}, nil)
		require.ErrorIs(t, err, models.ErrNotFound)
		_, err = w.StageBy(w.ctx, turn, models.StageExtract, "h")
		require.ErrorIs(t, err, models.ErrNotFound, "a retry asks again")
		require.Equal(t, []string{"f1 similar 1.00"}, w.find(models.FactQuery{ParticipantID: "ben", Vector: []float32{1, 0}}))

		again, err := w.SaveFact(w.ctx, models.Fact{ParticipantID: "ann", Kind: models.FactGoal, Text: "knee hurts", TurnID: first.TurnID, CreatedAt: at(92)}, nil)
		require.NoError(t, err)
		require.NotNil(t, again.DeletedAt, "a late retry does not bring it back")
		require.Empty(t, again.Text)
		require.Equal(t, "f3", w.save("ann", "knee hurts", 1, 0).ID, "telling it anew does")

		for _, f := range []models.Forgetting{{ParticipantID: "ann", FactID: "f9"}, {ParticipantID: "ann"}, {ParticipantID: "nobody", FactID: "f1"}} {
			require.ErrorIs(t, w.Forget(w.ctx, f), models.ErrNotFound)
		}
	})
}

func TestForgetAll(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		note := models.Note{ParticipantID: "ann", LocalDate: "2026-03-02", Text: "knee", UptoMessage: 9, UpdatedAt: at(1)}
		for _, id := range []string{"ann", "ben"} {
			w.save(id, "knee hurts", 1, 0)
			w.save(id, "has a dog", 0, 1)
			w.update(id, "f1", "knee is fine", 1, 1)
			note.ParticipantID = id
			require.NoError(t, w.PutNote(w.ctx, note))
			require.NoError(t, w.PutSummary(w.ctx, models.Summary{ParticipantID: id, Text: "knee", UptoMessage: 9}))
		}
		before, err := w.Recall(w.ctx, "ben")
		require.NoError(t, err)

		w.remove("ann")
		for _, want := range []int{2, 0} {
			n, err := w.ForgetAll(w.ctx, models.Forgetting{ParticipantID: "ann", Actor: "operator", At: at(90)})
			require.NoError(t, err, "people who were removed can be forgotten too")
			require.Equal(t, want, n)
		}
		require.Equal(t, []string{"operator forget_all 2"}, w.forgets("ann"))
		for _, table := range []string{"facts", "fact_versions"} {
			w.empty(table, []string{"participant_id=ann"}, "kind", "text")
		}
		w.empty("facts", []string{"participant_id=ann"}, "vector")
		w.empty("notes", []string{"participant_id=ann"}, "text")
		w.empty("summaries", []string{"participant_id=ann"}, "text")

		after, err := w.Recall(w.ctx, "ben")
		require.NoError(t, err)
		require.Equal(t, before, after)
		_, err = w.ForgetAll(w.ctx, models.Forgetting{ParticipantID: "nobody"})
		require.ErrorIs(t, err, models.ErrNotFound)
	})
}

// What was written from the memory before it was forgotten is refused after.
func TestForgetAllEndsWritesUnderWay(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		summary := models.Summary{ParticipantID: "ann", Text: "knee", UptoMessage: 9}
		require.NoError(t, w.PutSummary(w.ctx, summary))
		_, err := w.ForgetAll(w.ctx, models.Forgetting{ParticipantID: "ann", At: at(1)})
		require.NoError(t, err)
		summary.Version, summary.Text = 1, "knee and more"
		require.ErrorIs(t, w.PutSummary(w.ctx, summary), models.ErrStale)

		got, err := w.Recall(w.ctx, "ann")
		require.NoError(t, err)
		require.Empty(t, got.Summary.Text)
		require.Equal(t, int64(9), got.Summary.UptoMessage, "what was read is not read again")
		got.Summary.Text, got.Summary.UptoMessage = "a new start", 12
		require.NoError(t, w.PutSummary(w.ctx, got.Summary))
	})
}

// What is forgotten does not come back from the notes or the summary, which keep
// the rest.
func TestForgetCutsNotesAndSummary(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.save("ann", "Her mother has dementia.", 1, 0)
		w.save("ann", "Wants to row.", 0, 1)
		for n, text := range []string{"Person: walked.\nPerson: visited her mother.\nCoach: cheered.", "Person: rested."} {
			note := models.Note{ParticipantID: "ann", LocalDate: fmt.Sprintf("2026-03-0%d", n+1), Text: text, UptoMessage: int64(n + 1), UpdatedAt: at(1)}
			require.NoError(t, w.PutNote(w.ctx, note))
		}
		require.NoError(t, w.PutSummary(w.ctx, models.Summary{ParticipantID: "ann", Text: "Rows on Sundays. Cares for a mother with dementia! Likes tea.", UptoMessage: 9}))
		for range 2 {
			require.NoError(t, w.Forget(w.ctx, models.Forgetting{ParticipantID: "ann", FactID: "f1", Actor: "participant", At: at(90)}))
		}
		known, err := w.Recall(w.ctx, "ann")
		require.NoError(t, err)
		require.Equal(t, "Person: rested.", known.Notes[0].Text)
		require.Equal(t, 1, known.Notes[0].Version, "others are left alone")
		require.Equal(t, "Person: walked.\nCoach: cheered.", known.Notes[1].Text)
		require.Equal(t, "Rows on Sundays. Likes tea.", known.Summary.Text)
		require.Equal(t, int64(9), known.Summary.UptoMessage, "what was read is not read again")
		require.Equal(t, []string{"Wants to row."}, texts(known.Facts))
	})
}
