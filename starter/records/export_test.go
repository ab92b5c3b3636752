package records

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
func (p person) Profile(context.Context, string) (models.Profile, error) { return p.profile, nil }
func (p person) Turns(context.Context, models.TurnQuery) ([]models.TurnTotals, error) {
	return nil, nil
}
func (p person) Turn(context.Context, string, int) (models.TurnRecord, error) {
	return models.TurnRecord{}, nil
}
func (p person) Consents(context.Context, string) ([]models.Consent, error) { return nil, nil }
func (p person) Forget(context.Context, models.Forgetting) error            { return nil }
func (p person) ForgetAll(context.Context, models.Forgetting) (int, error)  { return 0, nil }
func (p person) History(_ context.Context, _, id string) ([]models.FactVersion, error) {
	return []models.FactVersion{
		{FactID: id, Version: 2, Text: "newest", At: start},
		{FactID: id, Version: 1, Text: "One walk\n# a day", SourceID: 4, TurnID: "conv_1-t2", At: start.AddDate(0, 0, -4)},
	}, nil
}

func exported(t *testing.T, p person) []byte {
	t.Helper()
	room, err := New(Config{Turns: p, Ledger: p, Memory: p, Eraser: p, Profiles: p}, time.Now)
	require.NoError(t, err)
	raw, err := room.Export(t.Context(), &PersonRequest{ID: "conv_1"})
	require.NoError(t, err)
	return raw
}

func TestExport(t *testing.T) {
	known := person{
		Memory: models.Memory{
			Facts: []models.Fact{
				{ID: "f3", Kind: models.FactEvent, Text: "Ran 5 km", Version: 1, SourceID: 20, TurnID: "conv_1-t9", UpdatedAt: start},
				{ID: "f2", Kind: models.FactGoal, Text: "Two walks\n\n## a day", Version: 2, SourceID: 12, TurnID: "conv_1-t9", UpdatedAt: start},
				{ID: "f1", Kind: models.FactIdentity, Text: "Has a dog", Version: 1, SourceID: 2, TurnID: "conv_1-t1", UpdatedAt: start},
			},
			Notes: []models.Note{
				{LocalDate: "2026-11-23", Text: "Walked twice.\nSlept well.\n", UpdatedAt: start},
				{LocalDate: "2026-11-22", UpdatedAt: start}, // forgotten
				{LocalDate: "2026-10-31", Text: "Began.", UpdatedAt: start},
			},
			Summary: models.Summary{Text: "They settled on a walk.", UpdatedAt: start},
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
		room, err := New(Config{Turns: known, Ledger: known, Memory: person{err: models.ErrNotFound}, Eraser: known, Profiles: known}, time.Now)
		require.NoError(t, err)
		_, err = room.Export(t.Context(), &PersonRequest{ID: "conv_9"})
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
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}
