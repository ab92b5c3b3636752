package console

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func TestReactionsStandAtTheirMessage(t *testing.T) {
	entry := func(text string, limit models.InboundLimit) models.HistoryEntry {
		return models.HistoryEntry{Text: text, Limit: limit}
	}
	list := []models.HistoryEntry{
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
