package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// textFeatures is what is seen of a text at once. Most texts hold nothing that could
// be masked, and a pattern costs a thousand times what a search for its words
// does.
type textFeatures struct {
	text string
	// low is the text in small letters, as patterns without regard to case read
	// it.
	low string
	// digits counts them; hex is the longest run of hexadecimal ones.
	digits, hex int
}

func glanceAt(s string) textFeatures {
	// The long s is a small letter of its own; the Kelvin sign is none.
	g := textFeatures{text: s, low: strings.ReplaceAll(strings.ToLower(s), "ſ", "s")}
	run := 0
	for _, r := range g.low {
		digit := '0' <= r && r <= '9' || r >= utf8.RuneSelf && unicode.IsDigit(r)
		if digit {
			g.digits++
		}
		if r < utf8.RuneSelf && (digit || 'a' <= r && r <= 'f') {
			run++
			g.hex = max(g.hex, run)
		} else {
			run = 0
		}
	}
	return g
}

// hasAny reports whether the text holds any of some words, which are in small
// letters.
func (g textFeatures) hasAny(words []string) bool {
	for _, word := range words {
		if strings.Contains(g.low, word) {
			return true
		}
	}
	return false
}

// hasAnyOf returns a predicate of texts that hold any of some words.
func hasAnyOf(words ...string) func(textFeatures) bool {
	return func(g textFeatures) bool { return g.hasAny(words) }
}
