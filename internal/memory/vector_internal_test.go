package memory

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// For every answer of a model of embeddings, a similarity is a number from 0 to
// 1, the same in both directions, and 1 of a vector with itself.
func TestPropertySimilarity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "dimensions")
		draw := func(label string) []float32 {
			return rapid.SliceOfN(rapid.Float32(), n, n).Draw(t, label)
		}
		a, b := draw("a"), draw("b")
		nearA, errA := unitVector(a)
		nearB, errB := unitVector(b)
		if errA != nil || errB != nil {
			t.Skip("no numbers")
		}
		packedA, err := packVector(a)
		require.NoError(t, err)
		packedB, err := packVector(b)
		require.NoError(t, err)
		ab, ok := cosineScore(packedA, nearB)
		ba, back := cosineScore(packedB, nearA)
		require.Equal(t, nearA != nil && nearB != nil, ok && back)
		require.InDelta(t, ab, ba, 1e-5)
		require.True(t, ab >= 0 && ab <= 1)
		if self, ok := cosineScore(packedA, nearA); ok {
			require.InDelta(t, 1, self, 1e-4)
		}
		require.InDeltaSlice(t, toFloat64(nearA), toFloat64(unpackVector(packedA)), 0)
	})
}

func toFloat64(v []float32) []float64 {
	out := []float64{}
	for _, x := range v {
		out = append(out, float64(x))
	}
	return out
}

func TestUnit(t *testing.T) {
	tests := []struct {
		name string
		in   []float32
		want []float32
	}{
		{"none", nil, nil},
		{"no direction", []float32{0, 0}, nil},
		{"scaled", []float32{3, 4}, []float32{0.6, 0.8}},
		{"very small numbers", []float32{math.SmallestNonzeroFloat32, 0}, []float32{1, 0}},
		{"very large numbers", []float32{0, -math.MaxFloat32}, []float32{0, -1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := unitVector(tt.in)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func FuzzWords(f *testing.F) {
	for _, seed := range [][2]string{{"walks", "walking at DAWN"}, {"oat", "oats"}, {"膝", "膝が痛い"}, {"\xff", "a\u200bb"}, {"", "!"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		require.Equal(t, oneStem(a, b), oneStem(b, a))
		require.True(t, oneStem(a, a))
		require.Equal(t, normalText(a), normalText(normalText(a)), "a normal form stays")
		require.LessOrEqual(t, len(queryWords([]string{a, b})), len(wordRuns(a+" "+b)))
	})
}
