package screening

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"coachline/internal/text"
	"coachline/models"
)

// screenConsent says what a message asks of the programme and how that was
// recognised. optOutType is the carrier's own finding and beats ours. Whole
// messages are compared with keywords; clear wording is looked for sentence by
// sentence, and must be about the messages or the programme, addressed to us and
// without a condition, so that "I want to stop smoking" is none.
func (s *scanner) screenConsent(body string, found []finding, optOutType string) (models.Intent, models.ConsentMethod) {
	if intent, ok := carrierTypes[strings.ToUpper(strings.TrimSpace(optOutType))]; ok {
		return intent, models.MethodCarrier
	}
	words := splitWords(body)
	if intent, method := wholeText(words); intent != models.IntentNone {
		return intent, method
	}
	if intent := disguisedKeyword(body); intent != models.IntentNone {
		return intent, models.MethodPhrase
	}
	intent, method := s.requestIntent(body, words, found)
	if intent == models.IntentNone && s.mayAskToEnd(body) {
		intent, method = models.IntentUnclear, models.MethodPhrase
	}
	switch {
	case intent == models.IntentStop && s.needsAsking(body, words), intent == models.IntentWrongNumber && s.features.Len() > plainly:
		intent = models.IntentUnclear
	case intent == models.IntentNone && hasSlip(body, words):
		return models.IntentUnclear, models.MethodPhrase
	}
	return intent, method
}

// mayAskToEnd reports whether a short text which names what shall end may be a request, by
// its score: the person is asked.
func (s *scanner) mayAskToEnd(body string) bool {
	return s.asked >= namedReach && s.features.Len() <= briefly && !s.isLimited && namesEnd(body) && isPlain(body)
}

// needsAsking reports whether a person is asked about what a text requests: it answers a
// question first, is long, has something that makes a request none, or words of another
// sense.
func (s *scanner) needsAsking(body string, words []string) bool {
	return s.features.Len() > plainly || s.asked > tooShort && s.asked < isOther || isAnswerFirst(words) || !isPlain(body)
}

// answeredFirst is a text that answers a question of ours and asks to be left alone then
// ("yes I cooked, leave me alone"), which may mean this one message.
var answeredFirst = regexp.MustCompile(`^(?:yes|yeah|yep|done|ja|doch|erledigt|si|ya|oui|fait|sim|ja fiz|feito) (?:\S+ ){1,6}(?:(?:leave|let) me (?:alone|be)|lass mich (?:in ruhe|in frieden)|dejame (?:en paz|tranquil[oa])|laissez? moi (?:tranquille|en paix)|(?:me deixa|deixa me|me deixe) em paz)$`)

// isAnswerFirst reports whether a text is such an answer.
func isAnswerFirst(words []string) bool { return answeredFirst.MatchString(strings.Join(words, " ")) }

// tag matches markup that some phones send around a text.
var tag = regexp.MustCompile(`</?[A-Za-z]{1,10}>`)

// turned is the mark that has what follows it shown from right to left.
const turned = "\u202e"

// disguisedKeyword finds the keyword of a text that reads as one on a screen: in markup,
// turned around by a mark, or the sign for STOP alone.
func disguisedKeyword(body string) models.Intent {
	if shown := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Variation_Selector, r) {
			return -1
		}
		return r
	}, body); shown != "" && strings.Trim(shown, stopSigns[:len("\U0001f6d1")]) == "" {
		return models.IntentStop
	}
	if before, after, isTurned := strings.Cut(body, turned); isTurned {
		runes := []rune(after)
		slices.Reverse(runes)
		body = before + string(runes)
	} else if !strings.Contains(body, "<") {
		return models.IntentNone
	}
	return matchKeyword(splitWords(tag.ReplaceAllString(body, " ")))
}

// carrierWords are the whole messages that Twilio answers itself, in any case, unless it
// was told not to.
var carrierWords = map[string]string{
	"STOP": "STOP", "STOPALL": "STOP", "UNSUBSCRIBE": "STOP", "CANCEL": "STOP", "END": "STOP", "QUIT": "STOP", "REVOKE": "STOP", "OPTOUT": "STOP",
	"START": "START", "YES": "START", "UNSTOP": "START", "HELP": "HELP", "INFO": "HELP",
}

// CarrierType returns what a carrier that answers keywords itself takes a message for:
// STOP, START, HELP, or nothing.
func CarrierType(body string) string { return carrierWords[strings.ToUpper(strings.TrimSpace(body))] }

// hasSlip reports whether a text may be a keyword: mistyped ("quti"), with a sign in its
// place, or in capitals before or behind other words, or alone in the first or last line.
func hasSlip(body string, words []string) bool {
	bare := slices.DeleteFunc(slices.Clone(words), isCourtesy)
	if len(bare) == 0 {
		return strings.ContainsAny(body, stopSigns)
	}
	if len(bare) == 1 {
		return isMistypedKeyword(bare[0])
	}
	shown := strings.Fields(strings.TrimRight(body, " \n\t"))
	if strings.HasSuffix(shown[len(shown)-1], "?") {
		return false
	}
	lines := strings.Split(strings.TrimSpace(body), "\n")
	return isInCapitals(shown[0]) || isInCapitals(shown[len(shown)-1]) || len(lines) > 1 && (isStopLine(lines[0]) || isStopLine(lines[len(lines)-1]))
}

// isStopLine reports whether a line is a keyword for stopping that is no other answer.
func isStopLine(line string) bool {
	words := splitWords(line)
	return matchKeyword(words) == models.IntentStop && !isLikeAnswer(words)
}

// stopSigns are the emoji that people send for STOP.
const stopSigns = "\U0001f6d1\u26d4\U0001f6ab"

func isInCapitals(word string) bool {
	letters := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) })
	return letters == "STOP" || letters == "STOPP" || letters == "STOPALL" || letters == "UNSUBSCRIBE"
}

// isMistypedKeyword reports whether a word is a keyword of a request to end with two
// neighbours swapped, a letter doubled, or, in a longer one, a letter left out in its
// middle; other letters at the end make other forms of a verb ("salir", "salió"). It is
// also one that a digit follows ("stop2quit").
func isMistypedKeyword(word string) bool {
	if before, _, ok := strings.Cut(word, "2"); ok && keywords[before] == models.IntentStop {
		return true
	}
	if commonWords()[word] {
		return false
	}
	for keyword, intent := range keywords {
		if intent == models.IntentStop && len(keyword) >= minSlip && isSlip(word, keyword) {
			return true
		}
	}
	return false
}

func isSlip(word, keyword string) bool {
	switch len(word) - len(keyword) {
	case 0:
		return isNear([]byte(word), []byte(keyword)) && isSwapped([]byte(word), keyword)
	case 1:
		return string(appendSqueezed(nil, []byte(word))) == string(appendSqueezed(nil, []byte(keyword)))
	case -1:
		return len(word) >= minLeftOut && word[len(word)-1] == keyword[len(keyword)-1] && isNear([]byte(word), []byte(keyword))
	}
	return false
}

// minSlip is the length of the shortest keywords that are recognised mistyped, and
// minLeftOut that of the shortest word that may lack a letter of one.
const minSlip, minLeftOut = 4, 6

// plainly is how many words a text has at most that asks plainly: in a longer one the
// words of a request stand by chance, or among others, and the person is asked.
const plainly = 30

// requestIntent takes the clearest of the requests that rules found: to end
// clearly, unclearly, or because the number is another person's. One that is negated
// or asked about is unclear, and so is the form of one that the score does not bear out.
// The form says nothing beside another finding, unless the score is sure.
func (s *scanner) requestIntent(body string, words []string, found []finding) (models.Intent, models.ConsentMethod) {
	best, hasForm := s.wrongTier(body, words, found), false
	if s.isDoubted {
		best = max(best, tierUnclear)
	}
	for _, f := range found {
		switch {
		case f.rule.isForm:
			hasForm = true
		case !f.rule.tier.isDanger() && f.rule.tier != tierWrongNumber:
			best = max(best, f.rule.tier)
		}
	}
	if hasForm {
		best = s.weighForm(best)
	}
	switch best {
	case tierStop:
		return models.IntentStop, models.MethodPhrase
	case tierWrongNumber:
		return models.IntentWrongNumber, models.MethodPhrase
	case tierUnclear, tierAmbiguous:
		return models.IntentUnclear, models.MethodPhrase
	case tierNone, tierA, tierB, tierOrdinary:
	}
	return models.IntentNone, ""
}

// weighForm returns what a text comes to that has the form of a request beside the clearest
// other finding.
func (s *scanner) weighForm(other tier) tier {
	switch {
	case other == tierNone && (s.asked >= 0 || s.asked >= formEnds && s.features.Len() <= briefly), other == tierUnclear && s.asked >= surely && !s.isDoubted:
		return tierStop
	case other == tierNone && !s.isLimited:
		return tierUnclear
	}
	return other
}

var carrierTypes = map[string]models.Intent{
	"STOP": models.IntentStop, "START": models.IntentStart, "HELP": models.IntentHelp,
}

// wholeText compares all words of a text with the keywords. Politeness around a
// keyword changes its method and not its meaning.
func wholeText(words []string) (models.Intent, models.ConsentMethod) {
	if intent := matchKeyword(words); intent != models.IntentNone {
		return intent, models.MethodKeyword
	}
	if !slices.ContainsFunc(words, isCourtesy) {
		return models.IntentNone, ""
	}
	bare := slices.DeleteFunc(slices.Clone(words), isCourtesy)
	// Politeness makes a HELP or a yes an ordinary sentence, which the coach
	// can answer.
	if intent := matchKeyword(bare); intent == models.IntentStop || intent == models.IntentStart {
		return intent, models.MethodPhrase
	}
	return models.IntentNone, ""
}

// matchKeyword finds the intent of a keyword, also of one that is repeated
// ("stop stop") or spelled ("S.T.O.P.").
func matchKeyword(words []string) models.Intent {
	if len(words) <= keywordWords() {
		if intent := keywords[strings.Join(words, " ")]; intent != models.IntentNone {
			return intent
		}
	}
	if len(words) > 1 && !slices.ContainsFunc(words[1:], func(word string) bool { return word != words[0] }) {
		return keywords[words[0]]
	}
	if len(words) > 2 && !slices.ContainsFunc(words, func(word string) bool { return len(word) > 1 }) {
		return keywords[strings.Join(words, "")]
	}
	return models.IntentNone
}

// keywordWords is how many words the longest keyword has.
var keywordWords = sync.OnceValue(func() int {
	longest := 0
	for keyword := range keywords {
		longest = max(longest, strings.Count(keyword, " ")+1)
	}
	return longest
})

// keywords are those of the carrier and of 47 CFR 64.1200(a)(10), and their
// like in the other languages, as splitWords writes words.
var keywords = keywordsOf(map[models.Intent]string{
	models.IntentStop: "stop, stopall, stop all, unsubscribe, unsubscribe all, unsub, cancel, cancel all, end, end all, quit, " +
		"revoke, optout, opt out, optoutall, opt me out, remove, remove me, " +
		"alto, parar, pare, basta, cancelar, cancela, cancelen, baja, detener, detengan, terminar, salir, revocar, eliminar, eliminen, borren, retiren, suspender, anular, desuscribir, desuscribirme, desinscribir, darme de baja, dar de baja, no mas, " +
		"stopp, stoppen, stornieren, widerrufen, widerruf, abmelden, abmeldung, loschen, entfernen, abbruch, aussteigen, raus, stop alles, keine sms, abbestellen, austragen, kundigen, kundigung, ende, beenden, aufhoren, abbrechen, " +
		"arret, arreter, arrete, arretez, desabonner, desabonnement, desinscrire, desinscription, resilier, annuler, stopper, revoquer, retirer, supprimer, supprimez, retirez, cessez, stoppez, desinscrivez, desabonnez, resiliez, quitter, terminer, retrait, resiliation, annulation, sortie, sortir, desabo, cesser, stop sms, stop tout, plus de sms, fin, " +
		"sair, saida, descadastrar, cancelamento, encerrar, remover, cancele, revogar, retirar, desinscrever, excluir, descadastro, descadastrar se, descadastre, interromper, remova, exclua, encerre, interrompa, suspender, fim",
	models.IntentStart: "start, unstop, alta, iniciar, darme de alta, anmelden, starten, demarrer, commencer, reprendre, comecar, voltar",
	models.IntentYes:   "yes, si, ja, oui, sim",
	models.IntentHelp:  "help, info, ayuda, hilfe, aide, ajuda",
})

// answers are the keywords that people also answer with when they are asked about a
// step, a habit or how sure they are ("fin", "raus", "baja"). None of them is a keyword
// that carriers act on by themselves or that 47 CFR 64.1200(a)(10) lists, which end.
var answers = text.WordSet(`remove alto parar pare basta baja detener terminar salir eliminar suspender
	stoppen loschen entfernen abbruch aussteigen raus austragen ende beenden aufhoren abbrechen
	arreter arrete stopper stoppez retirer retirez supprimer supprimez cessez quitter terminer retrait sortie sortir cesser fin
	eliminen borren retiren para sair saida encerrar encerre remover remova retirar excluir exclua interromper interrompa fim`)

// likeAnswers are such phrases.
var likeAnswers = map[string]bool{
	"no mas": true, "im out": true, "bin raus": true, "ich bin raus": true, "me salgo": true, "me borro": true, "para ya": true, "to fora": true, "estou fora": true,
}

// isLikeAnswer reports whether a text is such a keyword, once or repeated, with or
// without politeness.
func isLikeAnswer(words []string) bool {
	bare := slices.DeleteFunc(slices.Clone(words), isCourtesy)
	if likeAnswers[strings.Join(bare, " ")] {
		return true
	}
	return len(bare) > 0 && answers[bare[0]] && !slices.ContainsFunc(bare, func(word string) bool { return word != bare[0] })
}

func keywordsOf(lists map[models.Intent]string) map[string]models.Intent {
	known := map[string]models.Intent{}
	for intent, list := range lists {
		for word := range strings.SplitSeq(list, ", ") {
			known[word] = intent
		}
	}
	return known
}

var courtesy = text.WordSet(`please pls plz kindly thanks thank you thx now por favor porfavor gracias ya ahora
	bitte danke jetzt sofort svp stp merci s il vous te plait maintenant obrigado obrigada agora`)

func isCourtesy(word string) bool { return courtesy[word] }
