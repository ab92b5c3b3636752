package outgoing

import (
	"slices"
	"strings"

	"github.com/abadojack/whatlanggo"
)

// spoken are the languages of the product's own texts.
var spoken = whatlanggo.Options{Whitelist: map[whatlanggo.Lang]bool{
	whatlanggo.Eng: true, whatlanggo.Deu: true, whatlanggo.Spa: true, whatlanggo.Fra: true, whatlanggo.Por: true,
}}

const (
	// leastSure is the confidence from which a text counts as in a language: of 300 good
	// replies none was taken for another at it, at 0.5 three were.
	leastSure = 0.95
	// leastWritten is how many characters a person must have written for their language
	// to be known: of 6,179 people of so many English text messages 19 were taken for
	// speakers of another, of those who wrote 40 every eightieth.
	leastWritten = 120
)

// languageOf returns the language of a text where that is clear; -1 elsewhere, and for
// one that is no language of ours.
func languageOf(words string) whatlanggo.Lang {
	if any := whatlanggo.Detect(words); any.IsReliable() && !spoken.Whitelist[any.Lang] {
		return -1
	}
	if found := whatlanggo.DetectWithOptions(words, spoken); found.Confidence >= leastSure {
		return found.Lang
	}
	return -1
}

// isOtherLanguage reports whether a reply is clearly in a language that the person
// does not write, where theirs is clear. What a person repeats counts once.
func isOtherLanguage(r Reply) bool {
	texts := make([]string, 0, len(r.Written))
	for _, one := range r.Written {
		texts = append(texts, strings.ToLower(strings.TrimSpace(one)))
	}
	slices.Sort(texts)
	all := strings.Join(slices.Compact(texts), "\n")
	if len(all) < leastWritten {
		return false
	}
	return AreOfTwoLanguages(all, quoted.ReplaceAllString(r.Text, " "))
}

// AreOfTwoLanguages reports whether two texts are clearly in different languages.
func AreOfTwoLanguages(one, other string) bool {
	first, second := languageOf(one), languageOf(other)
	return first >= 0 && second >= 0 && first != second
}
