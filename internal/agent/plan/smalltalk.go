package plan

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// minQuery is the least length, in characters, that a planner is asked about.
const minQuery = 4

// maxPhrase is the number of words of the longest phrase below.
const maxPhrase = 4

// smallTalk are greetings, thanks and acknowledgements, one phrase between
// bars. Answers that report something ("done", "I walked") are not among them:
// they may call for a tool.
var smallTalk = phraseSet(
	// English
	`hi|hello|hey|hiya|howdy|good morning|morning|good afternoon|good evening|good night|goodnight|bye|goodbye|see you|see ya|
	see you tomorrow|see you later|talk soon|talk to you later|how are you|what's up|thanks|thank you|thx|ty|tysm|many thanks|cheers|
	thanks a lot|thank you kindly|much appreciated|appreciate it|ok|okay|k|kk|okey dokey|alright|all right|yes|yep|yeah|yup|no|nope|
	sure|sure thing|of course|absolutely|great|awesome|cool|nice|perfect|wonderful|excellent|amazing|fantastic|lovely|good|fine|got it|
	gotcha|sounds good|sounds great|that sounds good|makes sense|i see|understood|noted|will do|no problem|no worries|you're welcome|
	you too|same to you|have a nice day|have a good one|have a great day|lol|haha|hahaha|wow|yay`,
	// Spanish
	`hola|buenos días|buenos dias|buenas tardes|buenas noches|buenas|buen día|adiós|adios|chao|hasta luego|hasta mañana|gracias|
	muchas gracias|mil gracias|vale|sí|si|claro|claro que sí|perfecto|genial|de acuerdo|entendido|muy bien|está bien|esta bien|bien|
	estupendo|de nada|por supuesto|cómo estás|como estas|qué tal|que tal|jaja|jajaja`,
	// French
	`bonjour|salut|coucou|bonsoir|bonne nuit|bonne journée|bonne soirée|au revoir|à demain|à bientôt|merci|merci beaucoup|merci bien|
	mille mercis|d'accord|ok d'accord|oui|non|ouais|bien sûr|parfait|super|génial|très bien|c'est bon|ça marche|ca marche|compris|
	entendu|de rien|ça va|comment ça va`,
	// German
	`hallo|servus|moin|guten morgen|guten tag|guten abend|gute nacht|tschüss|tschüs|ciao|bis morgen|bis dann|bis später|danke|
	danke schön|dankeschön|danke sehr|vielen dank|besten dank|ja|nein|nee|klar|na klar|gut|sehr gut|alles klar|in ordnung|passt|prima|
	perfekt|toll|super danke|verstanden|einverstanden|bitte|gern|gerne|wie geht's`,
	// Portuguese
	`olá|ola|oi|bom dia|boa tarde|boa noite|tchau|até logo|até amanhã|obrigado|obrigada|muito obrigado|muito obrigada|valeu|sim|não|nao|
	tá|tá bom|ta bom|está bem|beleza|certo|combinado|ótimo|otimo|perfeito|legal|entendi|de nada|tudo bem|claro que sim`,
	// Italian
	`buongiorno|buon giorno|buonasera|buona sera|buonanotte|buona notte|arrivederci|a domani|a presto|grazie|grazie mille|
	molte grazie|tante grazie|sì|va bene|d'accordo|certo|perfetto|ottimo|bene|benissimo|capito|ho capito|prego|di niente|come stai`,
	// Dutch
	`hoi|dag|goedemorgen|goedemiddag|goedenavond|goedenacht|welterusten|doei|tot morgen|tot ziens|bedankt|dank je|dank je wel|dankjewel|
	dank u|dank u wel|nee|oké|oke|prima|goed|heel goed|begrepen|mooi|leuk|graag gedaan|is goed|komt goed|hoe gaat het`,
	// Turkish
	`merhaba|selam|günaydın|iyi günler|iyi akşamlar|iyi geceler|hoşça kal|görüşürüz|teşekkürler|teşekkür ederim|çok teşekkürler|
	çok teşekkür ederim|sağ ol|sağol|sağ olun|evet|hayır|tamam|tamamdır|peki|olur|tabii|tabi|güzel|harika|süper|anladım|rica ederim|
	nasılsın`,
)

// fillers may stand beside small talk and are none alone.
var fillers = phraseSet(`coach|there|so much|very much|a lot|again|everyone|all|then|and|for that|for your help|for the help|for everything|
	por todo|por tu ayuda|y|pour tout|et|für alles|und|por tudo|per tutto|e|voor alles|en|her şey için|ve|very|so|too|much`)

// phraseSet returns the set of the phrases in lists, which stand between bars.
func phraseSet(lists ...string) map[string]bool {
	set := map[string]bool{}
	for _, list := range lists {
		for phrase := range strings.SplitSeq(list, "|") {
			set[strings.Join(strings.Fields(phrase), " ")] = true
		}
	}
	return set
}

// Needed reports whether a redacted text is worth a planner. It is not when it
// has less than four characters, or is nothing but greeting, thanks or
// acknowledgement in one of the languages that are known here; then ReplyOnly
// is the plan and the answer costs one model call.
func Needed(query string) bool {
	if utf8.RuneCountInString(strings.TrimSpace(query)) < minQuery {
		return false
	}
	words := plainWords(query)
	if len(words) == 0 {
		// Signs and pictures acknowledge.
		return false
	}
	said := false
	for i := 0; i < len(words); {
		n, talk := phraseAt(words[i:])
		if n == 0 {
			return true
		}
		said = said || talk
		i += n
	}
	return !said
}

// answers are small talk that answers a question, so that they say something.
var answers = phraseSet(`yes|yep|yeah|yup|no|nope|sí|si|sì|oui|non|ouais|ja|nein|nee|sim|não|nao|evet|hayır|olur|sure|sure thing|of course|
	absolutely|claro|claro que sí|claro que sim|por supuesto|bien sûr|klar|na klar|tabii|tabi|certo`)

// Acknowledges reports whether a text of the coach says nothing of its own: it
// is empty, or greeting, thanks or acknowledgement. A question, a number
// and an answer say something, however short.
func Acknowledges(text string) bool {
	if strings.Contains(text, "?") || strings.ContainsFunc(text, unicode.IsDigit) || Needed(text) {
		return false
	}
	words := plainWords(text)
	for i := 0; i < len(words); {
		n, _ := phraseAt(words[i:])
		n = max(n, 1)
		if answers[strings.Join(words[i:i+n], " ")] {
			return false
		}
		i += n
	}
	return true
}

// phraseAt finds the longest phrase that the words begin with; talk is false
// for a filler.
func phraseAt(words []string) (n int, talk bool) {
	for n := min(len(words), maxPhrase); n > 0; n-- {
		phrase := strings.Join(words[:n], " ")
		if smallTalk[phrase] {
			return n, true
		}
		if fillers[phrase] {
			return n, false
		}
	}
	return 0, false
}

// plainWords returns the lower-cased runs of letters, marks, digits and
// apostrophes.
func plainWords(text string) []string {
	text = strings.ReplaceAll(strings.ToLower(text), "’", "'")
	fields := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !isTextMark(r) && !unicode.IsDigit(r) && r != '\''
	})
	words := fields[:0]
	for _, word := range fields {
		if word = strings.Trim(word, "'"); word != "" {
			words = append(words, word)
		}
	}
	return words
}

// isTextMark leaves out the marks that choose how a picture is drawn.
func isTextMark(r rune) bool {
	return unicode.IsMark(r) && !unicode.Is(unicode.Variation_Selector, r) && r != '\u20e3'
}
