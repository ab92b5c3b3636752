package memory_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func TestPutNote(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		note := models.Note{ParticipantID: "ann", LocalDate: "2026-03-02", Text: "one", UptoMessage: 5, UpdatedAt: at(1)}
		more := models.Note{ParticipantID: "ann", LocalDate: "2026-03-02", Text: "one, two", UptoMessage: 8, Version: 1, UpdatedAt: at(2)}
		steps := []struct {
			name  string
			note  models.Note
			stale bool
		}{
			{"first of the day", note, false},
			{"a second first one overwrites nothing", models.Note{ParticipantID: "ann", LocalDate: "2026-03-02", Text: "other", UptoMessage: 5}, true},
			{"again", note, false},
			{"more", more, false},
			{"more again", more, false},
			{"from a note that is gone", models.Note{ParticipantID: "ann", LocalDate: "2026-03-02", Text: "x", UptoMessage: 9, Version: 1}, true},
			{"covers less", models.Note{ParticipantID: "ann", LocalDate: "2026-03-02", Text: "x", UptoMessage: 7, Version: 2}, true},
			{"another day", models.Note{ParticipantID: "ann", LocalDate: "2026-03-03", Text: "three", UptoMessage: 9, UpdatedAt: at(3)}, false},
			{"a day without a note has no version", models.Note{ParticipantID: "ann", LocalDate: "2026-03-04", Text: "x", Version: 1}, true},
		}
		for _, step := range steps {
			err := w.PutNote(w.ctx, step.note)
			if step.stale {
				require.ErrorIs(t, err, models.ErrStale, step.name)
			} else {
				require.NoError(t, err, step.name)
			}
		}
		got, err := w.Notes(w.ctx, "ann", 5)
		require.NoError(t, err)
		more.Version = 2
		require.Equal(t, []models.Note{
			{ParticipantID: "ann", LocalDate: "2026-03-03", Text: "three", UptoMessage: 9, Version: 1, UpdatedAt: at(3)}, more,
		}, got)

		for _, n := range []int{0, -1} {
			none, err := w.Notes(w.ctx, "ann", n)
			require.NoError(t, err)
			require.Empty(t, none)
		}
		others, err := w.Notes(w.ctx, "ben", 5)
		require.NoError(t, err)
		require.Empty(t, others)
	})
}

func TestPutNoteRefusesOtherDates(t *testing.T) {
	w := newWorld(t, onSQLite(t))
	for _, date := range []string{"", "2026-3-2", "02.03.2026", "2026-02-30", "2026-03-02T00:00:00Z"} {
		var field *models.FieldError
		require.ErrorAs(t, w.PutNote(w.ctx, models.Note{ParticipantID: "ann", LocalDate: date, Text: "x"}), &field, date)
		require.Equal(t, "local_date", field.Field)
	}
}

// A summary is made from the one before, and never covers less.
func TestPutSummary(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		first := models.Summary{ParticipantID: "ann", Text: "knee", UptoMessage: 10, UpdatedAt: at(1)}
		require.NoError(t, w.PutSummary(w.ctx, first))
		require.NoError(t, w.PutSummary(w.ctx, first), "a retry")
		second := models.Summary{ParticipantID: "ann", Text: "knee, dog", UptoMessage: 22, Version: 1, UpdatedAt: at(2)}

		t.Run("a text during the summary", func(t *testing.T) {
			behind := second
			behind.UptoMessage = 9
			require.ErrorIs(t, w.PutSummary(w.ctx, behind), models.ErrStale)
		})
		t.Run("summary keeps what it held", func(t *testing.T) {
			blind := second
			blind.Version = 0
			require.ErrorIs(t, w.PutSummary(w.ctx, blind), models.ErrStale, "made without the summary before")
			require.NoError(t, w.PutSummary(w.ctx, second))
			got, err := w.Recall(w.ctx, "ann")
			require.NoError(t, err)
			second.Version = 2
			require.Equal(t, second, got.Summary)
		})
	})
}

func TestSummariesAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		var errs [5]error
		together(len(errs), func(i int) {
			errs[i] = w.PutSummary(w.ctx, models.Summary{ParticipantID: "ann", Text: fmt.Sprint("by ", i), UptoMessage: 1})
		})
		written := 0
		for _, err := range errs {
			if err == nil {
				written++
				continue
			}
			require.ErrorIs(t, err, models.ErrStale)
		}
		require.Equal(t, 1, written)
	})
}
