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

// Patterns of words without accents. made names a program by a word that has no other
// meaning in a text to a coach, kind names any person or thing that may answer, and the
// others are forms of address and of questions.
const (
	made = `(?:(?:chat)?bots?|botti|robots?|roboter\p{L}*|robos?|chat ?gpt|gpt|gemini|siri|alexa|(?:an|by|with|some|or) ai|ai ?\?|(?:ne|eine?r?|die|der|per|mit|oder|doch|sone) (?:ki|ai)|ki ?\?|(?:une?|una|uma|l'|usas?|por|com|con|ces|ou|o) ?ia|ia ?\?|algorith?m\p{L}*|algoritm\p{L}*|software|logiciel|(?:i|o)nteligencia artificial|intelligence artificielle|artificial intelligence|kunstliche intelligenz|(?:human|living) being|flesh and blood|fleisch und blut|carne y hueso|carne e osso|chair et (?:en )?os|ser human[oa]|etre humain|se[rs] humanos?|echter? (?:mensch\p{L}*|person)|reale person|real (?:person|human)|vraie? (?:personne|humain)|persona (?:real|de verdad)|pessoa (?:real|de verdade)|personne (?:physique|reelle)|quelqu'un de reel|repondeur|contestador\p{L}*)` //nolint:misspell // other languages
	kind = `(?:` + made + `|bots?|humans?|persons?|people|someone|somebody|machines?|computers?|program\p{L}*|scripts?|code|app|mensch\p{L}*|person|personen|leute|maschine\p{L}*|rechner|computer|skript|software|gerat|blech|automat\p{L}*|maschinell|humain\p{L}*|personnes?|gens|quelqu'un|ordi\p{L}*|programme|appli|automatique|monsieur|dame|human[oa]s?|personas?|gente|alguien|maquinas?|computador\p{L}*|ordenador|programa|sistema|codigo|pessoas?|alguem|equipo|equipe|virtual|artificial|kunstlich|echt|real|vivant|viv[oa]|einer|jemand)`                                                                                                                                                                                                                                               //nolint:misspell // other languages
	near = `(?:you|u|ur|you're|youre|yourself|du|dir|dich|dein\p{L}*|bist|bist's|ihr|euch|tu|t|toi|ton|vous|eres|sos|eri|usted|ustedes|te|ti|vos|contigo|tuyo|vc|voce|ce|senhor|senhora|tas|contigo|ves|veces|` +
		`talking|texting|chatting|speaking|red|rede|schreib|schreibe|sprech\p{L}*|chatte|j?parle|discute|textote|ecris|confie\p{L}*|m'adresse|hablo|hablando|hablar|escribo|chate\p{L}*|falo|falando|falar|converso|conversando|confes\p{L}*|` +
		`here|behind|other end|other side|hier|dahinter|druben|anderen ende|derriere|ici|autre cote|detras|otro lado|por tras|outro lado|desse lado|aqui|isso aqui|esto|answer\p{L}*|repl\p{L}*|antwort\p{L}*|repond\p{L}*|responde\p{L}*|contest\p{L}*|lit|liest|lee|leyendo|lendo|reads?|reading|me le)`
	asking = `(?:\?|\b(?:are|is|r|wonder\p{L}*|honest\p{L}*|prove|tell me|admit|confess|know|say|bist|ist|sind|sag\p{L}*|gib\p{L}*|beweis\p{L}*|ehrlich|wissen|oder|or|ou|o|verdad|dime|confiesa|prueba|saber|diz|prova|avoue|dis|mentir|savoir|jure|ne|no|eh|acho|aposto|seguro|glaub\p{L}*|doch)\b)`
)

// asksKind matches a sentence that asks which of two kinds answers, or is a question of one
// word; asksMade one that asks whether a made thing does.
var (
	asksKind = regexp.MustCompile(`\b` + kind + `[,. ]{1,3}(?:or|oder|ou|o|u|e)(?: (?:etwa|doch|bien|just|only|nur|solo|so|sino|an?|ein\p{L}*|ne|une?|una?|uma?|so'n|n|es|e|eher|rather|is it|ist da|actually|really|echt|real|quoi|habt ihr|so|puro|du|de l|del))* ` + kind + `\b|\b(?:` + kind + `) (?:or|oder|ou|o) (?:not|nicht|pas|no|nao|nix)\b|^\P{L}*(?:(?:hallo|hello|hi|hey|hola|oi|und|and|et|y|e|a|an|ein)\P{L}+)?` + made + `\P{L}*\?|^\P{L}*hallo\P{L}+mensch\P{L}+$`)
	asksMade = regexp.MustCompile(`\b` + made + `(?:[^\p{L}]|$)`)
	isNear   = regexp.MustCompile(`(?:^|[^\p{L}])` + near + `(?:[^\p{L}]|$)`)
	isAsking = regexp.MustCompile(asking)
	// namesKind matches a word for what answers, or the question who does.
	namesKind = regexp.MustCompile(`(?:^|[^\p{L}])(?:` + kind + `|who|whos|who's|whose|anybody|anyone|wer|wem|wen|qui|quien|quem|name|nombre|nom|prenom|nome|alive|exist\p{L}*|lebst|vivo|viva|siri|alexa)(?:[^\p{L}]|$)`)
)

// asksInSentence reports whether a sentence of folded words asks what answers: by a made
// thing, somebody near and the form of a question.
func asksInSentence(sentence string) bool {
	if asksKind.MatchString(sentence) {
		return true
	}
	return asksMade.MatchString(sentence) && isNear.MatchString(asksMade.ReplaceAllString(sentence, " ")) && isAsking.MatchString(sentence)
}

// sentenceOf are sentences with the mark at their end.
var sentenceOf = regexp.MustCompile(`[^.!?\n…]+[.!?…]*`)

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

// leastAsks is the score from which a text asks it without a word of the rules,
// leastNaming that of one which asks and names what may answer. Of everyday messages one
// in 300 is taken for such a question, and answered truthfully without need.
const leastAsks, leastNaming = 2.2, 1

// AsksWhatItIs reports whether a text of a person asks what answers it: a person, a
// program, which one. It reads five languages, also a question within a longer text.
func AsksWhatItIs(body string) bool {
	folded := foldAccents(body)
	if isCalled.MatchString(folded) {
		return false
	}
	for _, sentence := range sentenceOf.FindAllString(folded, -1) {
		if asksInSentence(sentence) {
			return true
		}
	}
	if asksSelf.MatchString(folded) {
		return true
	}
	least := float32(leastAsks)
	if namesKind.MatchString(folded) && isAsking.MatchString(folded) {
		least = leastNaming
	}
	return score().Asks.Of(ReadDraft("", body)) >= least
}
