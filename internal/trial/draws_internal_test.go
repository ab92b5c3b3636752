package trial

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is drawn from a seed may change with the version alone, which is written into
// rows of running studies.
func TestVersionOfDraws(t *testing.T) {
	require.Equal(t, []int{1, 1}, []int{AlgorithmVersion, ThompsonVersion})
}

// Arms that have what they are preferred by already get as much, and no more.
func TestPreferLeast(t *testing.T) {
	require.InDeltaSlice(t, []float64{0.8, 0.2}, preferLeast([]float64{0.5, 0.5}, []float64{1, 2}), 1e-9)
	require.InDeltaSlice(t, []float64{minimisationShare, 1 - minimisationShare}, preferLeast([]float64{minimisationShare, 1 - minimisationShare}, []float64{1, 2}), 1e-9)
	require.InDeltaSlice(t, []float64{0.95, 0.05}, preferLeast([]float64{0.9, 0.1}, []float64{1, 2}), 1e-9)
	require.InDeltaSlice(t, []float64{0.5, 0.5}, preferLeast([]float64{0.5, 0.5}, []float64{1, 1}), 1e-9)
	require.InDeltaSlice(t, []float64{0.8, 0.2}, preferLeast([]float64{0.5, 0.5}, []float64{0, tie}), 1e-9, "no tie any more")
}

func TestSameProbabilities(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{`{"a":0.5,"b":0.5}`, `{"b":0.5,"a":0.5}`, true},
		{`{"a":0.5}`, `{"a":0.6}`, false},
		{`{"a":0.5}`, `{"b":0.5}`, false},
		{`{"a":0.5}`, `{"a":0.5,"b":0.5}`, false},
		{`{}`, `broken`, false},
		{`broken`, `{}`, false},
		{`{"a":0}`, `{"a":1e-9}`, true}, // as far as rounding may go
		{`{"a":0}`, `{"a":2e-9}`, false},
	} {
		require.Equal(t, tt.same, sameProbabilities(tt.a, tt.b), "%s %s", tt.a, tt.b)
	}
}

// A share begins with its lower bound and ends before its upper one, so that neighbours
// share no number. Who falls behind the last by rounding gets the last that is not empty.
func TestSharesMeet(t *testing.T) {
	halves := []float64{0.5, 0.5, 0}
	for at, want := range map[float64]int{0: 0, 0.4999: 0, 0.5: 1, 1: 1} {
		require.Equal(t, want, pick(halves, at), at)
	}
	seed := []byte("seed")
	at := uniform(newSource(seed, 0, purposeFeature, "voice", "conv_1"))
	require.False(t, IsFeatureOn(seed, "voice", "conv_1", at))
	require.True(t, IsFeatureOn(seed, "voice", "conv_1", math.Nextafter(at, 1)))
}
