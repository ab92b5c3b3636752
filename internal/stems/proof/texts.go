package proof

import (
	"strings"

	"pgregory.net/rapid"
)

// Texts draws texts that come near the patterns: what they match and the given
// texts, alone or in a row, with words left out, doubled, moved and run together.
func Texts(patterns, texts []string) *rapid.Generator[string] {
	matching := make([]*rapid.Generator[string], len(patterns))
	for i, pattern := range patterns {
		matching[i] = rapid.StringMatching(pattern)
	}
	part := rapid.OneOf(append(matching, rapid.SampledFrom(texts))...)
	return rapid.Custom(func(t *rapid.T) string {
		words := strings.Fields(strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "parts"), " "))
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			words = changed(t, words)
		}
		return strings.Join(words, rapid.SampledFrom([]string{" ", " ", " ", ". ", "\n", "-"}).Draw(t, "between"))
	})
}

func changed(t *rapid.T, words []string) []string {
	if len(words) == 0 {
		return words
	}
	i := rapid.IntRange(0, len(words)-1).Draw(t, "word")
	before, word, after := words[:i:i], words[i], words[i+1:]
	switch rapid.SampledFrom([]string{"out", "twice", "last", "joined", "please", "cut", "ended", "denied"}).Draw(t, "change") {
	case "out":
		return append(before, after...)
	case "twice":
		return append(append(before, word, word), after...)
	case "last":
		return append(append(before, after...), word)
	case "joined":
		return append(append(before, word+strings.Join(after[:min(1, len(after))], "")), after[min(1, len(after)):]...)
	case "please":
		return append(append(before, "please", word), after...)
	case "cut":
		return append(append(before, word[:len(word)/2], word[len(word)/2:]), after...)
	case "ended":
		return append(append(before, word+"."), after...)
	default:
		return append(append(before, "not", word), after...)
	}
}
