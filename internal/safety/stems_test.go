package safety_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"coachline/internal/safety"
	"coachline/internal/stems"
	"coachline/internal/stems/proof"
)

// A sign is run only where one of its stems stands, so no match may do without.
func TestStemsOfSignsAreNecessary(t *testing.T) {
	for _, pattern := range safety.Patterns() {
		need := stems.Of(pattern)
		require.NotEmpty(t, need, pattern)
		text, found := proof.Exception(pattern, need)
		assert.False(t, found, "%q matches %s and holds none of %q", text, pattern, need)
	}
}

// An index that leaves signs away changes no answer.
func TestIndexOfSignsChangesNothing(t *testing.T) {
	texts := slices.Concat(slices.Concat(slices.Collect(maps.Values(dangers))...), slices.Concat(slices.Collect(maps.Values(harmless))...))
	for _, text := range texts {
		require.Equal(t, safety.ScreenPlainly(text), safety.Screen(text), text)
	}
	near := proof.Texts(safety.Patterns(), texts)
	rapid.Check(t, func(t *rapid.T) {
		text := near.Draw(t, "text")
		require.Equal(t, safety.ScreenPlainly(text), safety.Screen(text))
	})
}

func FuzzIndexOfSigns(f *testing.F) {
	for _, texts := range dangers {
		for _, text := range texts {
			f.Add(text)
		}
	}
	for _, texts := range harmless {
		f.Add(texts[0])
	}
	f.Fuzz(func(t *testing.T, body string) {
		if want, got := safety.ScreenPlainly(body), safety.Screen(body); got != want {
			t.Fatalf("%q: %q, without the index %q", body, got, want)
		}
	})
}
