package llm

import (
	"regexp"
	"strings"
)

// thinkTag opens or closes a block of thinking, as reasoning models write it
// where the server does not take it out.
var thinkTag = regexp.MustCompile(`(?i)<(/?)think(?:ing)?\s*>`)

// split takes blocks of thinking out of a text. A block without an end goes to
// the end of the text; an end without a beginning closes one that began with
// the text, because some chat templates write the opening tag themselves. A
// text without a tag comes back as it is.
func split(text string) (words, thinking string) {
	var said, thought strings.Builder
	depth, last := 0, 0
	for _, at := range thinkTag.FindAllStringSubmatchIndex(text, -1) {
		piece := text[last:at[0]]
		last = at[1]
		closing := at[2] < at[3]
		switch {
		case depth > 0:
			thought.WriteString(piece)
		case closing:
			thought.WriteString(said.String() + piece)
			said.Reset()
		default:
			said.WriteString(piece)
		}
		switch {
		case !closing:
			depth++
		case depth > 0:
			depth--
		}
	}
	if last == 0 {
		return text, ""
	}
	if depth > 0 {
		thought.WriteString(text[last:])
	} else {
		said.WriteString(text[last:])
	}
	// What stood on both sides of a block may make a new tag together.
	words, more := split(strings.TrimSpace(said.String()))
	return words, strings.TrimSpace(thought.String() + more)
}
