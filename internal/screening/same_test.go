package screening_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/internal/screening"
	"coachline/models"
)

// What the sentences reach: how many of 250 that must page are found and page, how many
// of 150 that must be looked at are found, how many of 200 that are ordinary are flagged,
// and how many of 120 have one tier in all languages.
const (
	leastFound, leastPages = 250, 250
	leastLooks             = 150
	mostFlagged            = 2
	leastAlike             = 118
)

// The same sentence in five languages has the same tier, and the one that its writer, who
// saw no rule, wished for.
func TestSameSentences(t *testing.T) {
	rows := readRows(t, "testdata/same-sentences.tsv")
	order := rows[0][3:]
	require.ElementsMatch(t, screening.Languages(), order)
	var found, pages, looks, flagged, alike int
	for _, row := range rows[1:] {
		tiers := map[models.DangerTier]bool{}
		for i := range order {
			tier := screening.Screen(screening.Message{Body: row[3+i]}).Tier
			tiers[tier] = true
			isFound := tier != models.TierNone
			switch wished := row[2]; {
			case wished == "page" && isFound:
				found++
				if tier == models.TierA {
					pages++
				}
			case wished == "look" && isFound:
				looks++
			case wished == "none" && isFound:
				flagged++
			}
		}
		if len(tiers) == 1 {
			alike++
		}
	}
	t.Logf("found %d, pages %d, looks %d, flagged %d, alike %d of %d", found, pages, looks, flagged, alike, len(rows)-1)
	assert.GreaterOrEqual(t, found, leastFound)
	assert.GreaterOrEqual(t, pages, leastPages)
	assert.GreaterOrEqual(t, looks, leastLooks)
	assert.LessOrEqual(t, flagged, mostFlagged)
	assert.GreaterOrEqual(t, alike, leastAlike)
}
