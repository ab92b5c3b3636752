package screening

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// fillers have no shape, though Unicode counts them among letters and symbols.
const fillers = "\u115f\u1160\u2800\u3164\uffa0"

// splitClauses cuts a text at its punctuation and symbols into runs of words. Words
// are in lower case and in one form of the many that Unicode has for them:
// without accents, apostrophes ("don't" is "dont"), styles and invisible
// characters.
func splitClauses(body string) [][]string {
	var all [][]string
	var run []string
	var word strings.Builder
	endWord := func() {
		if word.Len() > 0 {
			run = append(run, word.String())
			word.Reset()
		}
	}
	endClause := func() {
		endWord()
		if len(run) > 0 {
			all = append(all, run)
			run = nil
		}
	}
	// An acute accent that stands alone is typed for an apostrophe, and
	// decomposition would turn it into a space.
	for _, r := range norm.NFKD.String(strings.ReplaceAll(body, "\u00b4", "'")) {
		switch {
		case strings.ContainsRune(fillers, r):
		case unicode.IsLetter(r), unicode.IsDigit(r):
			word.WriteRune(unicode.ToLower(r))
		case unicode.Is(unicode.M, r), unicode.Is(unicode.Cf, r), strings.ContainsRune("'`\u2018\u2019\u02bc", r):
		case r == '\n':
			endClause()
		case unicode.IsSpace(r), unicode.IsControl(r), r == '-', r == '_', r == '/', r == '*':
			endWord()
		default:
			endClause()
		}
	}
	endClause()
	return all
}
