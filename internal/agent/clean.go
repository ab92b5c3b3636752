package agent

import (
	"regexp"
	"strings"
	"unicode"

	"coachline/internal/agent/marks"
)

var (
	// Reasoning models put their thinking into the text; it is never shown.
	// One that was cut off has no end mark, and some servers swallow the first.
	thinking   = regexp.MustCompile(`(?is)<think(?:ing)?>.*?(?:</think(?:ing)?>|\z)|\A.*</think(?:ing)?>`)
	blankLines = regexp.MustCompile(`\n[ \t]*\n(?:[ \t]*\n)+`)
)

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// Clean makes a model's text fit to be shown to a person: no thinking, no
// copied marks, no control or invisible characters, no more than one blank
// line in a row, trimmed. An empty result means that there is nothing to say.
func Clean(text string) string {
	text = strings.ToValidUTF8(text, "")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if strings.ContainsFunc(text, isUnusual) {
		text = dropInvisible([]rune(text))
	}
	if strings.Contains(text, "<") {
		text = thinking.ReplaceAllString(text, "")
	}
	return strings.TrimSpace(squeezeBlankLines(marks.TrimCopied(strings.TrimSpace(text))))
}

// squeezeBlankLines leaves no more than one blank line in a row.
func squeezeBlankLines(text string) string {
	if strings.Count(text, "\n") < 3 {
		return text
	}
	return blankLines.ReplaceAllString(text, "\n\n")
}

// isUnusual reports whether dropInvisible has to check a character.
func isUnusual(r rune) bool { return r > unicode.MaxASCII || isInvisible(r) }

// dropInvisible removes characters that cannot be seen. Joiners stay inside
// words and pictographs, where scripts and emoji are made of them.
func dropInvisible(runes []rune) string {
	var out strings.Builder
	last := ' '
	for i, r := range runes {
		if r == zeroWidthJoiner || r == zeroWidthNonJoiner {
			if !canTakeJoiner(last) || i+1 == len(runes) || !canTakeJoiner(runes[i+1]) {
				continue
			}
		} else if isInvisible(r) {
			continue
		}
		out.WriteRune(r)
		last = r
	}
	return out.String()
}

// isInvisible reports whether a character is a control or format character
// other than a newline or a tab.
func isInvisible(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// canTakeJoiner reports whether a joiner may stand beside a character.
func canTakeJoiner(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.Is(unicode.So, r) || unicode.Is(unicode.Sk, r)
}
