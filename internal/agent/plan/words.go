package plan

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"coachline/internal/text"
	"coachline/models"
)

const (
	// minWord is the least length of a word that may match, in characters.
	minWord = 3
	// maxWords is how many distinct words of a text are compared.
	maxWords = 400
	// minStem and maxEnding let "reminders" meet "remind" and "scheduler"
	// "schedule" without a dictionary of any language.
	minStem   = 4
	maxEnding = 3
	// tellingTools is the least catalogue in which a word that most tools
	// share is taken to tell nothing.
	tellingTools = 3
)

// emptyWords are the words of English descriptions that say nothing about a
// tool. Descriptions are English; other languages come in by keywords.
var emptyWords = text.WordSet(`about above after all also and any are because been before being but can could did does doing done
	down each few for from give given gives had has have having her here him his how into its itself just leave like more most
	must need needs new not now off once only onto other our out over own please same see she should show shows some such take
	takes than that the their them then there these they thing this those through too tool under until upon use used uses using
	very was way were what when where which while who whom why will with would yes you your`)

// wordsOf lists the distinct words of a text: runs of letters, marks and
// digits, lower-cased, without short ones and empty ones, 400 at most.
func wordsOf(text string) []string {
	var out []string
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	})
	for _, word := range fields {
		if len(out) == maxWords {
			break
		}
		if utf8.RuneCountInString(word) >= minWord && !emptyWords[word] && !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

// nameWords divides a name in snake_case or camelCase.
func nameWords(name string) string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		if lower && unicode.IsUpper(r) {
			b.WriteRune(' ')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(r)
	}
	return b.String()
}

// knownTools bounds a memo; a programme has some dozens of tools.
const knownTools = 256

// memo remembers the words of tools, which every turn asks for again.
type memo struct {
	mu    sync.Mutex
	tools map[toolKey]cachedWords
}

// toolKey identifies a tool without its keywords.
type toolKey struct{ name, description string }

// cachedWords are the words of a tool, with the keywords they were made from.
type cachedWords struct {
	keywords []string
	words    lexicon
}

// lexicon is the words of a tool by their beginning, which words that are alike
// share.
type lexicon map[string][]string

func lexiconOf(words []string) lexicon {
	l := make(lexicon, len(words))
	for _, word := range words {
		l[word[:minWord]] = append(l[word[:minWord]], word)
	}
	return l
}

// wordsLike returns the words that begin as a word does, which must have
// minWord characters at least.
func (l lexicon) wordsLike(word string) []string { return l[word[:minWord]] }

var known memo

// toolWords returns the words of each tool; callers must not change them.
func (m *memo) toolWords(tools []models.ToolSpec) []lexicon {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]lexicon, len(tools))
	for i, tool := range tools {
		key := toolKey{tool.Name, tool.Description}
		one, ok := m.tools[key]
		if !ok || !slices.Equal(one.keywords, tool.Keywords) {
			text := nameWords(tool.Name) + " " + tool.Description + " " + strings.Join(tool.Keywords, " ")
			one = cachedWords{slices.Clone(tool.Keywords), lexiconOf(wordsOf(text))}
			if m.tools == nil || len(m.tools) >= knownTools {
				m.tools = map[toolKey]cachedWords{}
			}
			m.tools[key] = one
		}
		out[i] = one.words
	}
	return out
}

// isTelling reports whether a word tells tools apart; one that most tools share
// does not.
func isTelling(word string, vocabulary []lexicon) bool {
	if len(vocabulary) < tellingTools {
		return true
	}
	count := 0
	for _, words := range vocabulary {
		if slices.Contains(words.wordsLike(word), word) {
			count++
		}
	}
	return count*2 <= len(vocabulary)
}

// isAlike reports whether two words are equal, or one is the other with a short
// ending.
func isAlike(a, b string) bool {
	if a == b {
		return true
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	return strings.HasPrefix(b, a) && utf8.RuneCountInString(a) >= minStem &&
		utf8.RuneCountInString(b)-utf8.RuneCountInString(a) <= maxEnding
}

// countHits counts the words of a query that each tool's words meet.
func countHits(query string, tools []models.ToolSpec) []int {
	asked := wordsOf(query)
	vocabulary := known.toolWords(tools)
	out := make([]int, len(tools))
	for i, words := range vocabulary {
		for _, word := range asked {
			if slices.ContainsFunc(words.wordsLike(word), func(other string) bool { return isAlike(word, other) && isTelling(other, vocabulary) }) {
				out[i]++
			}
		}
	}
	return out
}

func byWords(query string, tools []models.ToolSpec) ([]string, bool) {
	picked := map[string]bool{}
	for i, n := range countHits(query, tools) {
		if n > 0 {
			picked[tools[i].Name] = true
		}
	}
	return inOrder(tools, picked), len(picked) > 0
}

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
