package consent

import (
	"regexp"
	"slices"
	"strings"

	"coachline/internal/stems"
)

// wantsOut: one of the sentences clearly asks for no more texts.
func wantsOut(sentences [][]string, known *stems.Index[phrase]) bool {
	for i, sentence := range sentences {
		if i > 0 && reports(sentences[i-1]) {
			continue
		}
		words := slices.Compact(slices.Clone(sentence))
		likely := known.Likely(strings.Join(words, " "))
		if len(likely) > 0 && slices.ContainsFunc(requests(words), func(part []string) bool { return asksOut(part, likely) }) {
			return true
		}
	}
	return false
}

// reports: what follows is what somebody said to somebody else.
func reports(sentence []string) bool {
	says := slices.ContainsFunc(sentence, func(word string) bool { return reporting[word] })
	toUs := slices.ContainsFunc(sentence, func(word string) bool { return word == "you" || word == "u" })
	return says && !toUs && !slices.Equal(sentence, []string{"i", "said"})
}

var reporting = setOf("said say says saying told tell telling asked ask shouted yelled wrote dije dijo digo decir decirle dice")

// requests are the parts of a sentence that may hold a request of their own:
// its beginning, what follows "please" or "but", and what follows "so" where a
// request begins there.
func requests(words []string) [][]string {
	parts := [][]string{words}
	for i := 1; i < len(words); i++ {
		if begin(words[i-1], words[i]) {
			parts = append(parts, words[i:])
		}
	}
	return parts
}

func begin(before, word string) bool {
	switch before {
	case "but", "pero":
		return true
	case "so":
		return opening[word] || asking[word]
	case "to", "not", "dont":
		return false
	}
	return asking[word]
}

var asking = setOf("please pls plz favor")

var opening = setOf("stop dont do leave take remove unsubscribe no quit cancel opt i")

// requestWords bounds what is read of one request.
const requestWords = 40

func asksOut(words []string, likely []phrase) bool {
	text := strings.Join(words[:min(len(words), requestWords)], " ")
	return slices.ContainsFunc(likely, func(p phrase) bool { return p.in(text) })
}

// phrase is the beginning of a request. A loose one names us and the texts, so
// that anything but a limit may follow it; after a strict one only words that
// add nothing may.
type phrase struct {
	pattern *regexp.Regexp
	loose   bool
}

// String is the phrase's pattern.
func (p phrase) String() string { return p.pattern.String() }

func (p phrase) in(text string) bool {
	at := p.pattern.FindStringIndex(text)
	if at == nil {
		return false
	}
	rest := text[at[1]:]
	return rest == "" || rest[0] == ' ' && endsWell(strings.Fields(rest), p.loose)
}

// Parts of the patterns. toYou is what may stand before an order to us, ofMine
// before what a person says of themselves; more stands before a noun.
const (
	toYou = `(?:(?:please|pls|plz|just|ok|okay|hey|hi|hello|no|yes|sorry|kindly|look|listen|again|now|really|seriously|thanks|` +
		`thank you|coach|bot|for the last time|stop|i said|i (?:already )?(?:asked|told) you to|ive (?:already )?(?:asked|told) you to|` +
		`(?:can|could|would|will) (?:you|u)|you (?:can|should|must|need to|have to|better)|` +
		`i (?:want|need|would like) (?:you|u) to|id like (?:you|u) to|im asking you to|i am asking you to) )*`
	ofMine = toYou + `(?:(?:i want to|i wanna|i would like to|id like to|i need to|i wish to|i have to|ive decided to|` +
		`how (?:do|can) i|how to|i hereby|i think i want to|i no longer want to) )?`
	texts = `(?:texts?|text messages?|txts?|messages?|msgs?|sms|smses)\b`
	more  = `(?:(?:all|any|the|these|those|this|your|ur|of|more|anymore|such|further|other|another|a|single|stupid|annoying|damn|daily|automated|coaching) )*`
	write = `(?:text|txt|message|msg|contact|sms|write|write to)`
	doing = `(?:texting|txting|messaging|msging|contacting|writing|writing to|smsing|spamming|bothering|harassing|pestering)`
	me    = `(?:me|us|this number|my phone|my number)\b`
	place = `(?:program|programme|service|study|coaching|subscription)`

	porFavor = `(?:(?:por favor|porfa|favor de|oye|hola|ya|no gracias|quiero que|necesito que|te pido que|les pido que|solo|puedes|podrias|pueden|podrian) )*`
	textos   = `(?:mensajes?|textos?|sms)\b`
	mas      = `(?:(?:mas|ningun|estos|esos|los|tus|sus|de|otro|tantos) )*`
)

// bare is a request that only counts when it is all of the text: "stop" is a
// word of many sentences.
var bare = regexp.MustCompile(`^` + toYou + `(?:stop(?: it| this)?|unsubscribe|opt out)(?: (?:please|pls|now|right now|already|immediately|thanks))*$`)

var phrases = compiled(map[string]bool{
	// Ending what we do.
	toYou + `(?:stop|quit|cease) ` + doing + ` ` + me:                                         true,
	toYou + `(?:stop|quit) (?:texting|txting|messaging|contacting|spamming|coaching me)`:      false,
	toYou + `(?:stop|quit|cease) sending (?:(?:me|us) )?` + more + texts:                      false,
	toYou + `(?:stop|quit) sending (?:me|(?:me )?(?:stuff|anything|things|these|this|those))`: false,
	toYou + `(?:dont|do not|never|no longer) (?:please )?(?:ever )?` + write + ` ` + me:       true,
	toYou + `(?:dont|do not|never) (?:ever )?send (?:(?:me|us) )?` + more + texts:             false,
	toYou + `(?:dont|do not|never) (?:ever )?send me anything`:                                false,
	`you (?:should not|shouldnt|must not|may not) ` + write + ` ` + me:                        true,
	toYou + `(?:i (?:said|want) )?no more ` + more + texts:                                    false,
	toYou + `no more (?:texting|messaging)(?: me)?`:                                           false,
	toYou + `leave me (?:alone|be)`:                                                           true,

	// Ending what the person gets.
	ofMine + `(?:stop|end|cancel|discontinue) ` + more + texts:                                                                                             false,
	ofMine + `(?:stop|quit|end) (?:getting|receiving) ` + more + texts:                                                                                     false,
	ofMine + `(?:get|receive) ` + more + texts + ` anymore`:                                                                                                false,
	ofMine + `(?:stop|cancel|end|quit|leave|discontinue|drop out of|withdraw from) (?:the|this|your|ur) ` + place:                                          false,
	ofMine + `(?:cancel|end) my (?:subscription|membership|enrollment|enrolment|participation|registration)`:                                               false,
	`(?:sorry |please |no |but )*i (?:really )?(?:dont|do not|no longer) (?:really )?(?:want|wish|need|care) (?:to (?:get|receive|have) )?` + more + texts: false,
	`i (?:really )?(?:dont|do not|no longer) want (?:you|u) (?:to ` + write + `|` + doing + `) ` + me:                                                      true,
	`i (?:really )?(?:dont|do not|no longer) want to be (?:texted|messaged|contacted)`:                                                                     true,
	`i (?:really )?(?:dont|do not|no longer) want to be (?:on|in|part of) (?:this|the|your) (?:list|` + place + `)`:                                        false,

	// Consent and lists.
	ofMine + `(?:unsubscribe|unsub|unenroll|unregister|disenroll)(?: me| us| this number)?`:         false,
	ofMine + `(?:unsubscribe|unsub)(?: me)? from (?:this|these|your|ur|all)\b`:                      true,
	ofMine + `(?:unsubscribe|unsub|unenroll)(?: me)? from (?:the )?(?:` + place + `|` + texts + `)`: false,
	ofMine + `opt (?:me |us )?out`:                                                           false,
	ofMine + `opt (?:me )?out (?:of|from) (?:this|these|your|ur|all)\b`:                      true,
	ofMine + `opt (?:me )?out (?:of|from) (?:the |any )?(?:` + place + `|` + texts + `)`:     false,
	`(?:im|i am) opting out`:                                                                 false,
	ofMine + `(?:i )?(?:revoke|withdraw) (?:my|all) (?:consent|permission)`:                  true,
	`i (?:do not|dont|no longer) consent(?: to (?:this|these|your|any))?(?: ` + texts + `)?`: false,
	toYou + `(?:take|remove|delete|drop|get|erase) me (?:off|from|off of|out of) (?:of )?` + more + `(?:\w+ )?(?:lists?|system|database|contacts|` + place + `|` + texts + `)`: true,
	toYou + `(?:remove|delete) me`:                                                      false,
	toYou + `(?:take|get) me off(?: this| these)?`:                                      false,
	toYou + `(?:remove|delete|erase|lose|drop|forget) my (?:phone )?(?:number|contact)`: false,

	// Spanish.
	porFavor + `(?:deja|dejen|deje|dejes|para|paren|pare|pares) de (?:enviarme|mandarme|escribirme|textearme|contactarme|molest(?:arme))\b`: true,
	porFavor + `(?:deja|dejen|deje|dejes|para|paren|pare) de (?:enviar|mandar) ` + mas + textos:                                             false,
	porFavor + `(?:quiero |quisiera |me gustaria )?dejar de recibir ` + mas + textos:                                                        false,
	porFavor + `no me (?:escribas|escriban|escriba|contact(?:es|en|e)|textees|texteen|molest(?:es|en))\b`:                                   true,
	porFavor + `no me (?:mandes|manden|mande|envies|envien|envie) ` + mas + textos:                                                          false,
	porFavor + `no me (?:mandes|manden|mande|envies|envien|envie) (?:nada )?mas`:                                                            false,
	porFavor + `no (?:quiero|deseo|quisiera|necesito) (?:recibir )?` + mas + textos:                                                         false,
	porFavor + `no quiero que me (?:escribas|escriban|contact(?:es|en)|manden ` + mas + textos + `|envien ` + mas + textos + `)`:            true,
	porFavor + `no mas ` + textos: false,
	porFavor + `(?:cancela|cancelen|cancelar|quiero cancelar|detener|deten|quiero detener) (?:todos )?` + mas + textos:                                                    false,
	porFavor + `(?:cancela|cancelen|cancelar|quiero cancelar) (?:mi|la) (?:suscripcion|inscripcion|participa(?:cion))`:                                                    false,
	porFavor + `(?:dame|denme|darme|quiero darme|me quiero dar|quiero la|deseo darme) (?:de )?baja`:                                                                       false,
	porFavor + `(?:quiero |deseo )?(?:desuscribirme|desuscribeme|desuscribir)`:                                                                                            false,
	porFavor + `(?:quitame|quitenme|borrame|borrenme|sacame|saquenme|eliminame|eliminenme) (?:de|del) (?:la |esta |tu |su |este |el )*(?:lista|programa|sistema|estudio)`: true,
	porFavor + `(?:dejame|dejenme|dejeme) (?:en paz|tranquil[oa])`:                                                                                                        true,
	porFavor + `(?:quiero |deseo )(?:salir|salirme|retirarme|dejar) (?:del|de este|el|este) (?:programa|estudio|servicio)`:                                                false,
})

// indexed finds the phrases that a sentence may hold.
var indexed = stems.NewIndex(phrases, phrase.String)

func compiled(list map[string]bool) []phrase {
	out := make([]phrase, 0, len(list))
	for pattern, loose := range list {
		out = append(out, phrase{pattern: begins(pattern), loose: loose})
	}
	return out
}

// begins matches a pattern at the beginning of a text, as far as it reaches.
func begins(pattern string) *regexp.Regexp {
	found := regexp.MustCompile(`^(?:` + pattern + `)`)
	found.Longest()
	return found
}
