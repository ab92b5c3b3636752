package consent_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"coachline/internal/consent"
	"coachline/internal/stems"
	"coachline/internal/stems/proof"
)

// A phrase is tried only where one of its stems stands, so no match may do
// without.
func TestStemsOfPhrasesAreNecessary(t *testing.T) {
	for _, pattern := range consent.Patterns() {
		need := stems.Of(pattern)
		require.NotEmpty(t, need, pattern)
		text, found := proof.Exception(pattern, need)
		assert.False(t, found, "%q matches %s and holds none of %q", text, pattern, need)
	}
}

// An index that leaves phrases away changes no answer.
func TestIndexOfPhrasesChangesNothing(t *testing.T) {
	same := func(t require.TestingT, text string) {
		wantIntent, wantMethod := consent.ScreenPlainly(text)
		intent, method := consent.Screen(text, "")
		require.Equal(t, wantIntent, intent, text)
		require.Equal(t, wantMethod, method, text)
	}
	texts := slices.Concat(optOuts, ordinary, slices.Concat(slices.Collect(maps.Values(keywordTexts))...))
	for _, text := range texts {
		same(t, text)
	}
	near := proof.Texts(consent.Patterns(), texts)
	rapid.Check(t, func(t *rapid.T) { same(t, near.Draw(t, "text")) })
}

func FuzzIndexOfPhrases(f *testing.F) {
	for _, text := range slices.Concat(optOuts, ordinary) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, body string) {
		wantIntent, wantMethod := consent.ScreenPlainly(body)
		intent, method := consent.Screen(body, "")
		if intent != wantIntent || method != wantMethod {
			t.Fatalf("%q: %q by %q, without the index %q by %q", body, intent, method, wantIntent, wantMethod)
		}
	})
}
