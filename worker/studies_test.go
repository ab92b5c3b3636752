package worker

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent"
	"coachline/internal/config"
	"coachline/internal/dbtest"
	"coachline/internal/metrics"
	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// Every tool that can be turned on may be named by a study, and nothing else.
func TestToolNamesAreThoseOfTheRegistry(t *testing.T) {
	library, err := prompts.Load("")
	require.NoError(t, err)
	cfg := config.Config{
		Web:     config.Web{SearchURL: "http://searx:8080/search", Fetch: config.SwitchOn},
		Replies: config.Replies{MessageTool: config.SwitchOn, Subagents: config.SwitchOn},
	}
	registry, err := newTools(cfg, toolParts{rows: &store.Store{}, playbooks: library})
	require.NoError(t, err)
	var have []string
	ordinary := registry.For(wire.ModeIntake)
	for _, spec := range slices.Concat(ordinary, registry.Controls(len(ordinary)), registry.ForSubagents()) {
		if !slices.Contains(have, spec.Name) {
			have = append(have, spec.Name)
		}
	}
	for _, name := range tools.Names() {
		_, ok := registry.Lookup(name)
		require.True(t, ok, name)
	}
	require.Subset(t, tools.Names(), have)
}

// askedModel keeps what a model was asked.
type askedModel struct{ asked []models.ChatRequest }

func (h *askedModel) Complete(_ context.Context, req models.ChatRequest) (models.ChatResponse, error) {
	if strings.HasPrefix(req.Messages[0].Content, "Judge a text before") {
		return models.ChatResponse{Text: `{"verdict":"fine","kind":"other"}`}, nil
	}
	h.asked = append(h.asked, req)
	return models.ChatResponse{Text: "Well done.", FinishReason: "stop", Model: req.Model}, nil
}

func (h *askedModel) Embed(_ context.Context, texts []string) ([][]float32, error) {
	return make([][]float32, len(texts)), nil
}

// Each person is answered with the model, the texts and the programme's name of
// their arm; those of the default study as ever.
func TestPeopleAreAnsweredAsTheirArmSays(t *testing.T) {
	ring, err := seal.Parse("k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	require.NoError(t, err)
	rows, err := store.Open(t.Context(), store.Config{URL: dbtest.SQLite(t), Sealer: ring})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })
	memories := rows.Memory

	folder, bad := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "persona.md"), []byte("You are the walking coach of {{.Programme}}.\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(bad, "persona.md"), []byte("You are {{.Nickname}}."), 0o600))
	settings := models.StudySettings{
		Programme: "Walk Well", StudyOverlay: models.StudyOverlay{Model: "big"},
		Arms: []models.StudyArm{
			{Name: "plain", Weight: 1},
			{Name: "walk", Weight: 1, Overlay: models.StudyOverlay{Model: "other", PromptsDir: folder}},
			{Name: "bad", Weight: 1, Overlay: models.StudyOverlay{PromptsDir: bad}},
		},
		Randomisation: models.Randomisation{Method: models.RandomSimple},
	}
	text, err := json.Marshal(settings)
	require.NoError(t, err)
	_, err = rows.Studies.AddStudy(t.Context(), models.Study{ID: "walk", Name: "Walk", Settings: string(text), CreatedBy: "eve", CreatedAt: time.Now()})
	require.NoError(t, err)

	m, err := metrics.New(metrics.Config{})
	require.NoError(t, err)
	library, registry, err := loadWords(config.Config{}, toolParts{rows: rows, events: m})
	require.NoError(t, err)
	var logged strings.Builder
	studies := newStudies(config.Config{}, rows, m, registry, slog.New(slog.NewTextHandler(&logged, nil)))
	model := &askedModel{}
	base := agent.New(agent.Config{
		Prompts: library, Model: model, Embedder: model, Memory: memories, Diary: memories, Journal: memories, Steps: memories,
		Zones: time.LoadLocation, Now: time.Now,
		Settings: agent.Settings{ChatModel: "gpt-4.1", SmallModel: "small", Hot: time.Minute, MemoryStep: agent.MemoryAfter, Programme: "Habits", HistoryLimit: 30},
	})
	answers := newStudyAgents(base, studies)
	ask := func(studyID, arm string) models.ChatRequest {
		model.asked = nil
		p := models.Participant{ID: "conv_a", Timezone: "UTC", StudyID: studyID, Arm: arm, Status: wire.StatusActive}
		_, err := answers.Respond(t.Context(), agent.StepInput{
			Input:   wire.CallModelInput{ParticipantID: p.ID, TurnID: "conv_a-t1", Step: 1, Mode: wire.ModeIntake, Kind: wire.TurnReply},
			Context: models.TurnContext{Turn: models.Turn{ID: "conv_a-t1", Kind: wire.TurnReply}, Participant: p, Window: []models.Message{{ID: 1, Role: models.RoleUser, Text: "hello", At: time.Now()}}},
		})
		require.NoError(t, err)
		require.NotEmpty(t, model.asked)
		return model.asked[len(model.asked)-1]
	}
	plain := ask("", "")
	require.Equal(t, "gpt-4.1", plain.Model)
	require.NotContains(t, plain.Messages[0].Content, "walking coach")
	require.Equal(t, plain.Messages[0].Content, ask(models.DefaultStudy, "").Messages[0].Content)

	got := ask("walk", "plain")
	require.Equal(t, "big", got.Model)
	require.NotContains(t, got.Messages[0].Content, "walking coach")
	require.NotContains(t, got.Messages[0].Content, "Habits")

	got = ask("walk", "walk")
	require.Equal(t, "other", got.Model)
	require.Contains(t, got.Messages[0].Content, "walking coach of Walk Well")

	got = ask("walk", "bad")
	require.Equal(t, "big", got.Model)
	require.Contains(t, logged.String(), "setting of study cannot be used")
	require.Contains(t, logged.String(), "Nickname", "the log names what is wrong")
}
