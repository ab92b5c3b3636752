package memory_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func TestStages(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		turn := w.turn("ann", 1)
		gate := models.Stage{TurnID: turn, Number: 1, Name: models.StageGate, Decision: "gate skip 0.75", CreatedAt: at(1)}
		extract := models.Stage{TurnID: turn, Number: 2, Name: models.StageExtract, Decision: "extract 3", InputHash: "h1", Output: `{"keywords":["knee"]}`,
			Model: "small", Usage: models.Usage{Prompt: 90, Cached: 40, Completion: 7}, Millis: 310, CreatedAt: at(2)}
		second := extract
		second.Number, second.InputHash, second.Output = 3, "h2", "{}"
		for _, row := range []models.Stage{extract, gate, second} {
			require.NoError(t, w.SaveStage(w.ctx, row))
		}
		other := extract
		other.Output = "of a second attempt"
		require.NoError(t, w.SaveStage(w.ctx, other))

		got, err := w.Stages(w.ctx, turn)
		require.NoError(t, err)
		require.Equal(t, []models.Stage{gate, extract, second}, got, "the first record stays")
		none, err := w.Stages(w.ctx, "ann-t9")
		require.NoError(t, err)
		require.Empty(t, none)
		gate.TurnID = "ann-t9"
		require.ErrorIs(t, w.SaveStage(w.ctx, gate), models.ErrNotFound)

		memo, err := w.StageBy(w.ctx, turn, models.StageExtract, "h1")
		require.NoError(t, err)
		require.Equal(t, extract, memo)
		tests := []struct {
			name, turn string
			stage      models.StageName
			hash       string
		}{
			{"another input", turn, models.StageExtract, "h3"},
			{"another stage", turn, models.StageRoute, "h1"},
			{"another turn", "ann-t2", models.StageExtract, "h1"},
			{"no input", turn, models.StageGate, ""},
		}
		for _, tt := range tests {
			_, err := w.StageBy(w.ctx, tt.turn, tt.stage, tt.hash)
			require.ErrorIs(t, err, models.ErrNotFound, tt.name)
		}
	})
}

// J62, J95: what is known of a model belongs to the model at its endpoint.
func TestCapability(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		_, err := w.Capability(w.ctx, "m", "https://a")
		require.ErrorIs(t, err, models.ErrNotFound)
		guess := models.Capability{Model: "m", Endpoint: "https://a", Protocol: models.ProtocolNative, Size: models.SizeLarge, ContextTokens: 8192, Reason: "name", LearntAt: at(1)}
		require.NoError(t, w.SaveCapability(w.ctx, guess))
		refused := models.Capability{Model: "m", Endpoint: "https://a", Protocol: models.ProtocolText, Size: models.SizeLarge, Reason: "refused", LearntAt: at(2)}
		for range 2 {
			require.NoError(t, w.SaveCapability(w.ctx, refused))
		}
		require.NoError(t, w.SaveCapability(w.ctx, guess), "older than what is known")
		elsewhere := guess
		elsewhere.Endpoint = "https://b"
		require.NoError(t, w.SaveCapability(w.ctx, elsewhere))
		for _, want := range []models.Capability{refused, elsewhere} {
			got, err := w.Capability(w.ctx, want.Model, want.Endpoint)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
	})
}
