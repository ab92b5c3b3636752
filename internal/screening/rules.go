package screening

import (
	"bufio"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"coachline/internal/text"
)

// The rules of a language are one file, and how its words are spelled is another, which
// is read before it. Lines are statements; a line that begins with blanks goes on with the
// statement before it, and one that begins with # is a comment. docs/screening.md describes how to write them.
//
//	sound a=b ...        how misspelled words sound alike, in order
//	apostrophe splits    "j'ai" is two words and not one
//	words ...            words that are never taken for a misspelling
//	stems ...            words that are recognised with one letter wrong, and
//	                     when words are written together
//	map x = y z          what is typed and what is meant
//	join x y = z         words that are one
//	class NAME = ...     a part of patterns
//	except NAME          what narrows the rules that name it
//	rule id tier kind unless NAME ...
//	                     with "-any" behind the tier it acts at any score, with
//	                     "-form" only where the text's is that of a request to end
//
// The lines of an exception begin with "before", "after" or "near" and a
// pattern: it must end where the match begins, begin where it ends, or stand
// within four words of it. The lines of a rule are patterns, one of which must
// match. An exception acts on the match of its own rule only: it takes no
// finding of another rule back.
//
// Beside them is a file of common words of all languages that are not taken for a
// misspelling of a word of the rules.
//
//go:embed rules/*.rules rules/*.words rules/common.txt
var ruleFiles embed.FS

// exceptionReach is how many words before and after a match an exception sees;
// the end of a sentence counts as one.
const exceptionReach = 5

type rule struct {
	id   string
	tier tier
	kind string
	// isAnyScore says that a match has the rule's tier at any score around it.
	isAnyScore bool
	// isForm says that the rule has the form of a request alone, and acts where the score
	// of the text is that of one.
	isForm   bool
	patterns []*node
	unless   []*exception
}

// exception keeps a rule from matching where one of its alternatives does.
type exception struct {
	before, after, near node
}

func newException() *exception {
	return &exception{before: node{op: opAlt}, after: node{op: opAlt}, near: node{op: opAlt}}
}

// entry is what a language knows of a word.
type entry struct {
	atoms []int32
}

type ruleSet struct {
	language string
	place    int // among languages
	rules    []rule
	// byAnchor lists, for an atom, the patterns that may match where it occurs.
	byAnchor [][]patternRef
	atoms    int
	patterns int

	exact    map[string]*entry
	prefixes map[string]*entry
	// prefixSizes has the lengths of prefixes as bits: of all, and by the hash of
	// their first two letters.
	prefixSizes [1 + prefixHeads]uint64
	respell     respelling

	// known has all words of exact and of respell.
	known map[string]*wordInfo
	// What stands for any word, a number, a name and the end of a sentence.
	anyWord, number, name, sentenceEnd *entry
	// memos is how many nodes have a place in window.memos.
	memos int32
}

// prefixHeads is how many sets of lengths of prefixes there are.
const prefixHeads = 1 << 9

// patternRef is a pattern of a rule. It does not match where one of needs does not
// occur, which is looked at first, because most patterns end there and are then not
// read at all.
type patternRef struct {
	rule, number int32 // number counts the patterns of all rules
	needs        [2]int32
	pattern      *node
}

// ruleSets holds the rules of all languages, read once.
var ruleSets = sync.OnceValue(func() []*ruleSet {
	sets := make([]*ruleSet, len(languages))
	common := commonWords()
	for i, language := range languages {
		words, err := ruleFiles.ReadFile("rules/" + language + ".words")
		rules, missing := ruleFiles.ReadFile("rules/" + language + ".rules")
		if err = errors.Join(err, missing); err == nil {
			sets[i], err = parseRules(language, string(words)+string(rules))
		}
		if err != nil {
			panic(fmt.Sprintf("screening: rules of %s: %v", language, err)) // a test reads all files
		}
		sets[i].respell.common = common
		sets[i].place = i
	}
	return sets
})

// commonWords are the words that are no misspellings.
var commonWords = sync.OnceValue(func() map[string]bool {
	list, err := ruleFiles.ReadFile("rules/common.txt")
	if err != nil {
		panic("screening: " + err.Error()) // a test reads it
	}
	return text.WordSet(string(list))
})

// spelling is what each of languages knows of a word, or nil.
type spelling [len(languageList)]*wordInfo

// lexicon holds the words that any language knows.
var lexicon = sync.OnceValue(func() map[string]*spelling {
	all := map[string]*spelling{}
	for i, set := range ruleSets() {
		for word, info := range set.known {
			if all[word] == nil {
				all[word] = &spelling{}
			}
			all[word][i] = info
		}
	}
	return all
})

type ruleReader struct {
	set        *ruleSet
	parser     parser
	exceptions map[string]*exception
	atomIDs    map[string]int32
	sizes      []int
	exception  *exception
	rule       *rule
}

func parseRules(language, text string) (*ruleSet, error) {
	set := &ruleSet{language: language, exact: map[string]*entry{}, prefixes: map[string]*entry{}}
	set.respell.makeMaps()
	r := &ruleReader{set: set, exceptions: map[string]*exception{}, atomIDs: map[string]int32{}}
	r.parser = parser{classes: map[string]*node{}, joins: set.respell.joins, atom: r.atomID}
	for _, s := range splitStatements(text) {
		if err := r.readStatement(s.text); err != nil {
			return nil, fmt.Errorf("line %d: %w", s.line, err)
		}
	}
	r.endRule()
	if len(set.rules) == 0 {
		return nil, errors.New("no rules")
	}
	r.buildIndex()
	return set, nil
}

type statement struct {
	line int
	text string
}

func splitStatements(text string) []statement {
	var all []statement
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.HasPrefix(line, "#") {
			continue
		}
		// The patterns of a rule are statements of their own; a class goes on
		// while its lines begin with blanks.
		if line != strings.TrimLeft(line, " \t") && len(all) > 0 && !opensBlock(all[len(all)-1].text) {
			all[len(all)-1].text += " " + trimmed
			continue
		}
		if line != strings.TrimLeft(line, " \t") {
			trimmed = "pattern " + trimmed
		}
		all = append(all, statement{n, trimmed})
	}
	return all
}

func opensBlock(text string) bool {
	verb, _, _ := strings.Cut(text, " ")
	return verb == "rule" || verb == "except" || verb == "pattern"
}

func (r *ruleReader) readStatement(text string) error {
	verb, rest, _ := strings.Cut(text, " ")
	if verb != "pattern" {
		r.endRule()
	}
	switch verb {
	case "sound", "apostrophe", "words", "stems", "map", "join":
		return r.set.readSpelling(verb, rest)
	case "class":
		return r.readClass(rest)
	case "except":
		r.exception = newException()
		r.exceptions[rest] = r.exception
		return nil
	case "rule":
		return r.beginRule(strings.Fields(rest))
	case "pattern":
		return r.readPattern(rest)
	}
	return fmt.Errorf("unknown statement %q", verb)
}

func (r *ruleReader) readClass(rest string) error {
	name, members, ok := strings.Cut(rest, "=")
	name = strings.TrimSpace(name)
	if !ok || name == "" || !isClassName(name) {
		return fmt.Errorf("a class needs a name in capitals and a list: %q", rest)
	}
	class, err := r.parser.parsePattern(members)
	if err == nil && class.op == opAlt && len(class.kids) > 1 {
		r.set.memos++
		class.memo = r.set.memos
	}
	r.parser.classes[name] = class
	return err
}

func (r *ruleReader) beginRule(fields []string) error {
	if len(fields) < 3 {
		return fmt.Errorf("a rule needs an id, a tier and a kind: %q", fields)
	}
	name, isAnyScore := strings.CutSuffix(fields[1], "-any")
	name, isForm := strings.CutSuffix(name, "-form")
	tier, err := parseTier(name)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(r.set.rules, func(other rule) bool { return other.id == fields[0] }) {
		return fmt.Errorf("two rules %s", fields[0])
	}
	if tier.isDanger() && kinds[fields[2]] == "" {
		return fmt.Errorf("unknown kind %q", fields[2])
	}
	r.rule = &rule{id: fields[0], tier: tier, kind: fields[2], isAnyScore: isAnyScore, isForm: isForm}
	for i, name := range fields[3:] {
		if i == 0 && name == "unless" {
			continue
		}
		if r.exceptions[name] == nil {
			return fmt.Errorf("no exception %s", name)
		}
		r.rule.unless = append(r.rule.unless, r.exceptions[name])
	}
	return nil
}

func (r *ruleReader) readPattern(text string) error {
	where, rest, _ := strings.Cut(text, " ")
	target := map[string]bool{"before": true, "after": true, "near": true}[where]
	if r.exception == nil && (r.rule == nil || target) {
		if r.rule == nil {
			return fmt.Errorf("a pattern without a rule: %q", text)
		}
		// A narrowing of this rule alone.
		if len(r.rule.patterns) == 0 || !target {
			return fmt.Errorf("an exception before the patterns: %q", text)
		}
		own := newException()
		r.rule.unless = append(r.rule.unless, own)
		return r.addException(own, where, rest)
	}
	if r.exception != nil {
		return r.addException(r.exception, where, rest)
	}
	found, err := r.parser.parsePattern(text)
	r.rule.patterns = append(r.rule.patterns, found)
	return err
}

func (r *ruleReader) addException(e *exception, where, text string) error {
	found, err := r.parser.parsePattern(text)
	if err != nil {
		return err
	}
	switch where {
	case "before":
		e.before.kids = append(e.before.kids, found)
	case "after":
		e.after.kids = append(e.after.kids, found)
	case "near":
		e.near.kids = append(e.near.kids, found)
	default:
		return fmt.Errorf("an exception begins with before, after or near: %q", text)
	}
	return nil
}

func (r *ruleReader) endRule() {
	if r.rule != nil {
		r.set.rules = append(r.set.rules, *r.rule)
	}
	r.rule, r.exception = nil, nil
}

// atomID returns the number of a set of words, "#" for numbers among them.
func (r *ruleReader) atomID(list []string) (int32, error) {
	words := make([]string, len(list))
	for i, word := range list {
		words[i] = foldWord(word)
		// What is typed is read as what is meant before patterns see it.
		if meant := r.set.respell.meant[words[i]]; len(meant) == 1 {
			words[i] = meant[0]
		}
	}
	slices.Sort(words)
	words = slices.Compact(words)
	key := strings.Join(words, "|")
	if id, ok := r.atomIDs[key]; ok {
		return id, nil
	}
	id := int32(len(r.atomIDs))
	r.atomIDs[key] = id
	size := 0
	for _, word := range words {
		into := r.set.exact
		if stem, ok := strings.CutSuffix(word, "*"); ok {
			word, into = stem, r.set.prefixes
			r.set.addPrefixSize(stem)
			size += 10
		}
		if word == "" || len(word) > 60 {
			return 0, fmt.Errorf("bad word in %q", list)
		}
		if into[word] == nil {
			into[word] = &entry{}
		}
		into[word].atoms = append(into[word].atoms, id)
		size++
	}
	r.sizes = append(r.sizes, size)
	return id, nil
}

// foldWord puts a word of a rule file into the form that words of texts have.
func foldWord(word string) string {
	stem, isPrefix := strings.CutSuffix(word, "*")
	if strings.HasPrefix(word, ":") || word == "#" || word == ";" || word == "_" || word == "@" {
		return word
	}
	var t tokens
	t.readBody(stem)
	var out []byte
	for i := range t.spans {
		out = append(out, t.textAt(i)...)
	}
	if isPrefix {
		out = append(out, '*')
	}
	return string(out)
}

func (r *ruleReader) buildIndex() {
	set := r.set
	set.atoms = len(r.atomIDs)
	set.memos++ // the first place is that of nodes without a memo
	set.byAnchor = make([][]patternRef, set.atoms)
	size := func(atom int32) int { return r.sizes[atom] }
	for i, rule := range set.rules {
		for _, pattern := range rule.patterns {
			pattern.noteNeeds(size)
		}
		for _, e := range rule.unless {
			e.before.noteNeeds(size)
			e.after.noteNeeds(size)
			e.near.noteNeeds(size)
		}
		for _, pattern := range rule.patterns {
			needs := pattern.listNeeds()
			slices.SortStableFunc(needs, func(a, b int32) int { return size(a) - size(b) })
			for _, atom := range pattern.findAnchors(size) {
				ref := patternRef{rule: int32(i), number: int32(set.patterns), needs: [2]int32{atom, atom}, pattern: pattern}
				copy(ref.needs[:], slices.DeleteFunc(slices.Clone(needs), func(a int32) bool { return a == atom }))
				set.byAnchor[atom] = append(set.byAnchor[atom], ref)
			}
			set.patterns++
		}
	}
	set.respell.buildIndexes(set)
}
