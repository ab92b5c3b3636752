package screening_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/internal/screening"
	"coachline/models"
)

// Texts of another person who has the number pause or end in each language, and everyday
// ones with the same words pause nothing and are seldom asked about.
func TestWrongNumbers(t *testing.T) {
	acted, paused, asked := map[string]*share{}, share{}, share{}
	for _, row := range readRows(t, "testdata/requests/wrong.tsv") {
		intent := screening.Screen(screening.Message{Body: row[2]}).Intent
		if row[1] == "near" {
			paused.add(intent == models.IntentWrongNumber || intent == models.IntentStop)
			asked.add(intent == models.IntentUnclear)
			assert.NotEqual(t, models.IntentWrongNumber, intent, row[2])
			continue
		}
		if acted[row[0]] == nil {
			acted[row[0]] = &share{}
		}
		acted[row[0]].add(intent == models.IntentWrongNumber || intent == models.IntentStop)
	}
	t.Logf("paused %v, asked %v", paused, asked)
	require.Zero(t, paused.hits)
	require.LessOrEqual(t, float64(asked.hits), 0.15*float64(asked.n))
	require.Len(t, acted, len(screening.Languages()))
	for language, of := range acted {
		t.Logf("%s acted on %v", language, of)
		require.GreaterOrEqual(t, float64(of.hits), 0.9*float64(of.n), language)
	}
}
