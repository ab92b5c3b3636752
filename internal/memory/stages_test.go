package memory_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

func TestStages(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		turn := w.turn("ann", 1)
		gate := models.Stage{TurnID: turn, Number: 1, Name: models.StageRecallCheck, Decision: "gate skip 0.75", CreatedAt: at(1)}
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
			{"no input", turn, models.StageRecallCheck, ""},
		}
		for _, tt := range tests {
			_, err := w.StageBy(w.ctx, tt.turn, tt.stage, tt.hash)
			require.ErrorIs(t, err, models.ErrNotFound, tt.name)
		}
	})
}

// What is known of a model belongs to the model at its endpoint.
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

// What the turn before came to, as far as it belongs to the conversation.
func TestLastStep(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		save := func(turn string, number, minutes int, trace string) {
			_, err := w.rows.Turns.SaveStep(w.ctx, models.Step{TurnID: turn, Number: number, Text: "words", Trace: trace, CreatedAt: at(minutes)})
			require.NoError(t, err)
		}
		save(w.turn("ann", 1), 1, 1, "one")
		save(w.turn("ann", 2), 1, 2, "two, first round")
		save(models.TurnID("ann", 2), 2, 3, "two")
		prompt := models.TurnID("ann", 3)
		_, err := w.rows.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{
			ParticipantID: "ann", TurnID: prompt, Number: 3, Mode: wire.ModeIntake, Plan: wire.TurnPlan{Kind: wire.TurnPrompt}, Now: at(4),
		})
		require.NoError(t, err)
		save(prompt, 1, 4, "daily prompt")
		save(w.turn("ann", 4), 1, 5, "four")
		save(w.turn("ben", 3), 1, 5, "of somebody else")
		for _, tt := range []struct {
			name          string
			before, since int
			want          string
		}{
			{"the newest", 5, 0, "four"},
			{"of the turns before, without prompts", 4, 0, "two"},
			{"at the limit", 4, 3, "two"},
			{"too old", 4, 4, ""},
			{"the first turn", 1, 0, ""},
		} {
			t.Run(tt.name, func(t *testing.T) {
				got, err := w.LastStep(w.ctx, "ann", tt.before, at(tt.since))
				if tt.want == "" {
					require.ErrorIs(t, err, models.ErrNotFound)
					return
				}
				require.NoError(t, err)
				require.Equal(t, tt.want, got.Trace)
				require.Empty(t, got.Text)
			})
		}
	})
}
