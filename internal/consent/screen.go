// Package consent recognises texts that are about getting texts at all: opting
// out, coming back, asking for help. It runs before any model and is pure; the
// words follow 47 CFR 64.1200(a)(10), the carrier's defaults and what people
// write instead, in English and Spanish.
package consent

import (
	"slices"
	"strings"

	"coachline/internal/stems"
	"coachline/models"
)

// Screen says what a text asks of the programme and how that was recognised.
// carrierType is the carrier's own finding (OptOutType; empty when it has
// none) and beats ours. Whole texts are compared with keywords, whatever their
// case, accents, punctuation, emoji or invisible characters; clear wording is
// looked for sentence by sentence, and must be about the texts or the
// programme, addressed to us and without a condition, so that "I want to stop
// smoking" is none. An ordinary text gives two empty values.
func Screen(body, carrierType string) (models.Intent, models.ConsentMethod) {
	return screen(body, carrierType, indexed)
}

func screen(body, carrierType string, known *stems.Index[phrase]) (models.Intent, models.ConsentMethod) {
	if intent, ok := carrierTypes[strings.ToUpper(strings.TrimSpace(carrierType))]; ok {
		return intent, models.MethodCarrier
	}
	sentences := clauses(body)
	if intent, method := wholeText(slices.Concat(sentences...)); intent != models.IntentNone {
		return intent, method
	}
	if bare.MatchString(strings.Join(slices.Concat(sentences...), " ")) || wantsOut(sentences, known) {
		return models.IntentStop, models.MethodPhrase
	}
	return models.IntentNone, ""
}

var carrierTypes = map[string]models.Intent{
	"STOP": models.IntentStop, "START": models.IntentStart, "HELP": models.IntentHelp,
}

// wholeText compares all words of a text with the keywords. Politeness around a
// keyword changes its method and not its meaning.
func wholeText(words []string) (models.Intent, models.ConsentMethod) {
	if intent := keyword(words); intent != models.IntentNone {
		return intent, models.MethodKeyword
	}
	bare := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return courtesy[word] })
	if len(bare) == len(words) {
		return models.IntentNone, ""
	}
	// Politeness makes a HELP or a yes an ordinary sentence, which the coach
	// can answer.
	if intent := keyword(bare); intent == models.IntentStop || intent == models.IntentStart {
		return intent, models.MethodPhrase
	}
	return models.IntentNone, ""
}

// keyword also knows a keyword said several times ("stop stop") or spelled
// ("S.T.O.P.").
func keyword(words []string) models.Intent {
	if intent := keywords[strings.Join(words, " ")]; intent != models.IntentNone {
		return intent
	}
	if once := slices.Compact(slices.Clone(words)); len(once) == 1 && len(words) > 1 {
		return keywords[once[0]]
	}
	if len(words) > 2 && !slices.ContainsFunc(words, func(word string) bool { return len(word) > 1 }) {
		return keywords[strings.Join(words, "")]
	}
	return models.IntentNone
}

var keywords = keywordsOf(map[models.Intent]string{
	models.IntentStop: "stop, stopall, stop all, unsubscribe, unsubscribe all, unsub, cancel, cancel all, end, end all, quit, " +
		"revoke, optout, opt out, optoutall, opt me out, remove me, " +
		"alto, parar, pare, basta, cancelar, baja, detener, terminar, desuscribir, desuscribirme, darme de baja, dar de baja",
	models.IntentStart: "start, unstop, alta, iniciar, darme de alta",
	models.IntentYes:   "yes, si",
	models.IntentHelp:  "help, info, ayuda",
})

func keywordsOf(lists map[models.Intent]string) map[string]models.Intent {
	known := map[string]models.Intent{}
	for intent, list := range lists {
		for word := range strings.SplitSeq(list, ", ") {
			known[word] = intent
		}
	}
	return known
}

var courtesy = setOf("please pls plz kindly thanks thank you thx now por favor porfavor gracias ya ahora")

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}
