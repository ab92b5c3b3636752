package main

import (
	"math"
	"slices"
	"time"
)

// Durations are observations of one thing.
type Durations []time.Duration

// Percentile is the smallest observation that at least p percent of all do not
// exceed (nearest rank), p in (0, 100]; zero without observations.
func (d Durations) Percentile(p float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(d))
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// Max is the longest observation; zero without observations.
func (d Durations) Max() time.Duration { return d.Percentile(100) }

// Milliseconds is a duration as the figures show it.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
