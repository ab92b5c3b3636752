package agent_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent"
	"coachline/models"
)

// Stages ask for no more than they read, for JSON where they read JSON, and for little
// thinking where the model knows how.
func TestStagesAskForLittle(t *testing.T) {
	w := newWorld(t)
	w.settings.SmallModel, w.settings.MemoryStep, w.settings.Router = "gpt-5-mini", agent.MemoryBefore, "model"
	w.openAgent()
	w.storeFacts(ann, models.FactEvent, "Told story1 of holiday1.")
	w.model.on(extractor, textAnswers(`{"keywords":["shoes","buy","old"]}`)...)
	w.runExchange("what did I say about my old shoes last summer?")
	asked := map[string]bool{}
	for purpose, requests := range w.model.asked {
		for _, request := range requests {
			if request.Model != "gpt-5-mini" {
				continue
			}
			asked[purpose] = true
			require.Equal(t, "minimal", request.Effort, purpose)
			require.LessOrEqual(t, request.MaxTokens, 1024, purpose)
			require.Positive(t, request.MaxTokens, purpose)
			require.Equal(t, request.JSON, strings.Contains(request.Messages[0].Content, "one JSON object"), purpose)
		}
	}
	require.GreaterOrEqual(t, len(asked), 3, asked)
}
