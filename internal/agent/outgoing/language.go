package outgoing

import (
	"slices"
	"strings"

	"github.com/abadojack/whatlanggo"

	"coachline/internal/text"
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
// one that is no language of ours. Groups of letters mislead in short texts, so that no
// other language may have more of its commonest words there.
func languageOf(words string) whatlanggo.Lang {
	if any := whatlanggo.Detect(words); any.IsReliable() && !spoken.Whitelist[any.Lang] {
		return -1
	}
	found := whatlanggo.DetectWithOptions(words, spoken)
	if found.Confidence < leastSure {
		return -1
	}
	own := text.Words(words)
	for lang := range common {
		if countCommon(own, lang) > countCommon(own, found.Lang) {
			return -1
		}
	}
	return found.Lang
}

// common are the commonest words of each language.
var common = map[whatlanggo.Lang]map[string]bool{
	whatlanggo.Eng: text.WordSet("the a an and to of is are was it you your i me my we this that what how did do does would like for with in on at be have can let us about not see think so"),
	whatlanggo.Deu: text.WordSet("der die das und zu von ist sind war es du dir dein deine ich mir mein wir was wie hat hast für mit in im auf an ein eine nicht sich den dem auch wenn so"),
	whatlanggo.Spa: text.WordSet("el la los las y de que es son fue tu te tus yo me mi lo qué cómo para con en un una no se por del al hay muy más te así"),
	whatlanggo.Fra: text.WordSet("le la les et de des du que est sont tu te ton ta je me mon on ce qui quoi comment pour avec en dans un une pas se il au très plus bien"),
	whatlanggo.Por: text.WordSet("o a os as e de que é são foi tu te teu tua eu me meu você para com em um uma não se por do da no na como mais muito bem"),
}

func countCommon(words []string, lang whatlanggo.Lang) (n int) {
	for _, word := range words {
		if common[lang][word] {
			n++
		}
	}
	return n
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
