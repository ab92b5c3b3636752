package screening_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/internal/screening"
	"coachline/models"
)

// Requests for fewer messages or for other times end, pause and ask nothing, and the coach
// is told of them; ordinary messages hardly ever are such.
func TestPartialRequests(t *testing.T) {
	var told share
	var missed []string
	for _, row := range readRows(t, "testdata/requests/partial.tsv") {
		assert.Equal(t, models.IntentNone, screening.Screen(screening.Message{Body: row[1]}).Intent, row[1])
		told.add(screening.AsksForLess(row[1]))
		if !screening.AsksForLess(row[1]) {
			missed = append(missed, row[1])
		}
	}
	var mistaken share
	var wrong []string
	for _, language := range screening.Languages() {
		open, counted := readOrdinary(t, language)
		for _, body := range append(open, counted...) {
			mistaken.add(screening.AsksForLess(body))
			if screening.AsksForLess(body) {
				wrong = append(wrong, body)
			}
		}
	}
	t.Logf("told %v, mistaken %v\n%s", told, mistaken, strings.Join(wrong, "\n"))
	require.GreaterOrEqual(t, float64(told.hits), 0.9*float64(told.n), strings.Join(missed, "\n"))
	require.LessOrEqual(t, float64(mistaken.hits), 0.002*float64(mistaken.n), strings.Join(wrong, "\n"))
}
