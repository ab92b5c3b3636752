package text

import (
	"regexp"
	"strings"
)

var sentenceEnd = regexp.MustCompile(`[.!?…。！？]+["'”’»)\]]*(?:\s|$)|\n`)

// LastSentenceEnd returns the byte behind the last whole sentence of a text; 0 when it
// holds none.
func LastSentenceEnd(words string) int {
	ends := sentenceEnd.FindAllStringIndex(words, -1)
	if len(ends) == 0 {
		return 0
	}
	return ends[len(ends)-1][1]
}

// CutAtSentence returns a text up to the end of its last whole sentence; empty when it
// holds none.
func CutAtSentence(words string) string {
	return strings.TrimSpace(words[:LastSentenceEnd(words)])
}
