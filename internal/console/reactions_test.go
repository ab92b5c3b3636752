package console

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/models"
)

func TestReactionsStandAtTheirMessage(t *testing.T) {
	entry := func(text string, gate models.Gate) api.HistoryEntry { return api.HistoryEntry{Text: text, Gate: gate} }
	list := []api.HistoryEntry{
		entry("Walk after lunch?", ""), entry("I did", ""), entry("Liked “Walk after lunch?”", models.GateReaction),
		entry("Well done", ""), entry("👍 to “Walk after…”", models.GateReaction), entry("Loved “something old”", models.GateReaction),
	}
	var texts []string
	for _, e := range placeReactions(list) {
		texts = append(texts, e.Text)
	}
	require.Equal(t, []string{
		"Walk after lunch?", "Liked “Walk after lunch?”", "👍 to “Walk after…”", "I did", "Well done", "Loved “something old”",
	}, texts)
}
