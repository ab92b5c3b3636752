package outgoing

import (
	"strings"

	"coachline/internal/text"
)

// commonWords are words that one of five languages uses all the time and the others
// hardly ever.
var commonWords = map[string]string{
	"en": "the you your that's it's i'm and are is was were with what how would this have not for day today tomorrow did do great good well done keep going sounds like rough one just so let's by see on want try",
	"de": "der die das und ist nicht ein eine du dein deine dir dich ich mit für auf wie was heute morgen gut sehr schön dass bist hast war zu den dem im noch auch aber nur einfach fang klingt nach einem plan wird schon bleibst dran",
	"es": "el la los las en de y o es un una tu tus te qué cómo hoy mañana muy bien con por para pero más está estás eres has hiciste hecho del al lo esto seguimos otro otra sí pasito vuelta",
	"fr": "le la les en de des et est un une tu ton ta tes c'est je que qui avec pour dans pas plus aujourd'hui demain très bien es as ça toute suis fière",
	"pt": "o os as e de por é um uma você seu sua teu tua que como hoje amanhã muito bem com para mas mais está foi não pela pelo da do ao na no isso tem parabéns caminhada",
}

// byWord are the languages of each common word.
var byWord = func() map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for language, words := range commonWords {
		for word := range strings.FieldsSeq(words) {
			for _, part := range text.Words(word) {
				if out[part] == nil {
					out[part] = map[string]bool{}
				}
				out[part][language] = true
			}
		}
	}
	return out
}()

// scores counts for each language the common words of a text that few others have.
func scores(words string) map[string]float64 {
	out := map[string]float64{}
	for _, word := range text.Words(words) {
		for language := range byWord[word] {
			out[language] += 1 / float64(len(byWord[word]))
		}
	}
	return out
}

const (
	// leastSure is the score from which a text is in a language, and clearly how much
	// more that is than another's.
	leastSure, clearly = 1.5, 2.0
	// leastWritten is that score of what a person wrote: some words of another language
	// do not make it theirs.
	leastWritten = 3
)

// languageOf returns the language of a text where that is clear; empty elsewhere.
func languageOf(words string) string {
	found := scores(words)
	best, second := "", 0.0
	for _, language := range []string{"en", "de", "es", "fr", "pt"} {
		switch score := found[language]; {
		case best == "" || score > found[best]:
			if best != "" {
				second = found[best]
			}
			best = language
		case score > second:
			second = score
		}
	}
	if found[best] < leastSure || found[best] < clearly*second {
		return ""
	}
	return best
}

// isOtherLanguage reports whether a reply is clearly in a language that the person
// does not write, where theirs is clear.
func isOtherLanguage(r Reply) bool {
	all := strings.Join(r.Written, "\n")
	language, wrote := languageOf(quoted.ReplaceAllString(r.Text, " ")), languageOf(all)
	return language != "" && wrote != "" && wrote != language && scores(all)[wrote] >= leastWritten && scores(all)[language] < leastSure
}
