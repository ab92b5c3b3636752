package advice

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// These are the words for what a coach may be taken for.
const (
	selfEn = `(?:chat)?(?:bot|robot)|human|person|machine|real|ai|a\.i\.|computer|program|software|automated|artificial|chat ?gpt|gpt|siri|alexa|alive|an app|script|language (?:model|thing)s?|living|someone|somebody`
	selfDe = `echte?[rs]?|mensch\p{L}*|(?:chat)?bot|roboter|maschine|ki|programm|computer|real|automat\p{L}*|chat ?gpt|kunstlich\p{L}*|lebendig|jemand|person`
	selfFr = `robot|(?:chat)?bot|humaine?|ia|i\.a\.|machine|vraie?|reelle?|logiciel|programme|personne|ordinateur|quelqu'un|automate|automatique|chat ?gpt|vivante?`
	selfEs = `robot|(?:chat)?bot|human[oa]|person[a]s?|maquina|ia|i\.a\.|real|de verdad|viv[oa]|automatiz\p{L}*|automatic\p{L}*|alexa|chat ?gpt|programa|computadora|ordenador|alguien`
	selfPt = `robo|robot|(?:chat)?bot|human[oa]|pessoa|gente|maquina|ia|i\.a\.|real|automatic[oa]|chat ?gpt|programa|computador|de verdade|viv[oa]`
)

// asksSelf matches a question of what the coach is, in folded words.
var asksSelf = regexp.MustCompile(`\b(?:` + strings.Join([]string{
	// English
	`(?:are|r) (?:you|u|ya)\b[^.!?]{0,25}\b(?:` + selfEn + `)\b`, `(?:you|u) (?:a )?(?:real|human|bot|robot|ai)\s*\?`, `is (?:this|it|that)\b[^.!?]{0,20}\b(?:(?:chat)?bot|robot|chat ?gpt|gpt|ai|a (?:real )?(?:person|human)|automated|machine|computer|someone real)\b`,
	`(?:am i|are we|(?:feels|like|i'?m) (?:like )?(?:im|i'm|i am)?) ?(?:talking|texting|chatting|speaking|writing) (?:to|with) (?:an? )?(?:real |actual |living )?(?:wall|` + selfEn + `)\b`, `who (?:am i|is this|are you|r u|is it|is on)\b`, `whos? (?:is )?(?:behind|typing|writing these|answering|reading)\b`, `(?:^|[.!?,] ?|and |so )what (?:are|r) (?:you|u)(?: exactly| really| actually)?\s*(?:$|[?!.,])`,
	`(?:is|does) (?:there|a|an|any|some)[^.!?]{0,15}\b(?:human|person|anyone|anybody|someone|somebody|body|one)\b[^.!?]{0,20}\b(?:there|read\p{L}*|typ\p{L}*|check\p{L}*|end|behind|writ\p{L}*|answer\p{L}*|really|see\p{L}*)\b`, `is (?:anyone|anybody|someone|somebody)\b[^.!?]{0,15}\b(?:there|reading|real|human|typing)\b`, `(?:honest|serious)[^.!?]{0,20}\b(?:chat ?gpt|bot|robot|person|human)\b`,
	`(?:your|ur) real name`, `do (?:you|u) (?:have|got)\b[^.!?]{0,10}\b(?:a name|body|feelings|face)\b`, `(?:you|u) (?:don't|dont|never) sleep`, `(?:canned|automatic|automated|generated|scripted|copy[- ]?paste\p{L}*) (?:answers?|repl\p{L}*|responses?|messages?|texts?)`, `(?:you|u) (?:sound|seem|reply|answer|write|type)\b[^.!?]{0,30}\b(?:machine|robot|bot|script|person|human|computer)\b`,
	`(?:if|whether|that) (?:you|u)(?:'re| are| were| r|re)? (?:an? )?(?:real |actual )?(?:person|human|real|bot|robot|computer|machine|ai)\b`, `(?:say|says|thinks?) (?:you|u)(?:'re| are|re) (?:an? )?(?:computer|bot|robot|machine|ai|program)`, `(?:real|actual|living) human\s*\?`, `(?:human|person|someone real) or (?:an? )?(?:bot|robot|machine|computer|ai)|(?:bot|robot|machine|computer|ai) or (?:an? )?(?:real )?(?:human|person)`, `paid for this`,
	// Deutsch
	`bist(?:e|n)?\b[^.!?]{0,25}\b(?:` + selfDe + `)\b`, `sind sie (?:ein\p{L}* )?(?:echt\p{L}* )?(?:` + selfDe + `)\b`, `(?:bist du|bist) einer\b`, `ist (?:das|da|hier|dort|dahinter)\b[^.!?]{0,20}\b(?:chat ?gpt|(?:chat)?bot|ki|roboter|automat\p{L}*|mensch\p{L}*|echter?|jemand|wer|computer|maschine|programm)\b`,
	`(?:sitzt|schreibt|antwortet|liest|tippt)\b[^.!?]{0,25}\b(?:jemand|mensch\p{L}*|wer|automat\p{L}*|ki|(?:chat)?bot|maschine|computer|wirklich wer)\b`, `\bwer (?:bist|schreibt|antwortet|steckt|sitzt|ist (?:da|dran|das))\b`, `(?:^|[.!?,] ?|und )was bist du`, `wie hei(?:ss|ß)t du`, `gibt'?s dich|gibt es dich`, `kunstliche intelligenz\b`, `(?:mensch|echt|ki|bot|maschine|roboter|computer) oder (?:ein\p{L}* )?(?:mensch\p{L}*|echt\p{L}*|ki|bot|maschine|roboter|computer|automat\p{L}*)`,
	`kein mensch sein`, `(?:red|rede|schreib|schreibe|sprech|spreche|chatte) ich\b[^.!?]{0,25}\b(?:roboter|(?:chat)?bot|maschine|mensch\p{L}*|automat\p{L}*|computer|programm|ki)\b`, `beweis\b[^.!?]{0,25}\b(?:bot|mensch|echt)`, `hast du (?:uberhaupt |auch |einen |ein )*(?:korper|gefuhle|gesicht|namen)`, `einem automaten|auswendig gelernt|vorgefertigt`, `(?:nachrichten|antworten|texte)\b[^.!?]{0,30}\b(?:generiert|automatisch|geschrieben oder)`, `automatisch\s*\?|lauft das\b[^.!?]{0,15}automatisch|geld dafur`,
	// Français
	`(?:t'?es|t es|tu es|es[- ]tu|etes[- ]vous|vous etes)\b[^.!?]{0,25}\b(?:` + selfFr + `)\b`, `(?:t'?es|tu es|vous etes|es[- ]tu|etes[- ]vous) (?:quoi|qui)\b`, `c'?est (?:une? |un vrai |une vraie |du |l')?(?:ia|robot|(?:chat)?bot|chat ?gpt|machine|programme|ordinateur|automatique|humain)\b`, `c'?est (?:vous|toi|l'infirmi\p{L}*|le docteur)\b[^.!?]{0,15}\bou\b`, `(?:y ?a|il y a|a-t-il|ya)[- ]?(?:t-il )?[^.!?]{0,15}\b(?:quelqu'un|qqn|une (?:vraie )?personne|un (?:vrai )?humain)\b`,
	`qui (?:est (?:derriere|la|ce)|ecrit|repond|etes|es[- ]tu|se cache|m'ecrit|me repond|parle)`, `quelqu'un (?:lit|ecrit|me lit|repond|relit|derriere|la)\b`, `(?:discute|parle|cause|ecris|confie|papote)\b[^.!?]{0,12}\b(?:avec|a) (?:une? )?(?:vrai[e]? )?(?:robot|humain|machine|etre humain|programme|ia|ordi\p{L}*|personne|(?:chat)?bot|mur)\b`, `tu existes`, `reponses? (?:toutes? faites?|automatiques?|generees?)|copie[rz]?[- ]colle`, `humain (?:relit|lit|verifie)`, `(?:ton|votre) vrai nom|comment tu t'appelles|tu t'appelles comment`, `(?:si|que) (?:tu es|t'es|vous etes) (?:quelqu'un|une? (?:vraie? )?(?:personne|humain|robot|machine))`,
	`(?:ordinateur|robot|machine|humaine?|ia|bot) ou (?:bien )?(?:une? )?(?:etre )?(?:humain|robot|machine|ia|personne|femme|homme)`, `pas (?:etre|une?) humain`, `un algorithme`,
	// Español
	`(?:eres|sos|es usted|sois|estas)\b[^.!?]{0,20}\b(?:` + selfEs + `)\b`, `(?:sois|son) (?:personas|humanos|robots|maquinas)`, `quien (?:estoy|esta (?:ahi|detras|escribiendo)|eres|sos|escribe|habla|contesta|responde|hay|es usted|me escribe|lee)\b`, `(?:^|[.!?,] ?|y )tu quien eres`, `esto es (?:un[a]? )?(?:chat ?gpt|(?:chat)?bot|ia|maquina|robot|automatico)`, `(?:hay|esta) alguien\b`, `alguien (?:lee|escribe|revisa|contesta|responde|real)\b`, `(?:respuestas|mensajes) (?:automatic\p{L}*|generad\p{L}*)`, `(?:misma|una) persona\b[^.!?]{0,25}\b(?:contest\p{L}*|respond\p{L}*|escrib\p{L}*)|contesta la misma persona`, `tienes (?:cuerpo|sentimientos|cara)|tu nombre de verdad|como te llamas`, `(?:^|[.!?,] ?|y )que (?:eres|sos)\b`, `(?:hablando|hablo|escribiendo|chateando)\b[^.!?]{0,15}\b(?:con )?un[a]? (?:` + selfEs + `|contestador|pared)\b`, `copia y pega|algoritmo\b|un chatbot`, `(?:un )?humano (?:revisa|lee)`, `te pagan`, `(?:humano|persona|robot|maquina|ia) o (?:un[a]? )?(?:humano|persona|robot|maquina|ia|bot)`, `dice[n]? (?:que|q) eres`, //nolint:misspell // Spanish
	// Português
	`(?:es|tu e|vc e|voce e|ce e|tu es)\b[^.!?]{0,20}\b(?:` + selfPt + `)\b`, `(?:^|[.!?,] ?)es mesmo real`, `isso e (?:o |um[a]? )?(?:chat ?gpt|(?:chat)?bot|robo|ia|resposta automatica|automatico|maquina)`, `resposta automatica`, `quem (?:escreve|es|e (?:voce|vc|tu)|esta (?:ai|por tras|desse|a escrever)|responde|fala|estou|me escreve|manda)\b`, `(?:tem|ha|esta) (?:ai )?(?:alguem|gente|uma pessoa)(?: ai| desse lado| desse| por tras|\s*\?)`, `alguem (?:le|escreve|reve|revisa|responde)\b`, `nome de verdade|nome verdadeiro|como (?:te chamas|voce se chama)`, `(?:a falar|falando|conversando|a conversar) com (?:um[a]? )?(?:` + selfPt + `)\b`, `(?:humano|robo|ia|maquina|pessoa|real|mulher) ou (?:um[a]? |e )?(?:ia|humano|robo|maquina|bot|pessoa|computador|robot)`, `mesma pessoa que`, `um algoritmo|copy[- ]?paste|copia e cola`, `se (?:es|voce e|vc e) (?:uma )?(?:pessoa|gente|humano|robo)`, `(?:e|es) gente mesmo`, `pagam-te|te pagam`, `(?:senhor|senhora)\b[^.!?]{0,10}\bou e uma maquina`, //nolint:misspell // Portuguese
}, "|") + `)`)

// foldAccents returns a text in small letters without accents.
func foldAccents(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case r == '’':
			return '\''
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(text))
}

// isCalled matches who only calls for an answer, in folded words: it is asked by those who
// wait, whatever they take the coach for.
var isCalled = regexp.MustCompile(`^\P{L}*(?:(?:hello|hi|hey|hallo|allo|hola|oi|ola)\P{L}+)?(?:(?:are|r) (?:you|u) (?:still )?there|bist du (?:noch )?da|(?:t'es|tu es|es[- ]tu) (?:toujours )?la|estas ahi|(?:voce )?(?:esta|ta) ai|estas ai)\P{L}*$`)

// leastAsks is the score from which a text asks it without a word of the rules. Of everyday
// messages one in 300 is taken for such a question, and answered truthfully without need.
const leastAsks = 2

// AsksWhatItIs reports whether a text of a person asks what answers it: a person, a
// program, which one. It reads five languages, also a question within a longer text.
func AsksWhatItIs(body string) bool {
	folded := foldAccents(body)
	if isCalled.MatchString(folded) {
		return false
	}
	return asksSelf.MatchString(folded) || score().Asks.Of(ReadDraft("", body)) >= leastAsks
}
