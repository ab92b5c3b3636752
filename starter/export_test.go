package starter

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/goldens"
	"coachline/models"
)

// person is a memory of one person.
type person struct {
	models.Memory
	profile models.Profile
	err     error
}

func (p person) Recall(context.Context, string) (models.Memory, error) { return p.Memory, p.err }
func (p person) Notes(context.Context, string, int) ([]models.Note, error) {
	return p.Memory.Notes, nil
}
func (p person) Forget(context.Context, models.Forgetting) error           { return nil }
func (p person) ForgetAll(context.Context, models.Forgetting) (int, error) { return 0, nil }
func (p person) History(_ context.Context, _, id string) ([]models.FactVersion, error) {
	return []models.FactVersion{
		{FactID: id, Version: 2, Text: "newest", At: viewStart},
		{FactID: id, Version: 1, Text: "One walk\n# a day", SourceID: 4, TurnID: "conv_1-t2", At: viewStart.AddDate(0, 0, -4)},
	}, nil
}

func exported(t *testing.T, p person) []byte {
	t.Helper()
	h := startWithAccess(t, nil)
	p.profile.ParticipantID = "conv_1"
	h.addRows(&p.profile)
	raw, err := (&handlers{store: h.rows, cfg: Config{Memory: p}}).zipMemory(t.Context(), "conv_1")
	require.NoError(t, err)
	return raw
}

func TestExport(t *testing.T) {
	known := person{
		Memory: models.Memory{
			Facts: []models.Fact{
				{ID: "f3", Kind: models.FactEvent, Text: "Ran 5 km", Version: 1, SourceID: 20, TurnID: "conv_1-t9", UpdatedAt: viewStart},
				{ID: "f2", Kind: models.FactGoal, Text: "Two walks\n\n## a day", Version: 2, SourceID: 12, TurnID: "conv_1-t9", UpdatedAt: viewStart},
				{ID: "f1", Kind: models.FactIdentity, Text: "Has a dog", Version: 1, SourceID: 2, TurnID: "conv_1-t1", UpdatedAt: viewStart},
			},
			Notes: []models.Note{
				{LocalDate: "2026-11-23", Text: "Walked twice.\nSlept well.\n", UpdatedAt: viewStart},
				{LocalDate: "2026-11-22", UpdatedAt: viewStart}, // forgotten
				{LocalDate: "2026-10-31", Text: "Began.", UpdatedAt: viewStart},
			},
			Summary: models.Summary{Text: "They settled on a walk.", UpdatedAt: viewStart},
		},
		profile: models.Profile{HabitDomain: "walking", LastBarrier: "rain\n- and snow", Tone: models.Tone{Tags: []string{"concise", "warm"}}},
	}
	for _, tt := range []struct {
		name string
		in   person
	}{{"export", known}, {"export-empty", person{}}} {
		t.Run("P3 "+tt.name, func(t *testing.T) {
			raw := exported(t, tt.in)
			require.Equal(t, raw, exported(t, tt.in), "the same bytes for the same rows")
			goldenText(t, tt.name, unpacked(t, raw))
		})
	}
	t.Run("P3 a person nobody knows", func(t *testing.T) {
		h := &handlers{store: start(t, nil).rows, cfg: Config{Memory: person{err: models.ErrNotFound}}}
		_, err := h.zipMemory(t.Context(), "conv_9")
		require.ErrorIs(t, err, models.ErrNotFound)
	})
}

// unpacked is an archive as a text: names, instants, contents.
func unpacked(t *testing.T, raw []byte) string {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	var out bytes.Buffer
	for _, one := range archive.File {
		r, err := one.Open()
		require.NoError(t, err)
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		out.WriteString("=== " + one.Name + " " + one.Modified.UTC().Format(time.RFC3339) + "\n" + string(text))
	}
	return out.String()
}

func goldenText(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if goldens.ShouldRecord() {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}
