package trial_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/screening/sheets"
	"coachline/internal/trial"
)

// countMisses plays runs of 300 people and counts those in which an interval missed
// the proportion at one look or more.
func countMisses(p float64, runs int, interval func(successes, people int) (low, high float64)) int {
	const people = 300
	misses := 0
	for run := range runs {
		draw := rand.New(rand.NewPCG(uint64(run), math.Float64bits(p)))
		successes := 0
		for n := 1; n <= people; n++ {
			if draw.Float64() < p {
				successes++
			}
			if low, high := interval(successes, n); p < low || p > high {
				misses++
				break
			}
		}
	}
	return misses
}

// TestIntervalHoldsAtAllLooks looks after every person: at most 5 % of the runs may
// ever be missed. The interval for one look is missed in more than a quarter of
// them, so the test can tell.
func TestIntervalHoldsAtAllLooks(t *testing.T) {
	const runs = 300
	for _, p := range []float64{0.05, 0.5, 0.92} {
		misses := countMisses(p, runs, func(successes, people int) (low, high float64) {
			return trial.ProportionInterval(int64(successes), int64(people))
		})
		fixed := countMisses(p, runs, sheets.Wilson)
		t.Logf("proportion %g: %.1f %% of runs missed, with an interval for one look %.1f %%", p, 100*float64(misses)/runs, 100*float64(fixed)/runs)
		require.LessOrEqual(t, misses, runs*5/100)
		require.Greater(t, fixed, runs*25/100)
	}
}

func TestProportionInterval(t *testing.T) {
	for _, test := range []struct {
		successes, people int64
		low, high         float64
	}{
		{0, 0, 0, 1}, {0, 1, 0, 0.975}, {1, 1, 0.025, 1}, {0, 20, 0, 0.261}, {20, 20, 0.739, 1}, {10, 20, 0.2043, 0.7957}, {5000, 10_000, 0.4808, 0.5192},
	} {
		low, high := trial.ProportionInterval(test.successes, test.people)
		require.InDelta(t, test.low, low, 0.001, "%d of %d", test.successes, test.people)
		require.InDelta(t, test.high, high, 0.001, "%d of %d", test.successes, test.people)
	}
}
