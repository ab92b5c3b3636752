package openai

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func cosine(a, b string) (sum float64) {
	x, y := embedding(a, 256), embedding(b, 256)
	for i := range x {
		sum += float64(x[i]) * float64(y[i])
	}
	return sum
}

func TestWords(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		want     []string
	}{
		{"topic words once, in their order", "What did I say about my KNEE, my knee and running?", []string{"knee", "running"}},
		{"numbers alone are none", "at 7 or 7am in 2026", []string{"7am"}},
		{"other languages", "¿Qué dije de mi rodilla?", []string{"qué", "dije", "rodilla"}},
		{"apostrophes", "Don’t you know Ann's dog?", []string{"anns", "dog"}},
		{"nothing", "what is it? ...", nil},
	} {
		t.Run(tc.name, func(t *testing.T) { require.Equal(t, tc.want, keywords(tc.in)) })
	}
}

func TestShared(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{
		{"When do I walk?", "They walked at 7am.", 1}, {"running and knees", "They run; a knee hurts.", 2},
		{"I moved my dog", "They move dogs", 2}, {"my boss", "my bosses", 1}, {"a walk", "income tax", 0}, {"", "x", 0},
	} {
		t.Run(tc.a, func(t *testing.T) { require.Equal(t, tc.want, sharedWords(tc.a, tc.b)) })
	}
}

func TestSentences(t *testing.T) {
	require.Equal(t, []string{"I am Ada.", "Really?", "At 7.30 yes", "next line"}, sentences("I am Ada. Really? At 7.30 yes\n\n next line\n"))
	require.Empty(t, sentences(" \n"))
}

func TestVector(t *testing.T) {
	for _, tc := range []struct {
		name, a, b string
		near       bool
	}{
		{"equal", "a short walk", "A short WALK!", true},
		{"a question and its fact", "What did I say about my knee?", "Their knee hurts after running.", true},
		{"when and what", "When do I walk?", "They walk at 7am by the river.", true},
		{"endings", "running with dogs", "They run with a dog.", true},
		{"words of grammar do not count", "what is the plan for it", "what is the tax for it", false},
		{"unrelated", "my knee hurts", "income tax", false},
		{"unrelated sentences", "They live in Leeds with two kids.", "When do I take my pills?", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.near {
				require.Greater(t, cosine(tc.a, tc.b), 0.3)
				return
			}
			require.Less(t, cosine(tc.a, tc.b), 0.3)
		})
	}
}

func FuzzVector(f *testing.F) {
	for _, text := range []string{"", "a", "one two cancel", "¿Qué?", "\xff", "12 34"} {
		f.Add(text, 1)
		f.Add(text, 256)
	}
	f.Fuzz(func(t *testing.T, text string, dimensions int) {
		if dimensions < 1 || dimensions > 512 {
			return
		}
		vector := embedding(text, dimensions)
		require.Len(t, vector, dimensions)
		sum := 0.0
		for _, x := range vector {
			sum += float64(x) * float64(x)
		}
		require.InDelta(t, 1, sum, 1e-4)
		for _, one := range sentences(text) {
			require.NotEmpty(t, one)
		}
	})
}
