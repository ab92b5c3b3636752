package screening

import (
	"regexp"
	"slices"
	"strings"
)

// wantsOut: one of the sentences clearly asks for no more texts.
func wantsOut(sentences [][]string) bool {
	for i, sentence := range sentences {
		if i > 0 && reports(sentences[i-1]) {
			continue
		}
		words := slices.Compact(slices.Clone(sentence))
		if slices.ContainsFunc(requests(words), asksOut) {
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

func asksOut(words []string) bool {
	text := strings.Join(words[:min(len(words), requestWords)], " ")
	return slices.ContainsFunc(phrases, func(p phrase) bool { return p.in(text) })
}

// phrase is the beginning of a request. A loose one names us and the texts, so
// that anything but a limit may follow it; after a strict one only words that
// add nothing may.
type phrase struct {
	pattern *regexp.Regexp
	loose   bool
}

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
	bitte    = `(?:(?:bitte|hallo|hey|nein|danke|also|ok|okay|aber|jetzt|ab sofort|ab jetzt) )*`
	svp      = `(?:(?:svp|stp|s il vous plait|s il te plait|sil vous plait|sil te plait|merci de|veuillez|bonjour|salut|non|merci|ok|mais|maintenant) )*`
	favor    = `(?:(?:por favor|pf|pfv|oi|ola|nao|obrigado|obrigada|ok|mas|agora|gente) )*`
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

	// German.
	bitte + `(?:schreib|schreibt|schreiben sie|schick|schickt|schicken sie|sende|sendet|kontaktier\w*|textet?|simst?) mir (?:bitte )?(?:(?:keine|nichts|nie|nicht)\b ?)(?:(?:sms|nachrichten|texte)\b ?)?(?:mehr|wieder)`: true,
	bitte + `(?:ich (?:will|mochte|mocht|wunsche|brauche) )?keine (?:sms|nachrichten|texte|mitteilungen)(?: (?:mehr|von euch|von ihnen|von dir|bekommen|erhalten))+`:                                                      true,
	bitte + `(?:hor|hort|horen sie) (?:bitte )?(?:auf|damit auf) mir (?:\w+ )?(?:zu )?(?:schreiben|texten|schicken|senden)`:                                                                                               true,
	bitte + `(?:(?:ich (?:will|mochte|mocht) )?mich abmelden|meld\w* mich (?:bitte )?ab|melden sie mich (?:bitte )?ab|ich melde mich ab)`:                                                                                 true,
	bitte + `(?:losch\w*|entfern\w*|streich\w*|nehmt|nimm|nehmen sie) (?:sie )?(?:bitte )?(?:meine nummer|mich (?:aus|von) (?:der|dieser|eurer|ihrer) liste)`:                                                             true,
	bitte + `(?:lass|lasst|lassen sie) mich (?:bitte )?in ruhe`:                           true,
	bitte + `ich (?:widerrufe|ziehe) (?:hiermit )?(?:meine )?(?:einwilligung|zustimmung)`: true,

	// French.
	svp + `(?:arrete|arretez|cesse|cessez) (?:de |d ?)?(?:m ?|me )(?:ecrire|envoyer|contacter|texter|harceler|embeter)`:                               true,
	svp + `(?:ne )?(?:m ?|me )(?:ecris|ecrivez|envoie|envoyez|contacte|contactez|texte|textez) (?:(?:pas|rien|aucun|de|des|d) )*(?:plus|jamais)`:      true,
	svp + `(?:je )?(?:ne )?(?:veux|souhaite|desire|voudrais) (?:plus|pas) (?:recevoir )?(?:de |vos |tes |ces |des |aucun )*(?:messages?|sms|textos?)`: true,
	svp + `plus (?:de |aucun )?(?:messages?|sms|textos?)`: true,
	svp + `(?:je (?:veux|souhaite|voudrais) )?(?:me desabonner|me desinscrire|desabonnez moi|desabonne moi|desinscrivez moi|desinscris moi)`: true,
	svp + `(?:retirez|retire|supprimez|supprime|enlevez|enleve|otez) (?:moi (?:de )?(?:la |votre |ta |cette )?liste|mon numero)`:             true,
	svp + `(?:laissez|laisse|fichez|foutez) moi (?:tranquille|la paix)`:                                                                      true,

	// Portuguese.
	favor + `(?:para|pare|parem|pode parar|podem parar|deixa|deixe|deixem) de (?:me )?(?:mandar|enviar|escrever|contatar|contactar|incomodar|mandarem|enviarem)(?: (?:me|mensage(?:m|ns)|sms|msgs?|textos?))*`: true,
	favor + `(?:nao|n) (?:me )?(?:escreva|escrevas|escrevam|mande|mandes|mandem|envie|envies|enviem|contate|contacte|contatem)(?: me)?(?: (?:mais|nada|mensage(?:m|ns)|sms|msgs?|nenhuma?))+`:                  true,
	favor + `(?:eu )?(?:ja )?(?:nao|n) (?:quero|desejo|gostaria de)(?: mais)?(?: receber)?(?: mais)?(?: (?:essas|estas|as|suas|nenhuma|de))*(?: (?:mensage(?:m|ns)|sms|msgs?))(?: mais)?`:                      true,
	favor + `(?:sem|chega de|nada de) mais (?:mensage(?:m|ns)|sms|msgs?)`:                                                                                true,
	favor + `(?:quero |gostaria de )?(?:me )?(?:descadastrar|descadastre me|descadastra|cancelar (?:a |minha )*(?:inscricao|assinatura|participacao))`:   true,
	favor + `(?:me )?(?:tira|tire|tirem|remova|remove|removam|exclua|apague|apaga)(?: me| o)? (?:da|dessa|desta|meu) (?:sua )?(?:lista|numero|cadastro)`: true,
	favor + `(?:me deixa|me deixe|me deixem|deixe me|deixem me) em paz`:                                                                                  true,
})

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
