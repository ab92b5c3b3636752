package plan

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// minClause is the least length of either clause, in characters.
const minClause = 9

// conjunctions are the words that join two questions, by language.
// Languages that are not listed are not divided.
var conjunctions = map[string]*regexp.Regexp{
	"en": joinedBy("and"), "es": joinedBy("y|e"), "fr": joinedBy("et"), "de": joinedBy("und"),
	"pt": joinedBy("e"), "it": joinedBy("e|ed"), "nl": joinedBy("en"), "tr": joinedBy("ve"),
}

// languageTag matches what may be a language; anything else is read as English.
var languageTag = regexp.MustCompile(`^[a-z]{2,3}$`)

func joinedBy(words string) *regexp.Regexp { return regexp.MustCompile(`(?i)\s(?:` + words + `)\s`) }

// Split divides a text at its first conjunction into two clauses of at least
// nine characters each; nil when there is none. locale is the
// participant's; one that names no language is English.
func Split(query, locale string) []string {
	between, ok := conjunctions[languageOf(locale)]
	if !ok {
		return nil
	}
	at := between.FindStringIndex(query)
	if at == nil {
		return nil
	}
	first, second := trimClause(query[:at[0]]), trimClause(query[at[1]:])
	if utf8.RuneCountInString(first) < minClause || utf8.RuneCountInString(second) < minClause {
		return nil
	}
	return []string{first, second}
}

// languageOf returns the language of a locale; it is English where the locale
// names none.
func languageOf(locale string) string {
	primary, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(locale)), "_", "-"), "-")
	if !languageTag.MatchString(primary) || primary == "und" {
		return "en"
	}
	return primary
}

// trimClause takes blanks and commas off both ends of a clause.
func trimClause(text string) string { return strings.Trim(text, " \t\r\n,;") }

// clauseHint returns a note that counts the clauses which successful calls can
// have answered, and names those that are open; failed calls do not count.
func clauseHint(parts []string, past []Past) string {
	done := 0
	for _, one := range past {
		if !one.Result.Failed {
			done++
		}
	}
	if done >= len(parts) {
		return "[check] If anything that the person asked is still open, call the tool for it; otherwise answer now, in their language."
	}
	return fmt.Sprintf("[check] %d of %d answered, still open: %s", done, len(parts), strings.Join(parts[done:], "; "))
}
