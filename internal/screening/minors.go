package screening

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	// minorWords is how many words a text has at most of which one clause is believed.
	minorWords = 60
	// adultAge is the age from which nobody is a minor.
	adultAge = 18
	// age is an age below 18, in figures or words of five languages; grown is 18.
	age   = `(?:[89]|1[0-7]|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|zehn|elf|zwolf|dreizehn|vierzehn|funfzehn|sechzehn|siebzehn|diez|once|doce|trece|catorce|quince|dieciseis|diecisiete|dix|onze|douze|treize|quatorze|quinze|seize|dix sept|dez|doze|treze|catorze|dezasseis|dezesseis|dezassete|dezessete)`
	grown = `(?:18|eighteen|achtzehn|dieciocho|dix huit|dezoito)`
	// date are words for when a birthday comes.
	date = `(?:im|in|am|bald|erst|dann|jetzt|schon|heute|morgen|nachste\w*|diese\w*|jahr|monat|woche|ende|januar|februar|marz|april|mai|juni|juli|august|september|oktober|november|dezember|\w+tag|mittwoch|sommer|herbst|winter|fruhling)`
	// parent is who decides for a minor.
	parent = `(?:mum|mom|mommy|mummy|dad|daddy|parents|mother|father|guardian|eltern|mama|papa|mutter|vater|parents|maman|ma mere|mon pere|mere|pere|padres|madre|padre|viejos|pais|mae|pai)`
)

// saysAge finds who says their own age, with the words behind it.
var saysAge = regexp.MustCompile(`(?:^| )(?:` + strings.Join([]string{
	`(?:i am|i m|im|am|being|its because im) (?:only |just |still |like |literally |almost |nearly |barely |turning |about to turn |about to be )?` + age, `(?:girl|boy|guy|kid|teen|student|m|f) (?:of )?` + age, `(?:as|since im) an? ` + age, `aged? ` + age,
	`(?:ich bin|bin|ich|als) (?:ja |erst |noch |gerade |grad |fast |bald |demnachst |nur )*` + age, `(?:werd|werde) (?:ich )?(?:` + date + ` )*` + age, `(?:junge|madchen|schuler|schulerin) ` + age,
	`(?:yo )?(?:tengo|cumplo|cumpli|acabo de cumplir|apenas tengo|con mis|a mis) (?:solo |casi |apenas |ya |nomas |tan solo )?` + age, `(?:chic[oa]|nin[oa]|alumn[oa]|estudiante|chav[oa]) de ` + age,
	`(?:j ?ai|jai|moi c est|moi cest|je viens d ?avoir|je vais avoir|jaurai|j aurai|je fais|avec mes|a mes|du haut de mes) (?:que |seulement |bientot |presque |deja |a peine |juste |meme pas )?` + age, `(?:fille|garcon|gars|meuf|ado) de ` + age,
	`(?:eu )?(?:tenho|acabei de fazer|acabei de completar|to com|estou com|tou com|com meus|com os meus) (?:so |apenas |quase |ja |uns )?` + age, `(?:menin[oa]|rapariga|rapaz|garot[oa]|alun[oa]|adolescente) de ` + age,
}, "|") + `)\b((?: \S+)?(?: \S+)?)`)

// afterAge are words behind an age; behind another figure there is what it counts. Years
// may be of something else, such as "years sober".
var afterAge = regexp.MustCompile(`^(?:| (?:and|so|is|but|btw|now|if|old|yo|yrs?|next|till|til|until|soon|anyway|lol|ok|cant|can|too|i|im|my|do|what|still|just|or|that|the|bc|because|cause|u|you|this|does|hope|in|on|tomorrow|today|today|und|aber|also|j|alt|darf|ist|geht|ich|das|oder|weil|im|am|nachste\w*|morgen|jahrige\w*|y|pero|es|pasa|ya|puedo|mi|me|no|el|este|manana|et|mais|donc|cest|je|jai|ma|mon|demain|ce|e|mas|pode|posso|da|minha|meu|nao|em|amanha|want|wanna|need|quiero|quero|veux|mochte|la|le|year old)(?: .*)?| (?:years?|jahre?|anos|ans)(?: \S+)?)$`)

// yearsOfElse are years of something else than a life, and dates of another thing.
var yearsOfElse = regexp.MustCompile(`^ (?:(?:years?|jahre?|anos|ans) (?:sober|clean|in|into|older|younger|of|without|ago|later|married|younger|nuchtern|trocken|verheiratet|ohne|dabei|rauchfrei|alter|junger|de|dexperience|danciennete|sans|sin|sem|casad\w*|trabaj\w*|trabalh\w*|fum\w*|con|com|avec|que|quand|cuando|quando|en|em|au)|(?:in|on|im|am|em|en|no|na|el) (?:a|the|my|der|die|den|einer|une?|um|uma|total|row|half|half|of|debt|days?|minutes?|weeks?|months?|behandlung|therapie|pause|casa|mi|la|tablet\w*|meetings?|this|it|that).*|(?:and|y|und|et|e) (?:a half|half|medio|media|demi|meia|meio).*)$`)

// isAnother matches what stands before a class or an age that is another's, or was once.
var isAnother = regexp.MustCompile(`(?:^| )(?:my|mein\w*|mon|ma|mes|mi|mis|meu|minha|meus|our|unser\w*|nuestr[oa]|notre|nossa?|hers?|his|their|ihr\w*|sein\w*|su|seu|sua|son|the|die|der|das|le|la|les|el|los|las|o|a|os|as|un|une|un[oa]|um|uma|ein\w*|an?) (?:\w+ )?(?:son|sons|daughters?|kids?|kiddo|child\w*|boys?|girls?|brothers?|sisters?|bro|sis|nieces?|nephews?|cousins?|grand\w+|stepson|stepdaughter|students?|pupils?|friends?|neighbou?rs?|sohn\w*|tochter|kind\w*|jungs?|madchen|bruder|schwester|neffe|nichte|enkel\w*|schuler\w*|nachbar\w*|freund\w*|cousine?|hij[oa]s?|nin[oa]s?|herman[oa]s?|sobrin[oa]s?|niet[oa]s?|alumn[oa]s|amig[oa]s?|prim[oa]s?|pequen[oa]s?|mayor|fils|fille|enfants?|frere|soeur|neveu|niece|petits?|petites?|eleves?|aine|amie?|filh[oa]s?|crianc\w+|irma\w?|sobrinh[oa]s?|net[oa]s?|alun[oa]s|ca[cç]ula|mais velh[oa]|mais nov[oa])(?: |$)|` +
	`(?:^| )(?:he|she|hes|shes|they|theyre|was|were|wasnt|when i|when we|since|back in|teach\w*|taught|tutor\w*|coach\w*|worked?|works?|working|started? at|first|last|er|sie|wir waren|war|waren|als ich|seit|damals|fruher|unterricht\w*|lehrer\w*|arbeite\w*|ell[oa]|elle|il|era|eramos|tenia|cuando|desde|doy clase\w*|profesor\w*|ensen\w*|trabaj\w*|maestr\w*|etais|etait|avais|quand|depuis|enseigne\w*|prof|profs|bosse|travaille|ele|ela|tinha|quando|dou aula\w*|professor\w*|leciono|trabalh\w*|reunion|reuniao|fond|fin|acabei|terminei|termine|acabe|fini)(?: |$)`) //nolint:misspell // other languages

// agedNoun is where an age is that of a noun, or of whoever stands before it: "14yo".
var agedNoun = regexp.MustCompile(`^ ?(?:(?:just )?turn(?:ing|ed)? |girl|boy|guy|kid|teen|student|junge|madchen|schuler|chic[oa]|nin[oa]|alumn[oa]|estudiante|chav[oa]|fille|garcon|gars|meuf|ado |menin[oa]|rapariga|rapaz|garot[oa]|alun[oa]|adolescente|\d+yo)`)

// hasOwner matches what makes the noun behind it another's: "my lovely", "tengo una", "is".
var hasOwner = regexp.MustCompile(`(?:^| )(?:(?:my|our|your|her|his|their|mein\w*|unser\w*|ihr\w*|sein\w*|mon|ma|mes|ton|ta|son|sa|notre|nos|leurs?|mis?|tus?|sus?|nuestr[oa]s?|meus?|minhas?|seus?|suas?|noss[oa]s?)(?: [^ ]+){0,3}?|(?:the|these|an?|de[rmns]|die|das|eine?[rmns]?|l[ae]s?|une?|des|el|l[ao]s|un[oa]s?|os?|as?|uma?s?)(?: [^ ]+)?|is|are|was|were|with|mit|avec|con|com)$`)

// isSelf matches what makes the noun behind it the person's own, or begins a clause anew.
var isSelf = regexp.MustCompile(`(?:^| )(?:(?:im|i am|i m|as|being|bin|als|j?e? ?suis|jsuis|chuis|soy|sou|como|comme)(?: (?:only|just|still|ja|noch|erst|que|solo|so))?(?: (?:an?|eine?|une?|una?|uma?))?(?: [^ ]+)?)$`)

// startsClause matches the end of the clause before one that has a subject of its own.
var startsClause = regexp.MustCompile(`(?:^| )(?:and|but|und|aber|et|mais|y|pero|e|mas)$`)

// ownAge is such a clause.
var ownAge = regexp.MustCompile(`^ ?(?:im|i am|i m|ich bin|moi|j ?ai|yo|eu) `)

// isOfAnother reports whether what is said of an age or a class is another's, by the words
// before it: "my 14yo", "ma fille de 9 ans".
func isOfAnother(before, said string) bool {
	if startsClause.MatchString(before) && ownAge.MatchString(said) {
		return false
	}
	if isAnother.MatchString(before) {
		return true
	}
	return agedNoun.MatchString(said) && hasOwner.MatchString(before) && !isSelf.MatchString(before)
}

// inClass finds a class at school, in the words of who is in it.
var inClass = compileAny(
	`(?:(?:i m|im|i am|ill be|still|just|go|going|back|start|starting|started|enter|entering|finish|finishing|finished|being|only|and) (?:in |into |to )?|^in )(?:my )?(?:(?:\d{1,2}(?:th|st|nd|rd)|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth) grade|grade (?:\d|1[0-2])|year (?:[7-9]|1[0-3]|seven|eight|nine|ten|eleven)|middle school|junior high|high school|secondary school|sixth form|freshman year|sophomore year|junior year)(?: (?:and|so|but|next|now|still|this|lol|rn|right|if|is|on|tomorrow|monday|i|im|my|we|with|where|because|since|or|at)(?: .*)?| \w+)?`,
	`(?:bin|geh|gehe|komm|komme|besuche|wiederhole|werde|^in der|^in) (?:noch |jetzt |bald |erst |ja |grad |gerade )*(?:in |auf )?(?:die |der |das |dem |s )?(?:(?:\d{1,2}(?:te[nr]?)?|funfte[nr]?|sechste[nr]?|siebte[nr]?|achte[nr]?|neunte[nr]?|zehnte[nr]?|elfte[nr]?|zwolfte[nr]?) klasse|gymnasium|realschule|hauptschule|mittelschule|gesamtschule|oberstufe|mittelstufe)`, `(?:geh|gehe|bin) (?:noch |ja )*(?:aufs|am) gymnasium`, `(?:geh|gehe) (?:noch|ja noch) (?:zur|in die) schule`,
	`(?:je suis|jsuis|chuis|suis|je rentre|je passe|j ?entre|jpasse|jrentre|je redouble|^) ?en (?:classe de )?(?:[3456](?:e|eme)|1ere|2nde|2de|tle|sixieme|cinquieme|quatrieme|troisieme|seconde|premiere|terminale)(?: (?:et|donc|mais|pro|generale|s|es|l|en|au|cette|lundi|la|c|cest|jai|je|on|trop|a)(?: .*)?)?$`, `(?:je suis|jsuis|chuis|suis|je rentre|j ?entre|jrentre) (?:encore |juste |toujours )?au (?:college|lycee)`,
	`(?:voy|estoy|paso|entro|empiezo|curso|estudio|^) ?(?:todavia |aun |ya )?(?:en |a )?(?:la |el )?(?:(?:[1-6] ?(?:o|ero|er|ro|do|to)?|primero|segundo|tercero|tercer ano|cuarto|quinto|sexto) (?:de )?(?:la )?(?:eso|bachillerato|bachi|secundaria|primaria|prepa|preparatoria)|secundaria|la secundaria|la prepa|prepa|bachillerato|(?:sexto|septimo|octavo|noveno|decimo) grado)`, `(?:voy|estudio|estoy) (?:todavia |aun )?(?:al|en el) (?:insti|instituto|cole|colegio|liceo)(?: todavia| aun)?$`, //nolint:misspell // other languages
	`(?:estou|to|tou|ando|passo|vou|entro|estudo|frequento|sou|aluna|aluno|^) ?(?:ainda |ja )?(?:no|do|pro|para o|pra o|o) (?:(?:\d{1,2} ?o|sexto|setimo|oitavo|nono|decimo) ano|(?:primeiro|segundo|terceiro|1o|2o|3o) (?:ano )?(?:do )?(?:ensino )?medio|ensino medio|ensino fundamental|fundamental|secundario)`, `(?:passo|vou|entro) (?:para|pro|no) (?:o )?\d{1,2}o`,
)

// isGrown matches the age of an adult: at 46 one may go to school too.
var isGrown = regexp.MustCompile(`(?:^| )(?:im|i am|a mis|con mis|com meus|aos|mit|ich bin|bin|with my) (?:19|[2-9]\d)(?: |$)`)

// isMinor finds what only a minor says of themselves.
var isMinor = compileAny(
	// An age to come.
	`(?:turning|turn|ill be|i ll be|going to be|gonna be|i become) `+age+` (?:in|on|next|this|soon|tomorrow|today|lol|so)`, `(?:turning|i turn|im turning|ill be turning|i just turned|just turned|i turned) `+age, `my `+age+`(?:th|nd|rd)? (?:birthday|bday)`, `(?:cant|can t|cannot|not allowed)(?: \w+){1,4} (?:im|i m|i am) `+age,
	`(?:meinen|mein|meinem) `+age+`(?:ten|er|ter)? ?(?:geburtstag|geb)`, `bin(?: \w+){0,3} `+age+` (?:geworden|jahre alt|jahre jung)`,
	`j ?aurai `+age+` ans`, `dans \w+ (?:ans?|mois) (?:jai|j ai|jaurai|jaurais) `+grown, `(?:mes|pour mes|fete mes|feter mes) `+age+` ans (?:en|au|ce|samedi|dimanche|demain|bientot|la|cette)`, `mon anniv\w*(?: \w+){0,3} `+age+` ans`,
	`(?:cumplo|cumplire|voy a cumplir) (?:los )?`+age, `(?:es )?mi cumple(?:anos)?(?: \w+)? `+age, `mis quince(?: anos)?`, `fiz `+age+` (?:anos|ontem|hoje|sabado|domingo|semana|em)`, `(?:faco|vou fazer|completo) `+age+` anos`, `(?:faco|vou fazer|completo) `+age+` (?:em|no|na|este|amanha|sabado|domingo|daqui|logo)`, `(?:os )?meus `+age+` anos (?:sao|e|vao|no|na|em)`, `meu aniversario(?: \w+)? `+age,
	`(?:[89]|1[0-7])yo`, `(?:im|i am|i m) (?:an? )?`+age+` (?:yo|y o|yrs?|years?|year) olds?`, `(?:^|hi |hey |hello |im |i am |i m )1[0-7](?:f|m) (?:here|want|wanna|need|can|how|trying|looking)`, age+` here`, `(?:my age is|mein alter ist|mi edad es|minha idade e|mon age cest|alter|age|edad|idade) `+age, `(?:tomorrow|morgen|demain|manana|amanha) (?:i turn|i become|im|werd ich|werde ich|bin ich|jai|jaurai|cumplo|faco) `+age,
	`ich (?:bin |als )?(?:eine? )?`+age+` ?(?:jahrige\w*|jahre alt|j)`, `als `+age+` ?jahrige\w*`,
	// Class and school.
	`(?:i m|im|i am|as) (?:only |just |still )?an? (?:freshman|sophomore|\d+(?:th|st|nd|rd) grader|(?:sixth|seventh|eighth|ninth|tenth|eleventh) grader|schoolgirl|schoolboy|high ?schooler|middle ?schooler|high school(?:er)? (?:student|kid|junior|senior|freshman|sophomore))(?: \w+){0,2}`, `\d+(?:th|st|nd|rd) grader here`, `my (?:form tutor|homeroom teacher|form teacher|head of year|school counselor|guidance counselor)`, parent+`(?: \w+){0,3} (?:drove|dropped|drops|picked|took|takes|drives)(?: \w+){0,2} me (?:\w+ )?(?:to|from|at|off at) school`, `my (?:gcses|sats?|psat)(?: \w+)?`,
	`(?:\d+|funft|sechst|siebt|acht|neunt|zehnt|elft)klassler\w*`, `mein\w* klassenlehrer\w*`, parent+`(?: \w+){0,3} (?:zur|in die|von der) schule(?: \w+)? (?:gefahren|gebracht|abgeholt)`, `bin (?:noch |ja |erst )+schuler(?:in)?`,
	`(?:le|mon|ma|la) prof principale?`, parent+`(?: \w+){0,3} (?:depose|emmene|ramene)\w*(?: \w+){0,2} (?:au|du|a l|a) (?:lycee|college|ecole|lecole)`, `(?:je suis|jsuis|chuis) (?:encore |juste )?(?:lyceen\w*|collegien\w*)`, `(?:passe|revise|prepare)\w* (?:le |mon )?brevet`,
	`mi (?:tutor|tutora) (?:del|de la|me)`, parent+`(?: \w+){0,2} (?:llevo|lleva|recogio|trajo)(?: \w+){0,1} (?:al|a la|del) (?:instituto|colegio|cole|escuela|secundaria)`, //nolint:misspell // other languages
	`(?:a minha|minha|o meu|meu) (?:directora?|diretora?) de turma`, parent+`(?: \w+){0,2} (?:levou|leva|buscou|deixou)(?: \w+){0,2} (?:a|na|da) escola`,
	// What parents must allow.
	parent+`(?: \w+){0,3} (?:has to sign|have to sign|needs? to sign|must sign|signed (?:the|my)|says i(?: m)? (?:have to ask|need to ask|not allowed|too young)|says im too young|wont let me|won t let me|doesnt let me|doesn t let me|dont let me|don t let me|didnt let me|have to allow|has to allow|gave permission|permission)`, `(?:permission|allowed) (?:from |by )?my `+parent, `(?:have|need|gotta) (?:to )?ask my `+parent+` (?:if|first|before)`, `grounded (?:me|for|until|till|again)`,
	parent+`(?: \w+){0,3} (?:unterschreiben|erlaub\w+ mir|erlaubt es mir|erlauben es mir|fragen ob|verbiet\w+ mir)`, parent+` (?:lasst|lassen) mich (?:\w+ )?nicht`, `darf (?:\w+ ){0,3}(?:bier|rauchen|alkohol|auto fahren|wahlen)(?: \w+){0,3} (?:erst|noch)`, `darf ich(?: \w+){0,3} (?:ohne|mit) (?:meine )?eltern`, parent+`(?: sagt| sagen)? (?:ich )?(?:muss|soll) (?:erst|vorher) (?:um erlaubnis )?fragen`,
	parent+`(?: \w+){0,4} (?:signer|signent|signe|autorisation|permission)`, parent+` (?:me laissent?|veut|veulent|mautorise\w*) pas`, parent+` (?:ne )?(?:me )?laissent? pas`,
	`(?:mis padres|mi madre|mi padre|mama|papa)(?: \w+){0,4} (?:firmar|firmen|firme|permiso)`, `(?:mis padres|mi madre|mi padre|mama|papa|mis viejos) no me dejan?`,
	`(?:meus pais|minha mae|meu pai|mae|pai|a minha mae)(?: \w+){0,3} (?:assinar|assinem|autorizar|autorizacao)`, `(?:meus pais|minha mae|meu pai|mae|pai|os meus pais) nao (?:me )?deixam?(?: eu)?`,
	// Not of age.
	`(?:till|til|until|before|when|once|unless|wait til) (?:im|i m|i am|i turn|i hit|i reach) `+grown, `(?:i turn|ill be|im turning|i m turning|i ll be|till i turn|i become|turning|be|im|i am) `+grown+` (?:in|next|soon|this|on|tomorrow)`, `(?:in|only|just|another|still|about) (?:\w+ ){1,3}(?:i am|im|i m|ill be|i ll be|til im|till im|until im|before im|until|till|til|to|i turn|before i turn|before) `+grown, grown+` in (?:\w+ ){1,2}(?:years?|months?|weeks?|days?)`, `(?:im|i m|i am) (?:\w+ )?(?:under ?age\w*|a minor|under ?18|not (?:even |yet )?18|a teen\w*|too young|a kid|still a kid|below 18)`, `not (?:even )?(?:yet )?(?:`+grown+`|an adult|of age)(?: yet)?`, `(?:im|i am) (?:\w+ )?under `+grown,
	`(?:bin|noch) (?:minderjahrig|nicht volljahrig|keine 18|unter 18|nicht 18|unter achtzehn|keine achtzehn)`, `(?:werd|werde) (?:ich )?(?:`+date+` )*`+grown, `(?:bis|bevor|wenn|sobald|ab) (?:ich )?(?:\w+ )?`+grown+` (?:bin|werde|werd)`,
	`(?:je suis|jsuis|chuis) (?:encore |toujours )?mineure?`, `(?:pas|avant) (?:encore )?(?:majeure?|mes `+grown+`|mes 18 ans)`, `(?:jaurai|j aurai|jai pas|j ai pas|je vais avoir|quand jaurai|jaurais) (?:encore |que )?(?:les )?`+grown+`(?: ans)?`,
	`(?:soy|aun soy|todavia soy|sigo siendo) menor(?: de edad)?`, `(?:para|hasta) (?:ser mayor de edad|los `+grown+`|cumplir (?:los )?`+grown+`|tener `+grown+`)`, `no tengo (?:los |aun |todavia )*`+grown, `(?:cumplo|cumplire|cuando cumpla|cuando tenga) (?:los )?`+grown,
	`(?:sou|ainda sou) (?:de )?menor(?: de idade)?`, `(?:ate|quando|so) (?:eu )?(?:fizer|tiver|completar|faco) `+grown, `(?:faco|vou fazer|completo) `+grown, `(?:nao|ainda nao) tenho `+grown, `(?:para|ate) (?:os |fazer |ter )`+grown,
)

// bornIn finds a year of birth or of leaving school, with two figures or four.
var bornIn = regexp.MustCompile(`(?:^| )(?:(?:born) (?:in )?|(?:jahrgang|geboren|geb|baujahr|jg) (?:in |im jahr )?|(?:nee?|ne|naissance) en |(?:naci|nacid[oa]|soy) (?:en|del?|el) (?:el )?(?:ano )?|(?:nasci|nascid[oa]|sou) (?:em|de) )(20\d\d|[01]\d)(?: |$)|(?:^| )bin (?:ich )?(?:im )?(20\d\d) geboren`)

var leavesIn = regexp.MustCompile(`(?:^| )(?:class|grad(?:uating|uate)?) (?:of |in )(20\d\d)(?: |$)`)

// saysYear reports whether a clause names a year of birth with which nobody is 18 at an
// instant, or a class that leaves school after that year.
func saysYear(words string, at time.Time) bool {
	if found := leavesIn.FindStringSubmatch(words); found != nil {
		year, _ := strconv.Atoi(found[1])
		return year > at.Year() && year < at.Year()+adultAge
	}
	found := bornIn.FindStringSubmatch(words)
	if found == nil {
		return false
	}
	year, _ := strconv.Atoi(found[1] + found[2])
	if year < 100 {
		year += 2000
	}
	return year > at.Year()-adultAge && year <= at.Year()
}

// SaysMinor reports whether a person says of themselves that they are not 18 yet at an
// instant: an age, a year of birth, a class at school, what their parents must allow. It
// reads five languages. Teachers and homework are no sign: adults have had, or have, them too.
func SaysMinor(body string, at time.Time) bool {
	if len(splitWords(body)) > minorWords {
		return false
	}
	for _, sentence := range sentenceEnd.Split(ordinal.ReplaceAllString(body, "$1 "), -1) {
		words := strings.Join(splitWords(sentence), " ")
		if isGrown.MatchString(words) {
			return false
		}
		parts := []string{words}
		for part := range strings.SplitSeq(sentence, ",") {
			parts = append(parts, strings.Join(splitWords(part), " "))
		}
		for _, part := range parts {
			for _, said := range saysAge.FindAllStringSubmatchIndex(part, -1) {
				after := part[said[2]:said[3]]
				if afterAge.MatchString(after) && !yearsOfElse.MatchString(after) && !isOfAnother(part[:said[0]], part[said[0]:said[1]]) {
					return true
				}
			}
		}
		for _, pattern := range []*regexp.Regexp{inClass, isMinor} {
			if said := pattern.FindStringIndex(words); said != nil && !isOfAnother(words[:said[0]], words[said[0]:said[1]]) {
				return true
			}
		}
		if saysYear(words, at) {
			return true
		}
	}
	return false
}

// ordinal is a number with a full stop that may end no sentence.
var ordinal = regexp.MustCompile(`(\d)\.`)

// sentenceEnd is where a sentence ends.
var sentenceEnd = regexp.MustCompile(`[.!?;\n…]+`)
