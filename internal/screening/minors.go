package screening

import (
	"regexp"
	"strings"
)

const (
	// minorWords is how many words a text has at most of which one clause is believed.
	minorWords = 60
	// age is an age below 18, in figures or words of five languages.
	age = `(?:[89]|1[0-7]|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|zwolf|dreizehn|vierzehn|funfzehn|sechzehn|siebzehn|doce|trece|catorce|quince|dieciseis|diecisiete|douze|treize|quatorze|quinze|seize|dix sept|doze|treze|catorze|dezasseis|dezesseis|dezassete|dezessete)`
	// soon is when a birthday comes.
	soon = `(?:in|im|en|em|au|next|on|am|nachste\w*|diesen|el|ce|this|a|no|na|le)`
)

// saysAge finds who says their own age, with the words behind it.
var saysAge = regexp.MustCompile(`(?:^| )(?:` + strings.Join([]string{
	`(?:i am|i m|im|am) (?:only |just |still |almost |nearly |about to turn )?` + age, `(?:girl|boy|guy|kid|teen|student|m|f) (?:of )?` + age,
	`(?:ich bin|bin|ich) (?:erst |noch |gerade |grad |fast )?` + age, `(?:junge|madchen|schuler|schulerin) ` + age,
	`(?:yo )?tengo (?:solo |casi |apenas |ya )?` + age, `(?:chic[oa]|nin[oa]|alumn[oa]|estudiante) de ` + age,
	`(?:j ?ai|jai|moi c est|je viens d avoir) (?:que |seulement |bientot |presque |deja )?` + age, `(?:fille|garcon|gars|meuf) de ` + age,
	`(?:eu )?tenho (?:so |apenas |quase |ja )?` + age, `(?:menin[oa]|rapariga|rapaz|garot[oa]|alun[oa]) de ` + age,
}, "|") + `)\b((?: \S+)?(?: \S+)?)`)

// afterAge are words behind an age; behind another figure there is what it counts. Years
// may be of something else, such as "years sober".
var afterAge = regexp.MustCompile(`^(?:| (?:and|so|is|but|btw|now|if|old|yo|yrs?|next|till|til|until|soon|anyway|lol|ok|cant|can|too|i|im|my|do|what|still|just|or|that|the|bc|because|cause|u|you|this|does|hope|und|aber|also|j|alt|darf|ist|geht|ich|das|oder|weil|y|pero|es|pasa|ya|puedo|mi|me|no|et|mais|donc|cest|je|jai|ma|mon|e|mas|pode|posso|da|minha|meu|nao|will|want|wanna|need|quiero|quero|veux|mochte|la|le)(?: .*)?| (?:years?|jahre?|anos|ans)(?: \S+)?)$`)

// yearsOfElse are years of something else than a life.
var yearsOfElse = regexp.MustCompile(`^ (?:years?|jahre?|anos|ans) (?:sober|clean|in|into|older|younger|of|without|ago|later|married|younger|nuchtern|trocken|verheiratet|ohne|dabei|rauchfrei|alter|junger|de|dexperience|danciennete|sans|sin|sem|casad\w*|trabaj\w*|trabalh\w*|fum\w*|con|com|avec|que|quand|cuando|quando|en|em|au)$`)

// isMinor finds what only a minor says of themselves.
var isMinor = compileAny(
	// An age to come, and a year of birth.
	`(?:turning|turn|ill be|i ll be|going to be|gonna be) `+age+` `+soon, `my `+age+`(?:th|nd|rd)? (?:birthday|bday)`, `(?:cant|can t|cannot|not allowed)(?: \w+){1,4} (?:im|i m|i am) `+age, `(?:born|b) (?:in )?20(?:0[9]|1\d)`, `(?:class|grad(?:uating)?) of 20(?:2[7-9]|3\d)`,
	`(?:werd|werde) (?:\w+ ){0,2}`+age, `meinen `+age+` geburtstag`, `mein `+age+` geburtstag`, `(?:jahrgang|geboren|baujahr|jg) (?:in )?20(?:09|1\d)`,
	`j ?aurai `+age+` ans`, `mes `+age+` ans (?:en|au|ce|samedi|dimanche|demain|bientot)`, `(?:nee?|ne) en 20(?:09|1\d)`,
	`(?:cumplo|cumplire|voy a cumplir) `+age, `(?:es )?mi cumple(?:anos)? `+age, `naci en (?:el )?20(?:09|1\d)`,
	`(?:faco|vou fazer|completo) `+age+`(?: anos)? `+soon, `meus `+age+` anos`, `nasci em 20(?:09|1\d)`,
	// School.
	`(?:i m|im|i am|still|go(?:ing)? (?:to|into)|start(?:ing)?) (?:in )?(?:middle school|junior high|high school|secondary school|sixth form|(?:the )?\d+(?:th|st|nd|rd) grade|grade \d+|year (?:[7-9]|1[0-3]))`, `(?:i m|im|i am) an? (?:freshman|sophomore|\d+(?:th|st|nd|rd) grader|schoolgirl|schoolboy|high schooler)(?: and practice)?`, `my (?:form tutor|homeroom teacher|form teacher|head of year)`, `(?:mum|mom|dad|mama|papa)(?: \w+){0,3} (?:drove|dropped|picked|took|takes|drives)(?: \w+){0,2} me (?:\w+ )?(?:to|from|at) school`,
	`(?:geh|gehe|bin|komm|komme) (?:noch |jetzt |bald )?(?:in|auf) (?:die|der|das|dem|s) (?:\d+ )?(?:klasse|gymnasium|realschule|hauptschule|mittelschule|oberstufe)`, `(?:\d+|funft|sechst|siebt|acht|neunt|zehnt|elft)klassler\w*`, `mein\w* klassenlehrer\w*`, `(?:mama|papa|mutter|vater)(?: \w+){0,3} (?:zur|in die|von der) schule(?: \w+)? (?:gefahren|gebracht|abgeholt)`,
	`(?:je suis|jsuis|chuis|je rentre|je passe|j entre) en (?:[3456](?:e|eme)|1ere|2nde|sixieme|cinquieme|quatrieme|troisieme|seconde|premiere|terminale)`, `(?:je suis|jsuis) (?:au|en) (?:college|lycee)`, `(?:le|mon|ma|la) prof principale?`, `(?:maman|papa)(?: \w+){0,3} (?:depose|emmene|ramene)\w*(?: \w+){0,2} (?:au|du|a l) (?:lycee|college|ecole)`,
	`(?:voy|estoy|paso|entro) (?:en|a) (?:la |el )?(?:\d+ ?o? de (?:la )?eso|[1-4] ?o? de bachillerato|secundaria|primaria|prepa|preparatoria|la eso|eso|bachillerato|sexto|septimo|octavo|noveno)`, `mi (?:tutor|tutora) (?:del|de la|me)`, `(?:mi madre|mi padre|mama|papa)(?: \w+){0,2} (?:llevo|lleva|recogio|trajo)(?: \w+){0,1} (?:al|a la|del) (?:instituto|colegio|cole|escuela|secundaria)`, //nolint:misspell // Spanish
	`(?:ando|estou|passo|vou|entro) (?:no|para o|pro|na) (?:\d+ ?o? ano|ensino medio|fundamental|secundario|decimo|nono|oitavo|setimo)(?: ano)?`, `(?:a minha|minha|o meu|meu) (?:directora?|diretora?) de turma`, `(?:minha mae|meu pai|mae|pai)(?: \w+){0,2} (?:levou|leva|buscou|deixou)(?: \w+){0,2} (?:a|na|da) escola`,
	`(?:[89]|1[0-7])yo`, `(?:my age is|mein alter ist|mi edad es|minha idade e) `+age, `(?:bald|fast|demnachst) `+age+` jahre`, `(?:nacid[oa]|nascid[oa]|nascida|nascido) e[nm] (?:el )?20(?:09|1\d)`, `(?:tomorrow|morgen|demain|manana|amanha) (?:i turn|werd ich|jai|cumplo|faco) `+age,
	// What parents must allow.
	`(?:mum|mom|mommy|dad|parents|mother|father)(?: \w+){0,2} (?:has to sign|have to sign|needs? to sign|says i(?: m)? (?:have to ask|need to ask|not allowed|too young)|wont let me|won t let me|doesnt let me|doesn t let me|dont let me|don t let me|have to allow|has to allow|must sign)`,
	`(?:eltern|mama|papa|mutter|vater)(?: \w+){0,3} (?:unterschreiben|erlaub\w+ mir|erlaubt es mir|erlauben es mir)`, `(?:mama|papa|mutter|eltern) (?:lasst|lassen) mich nicht`, `darf (?:\w+ ){0,3}(?:bier|rauchen|alkohol|auto fahren|wahlen)(?: \w+){0,3} (?:erst|noch)`,
	`(?:mes parents|maman|papa|ma mere|mon pere)(?: \w+){0,3} (?:signer|autorisation|permission)`, `(?:mes parents|maman|papa|ma mere|mon pere) (?:me laissent?|veut|veulent) pas`,
	`(?:mis padres|mi madre|mi padre|mama|papa)(?: \w+){0,4} (?:firmar|permiso)`, `(?:mis padres|mi madre|mi padre|mama|papa) no me dejan?`,
	`(?:meus pais|minha mae|meu pai|mae|pai|a minha mae)(?: \w+){0,3} (?:assinar|autorizar|autorizacao)`, `(?:meus pais|minha mae|meu pai|mae|pai) nao (?:me )?deixam?(?: eu)?`,
	// Not of age.
	`(?:till|til|until|before|when) (?:im|i m|i am|i turn) 18`, `(?:im|i m|i am) (?:under ?age|a minor|under 18|not 18|a teen\w*|too young|a kid|still a kid)`, `not (?:yet )?18 yet`,
	`(?:bin|noch) (?:minderjahrig|nicht volljahrig|keine 18|unter 18|nicht 18)`, `(?:je suis|jsuis) mineure?`, `(?:pas|avant) (?:encore )?(?:majeure?|mes 18)`, `(?:soy|aun soy|todavia soy) menor(?: de edad)?`, `(?:para|hasta) ser mayor de edad`, `no tengo (?:los |aun )?18`,
	`sou (?:de )?menor(?: de idade)?`, `(?:ate|quando) (?:eu )?fizer 18`, `nao tenho 18`, `ainda sou menor`,
)

// SaysMinor reports whether a person says of themselves that they are not 18 yet: an age, a
// year of birth, a class at school, what their parents must allow. It reads five languages.
// Teachers and homework are no sign: adults have had, or have, them too.
func SaysMinor(body string) bool {
	words := splitWords(body)
	if len(words) == 0 || len(words) > minorWords {
		return false
	}
	folded := strings.Join(words, " ")
	for _, said := range saysAge.FindAllStringSubmatch(folded, -1) {
		if afterAge.MatchString(said[1]) && !yearsOfElse.MatchString(said[1]) {
			return true
		}
	}
	return isMinor.MatchString(folded)
}
