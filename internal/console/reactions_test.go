package console

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/models"
)

func TestReactionsStandAtTheirMessage(t *testing.T) {
	entry := func(text string, limit models.InboundLimit) api.HistoryEntry {
		return api.HistoryEntry{Text: text, Limit: limit}
	}
	list := []api.HistoryEntry{
		entry("Walk after lunch?", ""), entry("I did", ""), entry("Liked “Walk after lunch?”", models.LimitReaction),
		entry("Well done", ""), entry("👍 to “Walk after…”", models.LimitReaction), entry("Loved “something old”", models.LimitReaction),
	}
	var texts []string
	for _, e := range placeReactions(list) {
		texts = append(texts, e.Text)
	}
	require.Equal(t, []string{
		"Walk after lunch?", "Liked “Walk after lunch?”", "👍 to “Walk after…”", "I did", "Well done", "Loved “something old”",
	}, texts)
}
