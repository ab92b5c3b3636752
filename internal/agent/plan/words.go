package plan

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"coachline/models"
)

const (
	// minWord is the least length of a word that may match, in characters.
	minWord = 3
	// maxWords is how many distinct words of a text are compared.
	maxWords = 200
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
var emptyWords = wordSet(`about above after all also and any are because been before being but can could did does doing done
	down each few for from give given gives had has have having her here him his how into its itself just leave like more most
	must need needs new not now off once only onto other our out over own please same see she should show shows some such take
	takes than that the their them then there these they thing this those through too tool under until upon use used uses using
	very was way were what when where which while who whom why will with would yes you your`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

// wordsOf lists the distinct words of a text: runs of letters, marks and
// digits, lower-cased, without short ones and empty ones, 200 at most.
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
		if hasItem(words.wordsLike(word), word) {
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

// hasItem reports whether a list holds a name or a word.
func hasItem(names []string, name string) bool { return slices.Contains(names, name) }
