package text

import (
	"slices"
	"strings"
	"unicode"
)

// longestYes is how many words an answer of yes has at most; a longer message
// says something else as well.
const longestYes = 12

// Words of an answer, in the languages that ship and some more. OK and thanks
// are no yes: they also follow an explanation.
var (
	yesWords = WordSet(`yes yeah yep yup yess ya y sure confirm confirmed absolutely definitely certainly proceed
		sí si claro confirmo adelante hazlo hágalo dale ja jawohl jep klar sicher bestätige bestätigt genau unbedingt
		oui ouais confirme certainement sim confirmado pode isso sì certo confermo evet bevestig zeker 👍 ✅ 👌`)
	noWords = WordSet(`no nope nah not don't dont never wait stop cancel except but keep nein nee nicht kein keine keinen nie niemals aber warte behalte
		nunca tampoco espera pero salvo non pas jamais ne attends mais sauf garde não nao jamais espere mas exceto niet geen nooit maar hayır`)
	deleteWords = WordSet(`delete erase forget wipe remove borra bórralo borrar elimina olvida lösche lösch löschen vergiss entferne
		efface supprime oublie apaga apague exclua esqueça cancella dimentica wis verwijder`)
	allWords = WordSet(`everything all it todo eso alles das tout ça tudo isso tutto het`)
)

// WordSet returns the words of a list that spaces part.
func WordSet(list string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		out[word] = true
	}
	return out
}

// SaysYes reports whether a message is a plain yes: a short one without a
// question and without a word of refusal, which holds a word of consent, or
// tells to delete everything.
func SaysYes(text string) bool { return saysYes(text, yesWords) }

// agreeWords are more of a yes to a question about a time, where it does no harm.
var agreeWords = WordSet(`ok okay okey k good fine great perfect works sounds deal gut passt super perfekt prima vale bueno bien perfecto listo
	accord parfait tá beleza ótimo combinado perfeito bom`)

// Agrees reports whether a message is a yes, or an OK.
func Agrees(text string) bool { return saysYes(text, yesWords) || saysYes(text, agreeWords) }

// Words of "yes, it is still me": selfWords name who writes, meWords may stand beside them.
var (
	selfWords = WordSet(`me ich ich's bin's moi yo soy eu sou`)
	meWords   = WordSet(`it it's its is this still same person i'm i am es immer noch bin c'est bien toujours mismo misma sigo siendo mesmo mesma ainda o a la el die der`)
)

// SaysItIsMe reports whether a message says nothing but that a person of a first name
// still writes.
func SaysItIsMe(text, firstName string) bool {
	words, isNamed := answerWords(text), false
	for _, word := range words {
		isSelf := selfWords[word] || word == strings.ToLower(firstName)
		if !isSelf && !meWords[word] && !yesWords[word] {
			return false
		}
		isNamed = isNamed || isSelf
	}
	return isNamed && !strings.ContainsAny(text, "?？؟")
}

func answerWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(text, "’", "'")), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) && r != '\'' || unicode.Is(unicode.Sk, r) || unicode.Is(unicode.Variation_Selector, r)
	})
}

func saysYes(text string, yesWords map[string]bool) bool {
	words := answerWords(text)
	if len(words) == 0 || len(words) > longestYes || strings.ContainsAny(text, "?？؟") {
		return false
	}
	consents, deletes, everything := false, false, false
	for _, word := range words {
		if noWords[word] {
			return false
		}
		consents = consents || yesWords[word]
		deletes = deletes || deleteWords[word]
		everything = everything || allWords[word]
	}
	return consents || deletes && everything
}

// plainNo are words with which a no begins.
var plainNo = WordSet(`no nope nah nein nee non não nao 👎`)

// SaysNo reports whether a message is a no: its first word is one, and it neither asks
// nor holds a word of consent.
func SaysNo(text string) bool {
	words := answerWords(text)
	return len(words) > 0 && plainNo[words[0]] && !strings.ContainsAny(text, "?？؟") &&
		!slices.ContainsFunc(words, func(word string) bool { return yesWords[word] })
}
