package screening

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fillers have no shape, though Unicode counts them among letters and symbols.
const fillers = "\u115f\u1160\u2800\u3164\uffa0"

func isFiller(r rune) bool { return r >= utf8.RuneSelf && strings.ContainsRune(fillers, r) }

// splitWords cuts a text at its spaces, punctuation and symbols into words. Words
// are in lower case and in one form of the many that Unicode has for them:
// without accents, apostrophes ("don't" is "dont"), styles and invisible
// characters.
func splitWords(body string) []string {
	letters := make([]byte, 0, len(body))
	ends := make([]int, 1, 1+len(body)/4)
	endWord := func() {
		if len(letters) > ends[len(ends)-1] {
			ends = append(ends, len(letters))
		}
	}
	// An acute accent that stands alone is typed for an apostrophe, and
	// decomposition would turn it into a space.
	for _, r := range norm.NFKD.String(strings.ReplaceAll(body, "\u00b4", "'")) {
		switch {
		case isFiller(r):
		case unicode.IsLetter(r), unicode.IsDigit(r):
			letters = utf8.AppendRune(letters, unicode.ToLower(asLatin(r)))
		case unicode.Is(unicode.M, r), unicode.Is(unicode.Cf, r), isApostrophe(r):
		default:
			endWord()
		}
	}
	endWord()
	text := string(letters)
	words := make([]string, len(ends)-1)
	for i := range words {
		words[i] = text[ends[i]:ends[i+1]]
	}
	return words
}

// quoteTokens returns the part of a text that has the tokens from one position up to
// another, as it was written. A part between blanks is quoted whole.
func quoteTokens(body string, from, to int) string {
	fields := strings.Fields(body)
	begin, end := len(fields), 0
	var read tokens
	for i, before := 0, 0; i < len(fields) && before < to; i++ {
		read.readBody(strings.Join(fields[:i+1], " "))
		if after := len(read.spans); after > from && after > before {
			begin, end = min(begin, i), i+1
		}
		before = len(read.spans)
	}
	return strings.Join(fields[min(begin, end):end], " ")
}
