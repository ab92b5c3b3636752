package screening

import (
	"slices"
	"strings"
)

// Parts of the patterns: what is sent, and when, in words as splitWords writes them.
const (
	sentEn = `(?:texts?|messages?|reminders?|sms|prompts?|pings?|notifications?|texting|messaging)`
	whenEn = `(?:(?:at|on|in|over|after|before|during|while|when|until|past|so|that|too) (?:the |im |i am )?(?:night|nights|nighttime|weekends?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|mornings?|evenings?|afternoons?|early|late|often|much|midnight|noon|\d+\w*|at work|at school|working|sleeping)|(?:at|during|after|before) (?:my |the )?(?:work|school|class|lunch|dinner|shifts?|sleep)|overnight|nights|tonight)`
	sentDe = `(?:nachrichten?|sms|erinnerungen?|texte?|mitteilungen?|infos?)`
	whenDe = `(?:nachts|abends|morgens|mittags|vormittags|nachmittags|(?:mon|diens|donners|frei|sams|sonn)tags|mittwochs|am wochenende|in der nacht|in der schule|bei der arbeit|auf der arbeit|wahrend (?:der )?\w+|(?:vor|nach|ab|bis) \d+\w*|wenn ich \w+|so (?:spat|fruh|oft|viel)|am (?:mon|diens|donners|frei|sams|sonn)tag|vor dem \w+|nach der \w+)`
	sentEs = `(?:mensajes?|sms|recordatorios?|textos?|avisos?|notificaciones)`
	whenEs = `(?:de noche|en la noche|por la noche|por las noches|de madrugada|los (?:lunes|martes|miercoles|jueves|viernes|sabados|domingos|fines de semana)|el (?:fin de semana|finde|domingo|sabado)|(?:antes|despues) de (?:las? \w+|\d+\w*|cenar|comer|almorzar|desayunar|trabajar|mediodia|medianoche)|cuando (?:estoy )?\w+|durante \w+|en el trabajo|en horario \w+|tan (?:tarde|temprano|seguido|a menudo)|por la manana|por las mananas|en la manana)`
	sentFr = `(?:messages?|sms|rappels?|textos?|notifications?)`
	whenFr = `(?:la nuit|le soir|le matin|la journee|l apres midi|le (?:week end|weekend|we|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)|(?:avant|apres) \d+\w*|pendant (?:le |la |les |mes |mon |ma )?\w+|quand je \w+|au (?:travail|boulot|bureau)|en cours|si (?:tard|tot|souvent)|aussi (?:tard|tot|souvent))`
	sentPt = `(?:mensage(?:m|ns)|msgs?|sms|lembretes?|avisos?|textos?|notificacoes)`
	whenPt = `(?:a noite|de noite|de madrugada|aos (?:sabados|domingos|fins de semana)|(?:no|nos) (?:fim de semana|fds|fins de semana|sabado|domingo)|(?:antes|depois) d(?:e|as|a) \w+|durante (?:o |a )?\w+|quando (?:eu )?\w+|no trabalho|na escola|tao (?:tarde|cedo)|toda hora|de manha|pela manha)`
	polite = `(?: (?:please|pls|plz|pls|thanks|bitte|danke|por favor|porfa|gracias|stp|svp|s il te plait|s il vous plait|merci|pfv|obrigad[oa]))*`
)

// partlyAsked finds a request for fewer messages or for other times, which is none to end
// them.
var partlyAsked = compileAny(
	`(?:no|dont|do not|stop|never|quit|not|any)(?: \w+){0,2}? (?:text|message|send|write|ping|remind|`+sentEn+`)(?: \w+){0,3}? `+whenEn,
	`^(?:please |pls |but )*(?:not|nothing|none) `+whenEn+polite+`(?: .*)?$`,
	`(?:fewer|less|not so many|not as many|not that many)(?: \w+)? `+sentEn,
	`(?:text|write|message|remind|ping|send)(?: \w+){0,3}? (?:less|only|not so)(?: often| frequently| much| \w+ \w+)?`+polite+`$`,
	`only (?:text|message|write|remind|send)(?: me)?(?: \w+)? `+whenEn, sentEn+` only `+whenEn,
	`(?:one|once|twice|two|a single)(?: \w+)? (?:a|per|every|each) (?:day|week)(?: \w+)? (?:enough|plenty|fine)`,
	`less often`+polite+`$`, `why(?: \w+){0,3}? (?:text|write|message|ping|remind)(?: \w+){0,2}? (?:(?:right|just) \w+|at (?:this|that) \w+|`+whenEn+`)`,
	`(?:`+sentEn+`|`+sentDe+`|`+sentEs+`|`+sentFr+`|`+sentPt+`)(?: \w+){0,5}? (?:half|halfte|mitad|moitie|metade)`,

	`^(?:bitte |aber )*(?:nicht|nichts|nie) `+whenDe, `^(?:bitte )*`+whenDe+`(?: bitte)? (?:nicht|nichts|keine)\b`,
	`(?:keine|nicht mehr|nichts|nicht)(?: \w+)? (?:`+sentDe+`|schreiben|schicken|senden)(?: mehr)? `+whenDe,
	`(?:schreib|schreibt|schick|schickt|sende|melde)(?: \w+){0,2}? (?:nicht|nichts|keine|nur)(?: \w+)? `+whenDe, whenDe+`(?: \w+){0,2}? (?:nicht|nichts|keine)(?: \w+){0,2}? (?:schreib\w*|schick\w*|`+sentDe+`)`,
	`(?:nichts|nicht|keine)(?: mehr)? `+whenDe+`(?: uhr)? (?:mehr )?(?:schicken|schreiben|senden)`, `(?:bitte )?(?:nichts|nicht|keine) (?:schicken|schreiben) `+whenDe, `nur `+whenDe+` (?:schreiben|schicken|melden|bitte)`,
	`(?:weniger|nicht so viele)(?: \w+)? `+sentDe, `(?:seltener|weniger|nicht so oft)(?: bitte)? (?:schreib\w*|schick\w*|meld\w*)`, `^(?:bitte )*(?:nicht so oft|seltener|weniger)(?: bitte)*$`,
	`(?:eine?|einmal|zweimal|zwei)(?: `+sentDe+`)? (?:am|pro|die|in der) (?:tag|woche)(?: \w+){0,2}? (?:reicht|reichen|genugt|langt)`, `am wochenende weniger`,

	`^(?:por favor |pero |porfa )*(?:no|nada) `+whenEs, `^(?:por favor )*`+whenEs+` (?:no|nada)\b`,
	`(?:no|nada)(?: \w+){0,3}? (?:escrib\w+|mand\w+|envi\w+|`+sentEs+`)(?: \w+){0,2}? `+whenEs, whenEs+` no (?:quiero|me|mas)(?: \w+){0,2}? (?:`+sentEs+`|escrib\w+|mand\w+)`,
	`(?:menos|no tantos)(?: \w+)? `+sentEs, `(?:escrib\w+|mand\w+|envi\w+)(?: \w+){0,3}? menos`, `(?:solo|solamente)(?: \w+)? (?:escrib\w+|mand\w+)(?: \w+)? `+whenEs,
	`(?:una vez|dos veces|un mensaje|uno)(?: solo)? (?:al|por|a la|cada) (?:dia|semana)(?: \w+){0,2}? (?:basta|suficiente|alcanza)`,
	`con (?:un|uno) (?:`+sentEs+` )?al dia (?:basta|alcanza)`,

	`^(?:mais |stp |svp )*(?:pas|rien) `+whenFr, `(?:pas|plus|rien|aucun)(?: \w+){0,2}? `+sentFr+` `+whenFr, `(?:ecri\w+|envoi\w+|envoy\w+)(?: \w+)? (?:pas|rien|plus|seulement|que)(?: \w+){0,2}? `+whenFr,
	`(?:moins|pas autant|pas tant)(?: de| d)? `+sentFr, `(?:ecri\w+|envoy\w+)(?: \w+){0,2}? moins(?: souvent)?`, `^(?:moins souvent|un peu moins)`, `moins le (?:week end|weekend|soir|matin)`,
	`(?:une fois|deux fois|un `+sentFr+`|un seul `+sentFr+`) par (?:jour|semaine)(?: \w+){0,2}? (?:suffi\w+|assez)`,

	`^(?:por favor |mas )*(?:nao|nada) `+whenPt, `^(?:por favor )*`+whenPt+` (?:nao|nada)\b`,
	`(?:nao|nada|sem)(?: \w+){0,2}? (?:escrev\w+|mand\w+|envi\w+|`+sentPt+`)(?: \w+){0,2}? `+whenPt, whenPt+` nao (?:quero|me|mais)(?: \w+){0,2}? (?:`+sentPt+`|escrev\w+|mand\w+)`,
	`(?:menos|tantas|tantos)(?: \w+)? `+sentPt+polite+`$`, `(?:escrev\w+|mand\w+|envi\w+)(?: \w+){0,3}? menos`, `(?:so|apenas|somente)(?: me)? (?:escrev\w+|mand\w+)(?: \w+)? `+whenPt,
	`(?:uma vez|duas vezes|uma `+sentPt+`|uma) (?:por|ao|na) (?:dia|semana)(?: \w+){0,2}? (?:basta|suficiente|chega)`,
)

// oneDay finds a wish for no message on a day or at an hour, and fromDay the day from which
// a wish for none holds, which is one to end them.
var (
	oneDay = compileAny(
		`(?:no|dont|do not|not)(?: \w+){0,2}? (?:text\w*|messag\w*|write|send|remind\w*|ping\w*|sms)(?: \w+){0,2}? (?:today|tomorrow|tonight)`,
		`(?:schreib\w*|schick\w*|send\w*|meld\w*)(?: \w+){0,3}? (?:nicht|nichts|keine)(?: \w+)? (?:um \d+\w*|heute|morgen)`, `(?:schreib\w*|schick\w*|send\w*)(?: \w+){0,2}? (?:heute|morgen)(?: \w+){0,2}? (?:nicht|nichts|keine)`,
		`(?:heute|morgen)(?: \w+){0,2}? (?:nicht|nichts|keine)(?: \w+){0,2}? (?:schreib\w*|schick\w*|send\w*|`+sentDe+`)`,
		`(?:hoy|manana|(?:lunes|martes|miercoles|jueves|viernes|sabado|domingo)) no(?: \w+){0,2}? (?:escrib\w+|mand\w+|envi\w+|`+sentEs+`)`, `no(?: \w+){0,2}? (?:escrib\w+|mand\w+|envi\w+|`+sentEs+`)(?: \w+){0,2}? (?:hoy|manana)`,
		`(?:ecri\w+|envo\w+|mecri\w+|menvo\w+) (?:pas|rien)(?: \w+){0,2}? (?:aujourd ?hui|demain|ce soir)`, `pas (?:de |d |un )?`+sentFr+`(?: \w+){0,2}? (?:aujourd ?hui|demain|ce soir)`,
		`(?:hoje|amanha|(?:segunda|terca|quarta|quinta|sexta|sabado|domingo))(?: eu)? nao(?: \w+){0,2}? (?:escrev\w+|mand\w+|envi\w+|`+sentPt+`)`, `nao(?: \w+){0,2}? (?:escrev\w+|mand\w+|envi\w+|`+sentPt+`)(?: \w+){0,2}? (?:hoje|amanha)`,
	)
	fromDay = compileAny(
		`(?:from|since|starting|as of|effective|beginning|after) (?:today|tomorrow|tonight)`, `(?:ab|seit|nach) (?:heute|morgen)`,
		`(?:a partir de|desde|a contar de) (?:hoy|manana|hoje|amanha)`, `(?:a partir d|des|a compter d|a dater d) ?(?:aujourd ?hui|demain)`,
	)
)

// AsksForLess reports whether a text may ask for fewer messages or for other times, and
// not to end them: the coach changes the schedule.
func AsksForLess(body string) bool {
	if len(splitWords(body)) > privacyWords {
		return false
	}
	sentences := strings.FieldsFunc(body, func(r rune) bool { return strings.ContainsRune(".!?\n", r) })
	return slices.ContainsFunc(sentences, func(sentence string) bool {
		words := strings.Join(splitWords(sentence), " ")
		return partlyAsked.MatchString(words) || oneDay.MatchString(fromDay.ReplaceAllString(words, " "))
	})
}
