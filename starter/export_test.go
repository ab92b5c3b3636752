package starter

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/goldens"
	"coachline/internal/study"
	"coachline/models"
)

// exported is the archive of conv_1, of whom something may be remembered.
func exported(t *testing.T, isKnown bool) []byte {
	t.Helper()
	h := startWithAccess(t, nil)
	if isKnown {
		h.remember("conv_1")
	}
	raw, err := (&memoryRoutes{memory: h.rows.Memory, people: h.rows.People}).zipMemory(t.Context(), "conv_1")
	require.NoError(t, err)
	return raw
}

// remember stores facts, notes, a summary and the profile of a person.
func (h *harness) remember(id string) {
	h.t.Helper()
	ctx, facts, vector := context.Background(), h.rows.Memory, []float32{1}
	for _, fact := range []models.Fact{
		{Kind: models.FactIdentity, Text: "Has a dog", SourceID: 2, TurnID: id + "-t1", CreatedAt: viewStart},
		{Kind: models.FactGoal, Text: "One walk\n# a day", SourceID: 4, TurnID: id + "-t2", CreatedAt: viewStart.AddDate(0, 0, -4)},
		{Kind: models.FactEvent, Text: "Ran 5 km", SourceID: 20, TurnID: id + "-t9", CreatedAt: viewStart},
	} {
		fact.ParticipantID = id
		vector = append(vector, 1)
		_, err := facts.SaveFact(ctx, fact, vector)
		require.NoError(h.t, err)
	}
	_, err := facts.UpdateFact(ctx, models.Fact{
		ID: "f2", ParticipantID: id, Kind: models.FactGoal, Text: "Two walks\n\n## a day", Version: 1, SourceID: 12, TurnID: id + "-t9", UpdatedAt: viewStart,
	}, vector)
	require.NoError(h.t, err)
	h.addRows(
		&models.Note{ParticipantID: id, LocalDate: "2026-11-23", Text: "Walked twice.\nSlept well.\n", Version: 1, UpdatedAt: viewStart},
		&models.Note{ParticipantID: id, LocalDate: "2026-11-22", Version: 1, UpdatedAt: viewStart}, // forgotten
		&models.Note{ParticipantID: id, LocalDate: "2026-10-31", Text: "Began.", Version: 1, UpdatedAt: viewStart},
		&models.Summary{ParticipantID: id, Text: "They settled on a walk.", Version: 1, UpdatedAt: viewStart},
		&models.Profile{ParticipantID: id, HabitTexts: models.HabitTexts{HabitDomain: "walking", LastBarrier: "rain\n- and snow"}, Tone: models.Tone{Tags: []string{"concise", "warm"}}},
	)
}

func TestExport(t *testing.T) {
	for name, isKnown := range map[string]bool{"export": true, "export-empty": false} {
		t.Run(name, func(t *testing.T) {
			raw := exported(t, isKnown)
			require.Equal(t, raw, exported(t, isKnown), "the same bytes for the same rows")
			goldenText(t, name, unpacked(t, raw))
		})
	}
	rows := start(t, nil).rows
	_, err := (&memoryRoutes{memory: rows.Memory, people: rows.People}).zipMemory(t.Context(), "conv_9")
	require.ErrorIs(t, err, models.ErrNotFound)
}

// TestExportHoldsTheWorkspace: the operator's files stand before what is known, those of
// the person's study in place of the installation's.
func TestExportHoldsTheWorkspace(t *testing.T) {
	h := startWithAccess(t, nil)
	h.remember("conv_1")
	installed, own := t.TempDir(), t.TempDir()
	for file, text := range map[string]string{
		filepath.Join(installed, "SOUL.md"): "# Voice\nDry.", filepath.Join(installed, "USER.md"): "They are nurses.", filepath.Join(installed, "MEMORY.md"): "The ward moved.",
		filepath.Join(own, "IDENTITY.md"): "A clinic in Leeds.",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	routes := &memoryRoutes{memory: h.rows.Memory, people: h.rows.People, promptsDir: installed}
	export := func() string {
		raw, err := routes.zipMemory(t.Context(), "conv_1")
		require.NoError(t, err)
		return unpacked(t, raw)
	}
	text := export()
	require.Contains(t, text, "=== SOUL.md 1980-01-01T00:00:00Z\n## Voice\nDry.\n")
	require.Contains(t, text, "=== USER.md 1980-01-01T00:00:00Z\nThey are nurses.\n\n# Profile\n\n- Habit: walking\n")
	require.Contains(t, text, "=== MEMORY.md 1980-01-01T00:00:00Z\nThe ward moved.\n\n# Memory\n\n## Facts: identity\n")

	settings, err := json.Marshal(models.StudySettings{StudyOverlay: models.StudyOverlay{PromptsDir: own}})
	require.NoError(t, err)
	routes.resolver = study.New(study.Config{Studies: oneStudy{models.Study{Settings: string(settings)}}})
	text = export()
	require.Contains(t, text, "=== IDENTITY.md 1980-01-01T00:00:00Z\nA clinic in Leeds.\n")
	require.NotContains(t, text, "SOUL.md")
}

// oneStudy is the study of everybody.
type oneStudy struct{ row models.Study }

func (o oneStudy) Study(context.Context, string) (models.Study, error) { return o.row, nil }

func (o oneStudy) StudyVersions(context.Context) (map[string]int64, error) { return nil, nil }

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
