package screening

import (
	"math/bits"
	"slices"
)

// finding is a rule that matched and was not narrowed away.
type finding struct {
	rule *rule
	set  *ruleSet
	// tier is that of the rule, or tierB where the score does not bear a grave one out.
	tier tier
	// from and to are the tokens that matched.
	from, to int
}

// scanner reads texts with the rules of all languages. It keeps its memory from
// one text to the next and is used by one goroutine at a time.
type scanner struct {
	tokens   tokens
	spelled  []*spelling // what languages know of each token
	versions []version
	window   window
	seen     []bool
	tried    []uint64 // a bit for each pattern
	findings []finding
	features Features
	// isLimited says that an exception kept a rule from finding a request, or that
	// all of the text is known for none.
	isLimited bool
	// isDoubted says that a request was found that is negated or asked about.
	isDoubted bool
	// isExcused says that an exception kept a rule from finding a danger.
	isExcused bool
	// asked is how far the score of the text lies above that of one which may ask to end
	// the messages, or never where it is too short to have one.
	asked float32
}

// version is a text as one language reads it.
type version struct {
	words []wordAt
	chars []byte
	// readings are what unknown words may be, in the order of their first use.
	readings []*entry
	// known counts, for each token, the tokens before it that the language knows.
	known []int32
}

// wordAt is a word of a version, or the end of a sentence. It stands for the
// tokens from one position up to another.
type wordAt struct {
	start, end int32
	from, to   int32
	before     gapKind
	isBreak    bool

	// What the language knows of the word, or the range of readings that it may
	// be where it is not known.
	state              wordState
	entry              *entry
	readFrom, readUpTo int32
}

// wordState says what is known of a word of a version so far.
type wordState uint8

const (
	wordUnread wordState = iota
	wordKnown
	wordUnknown
	wordRead // unknown, and its readings are listed
)

func (v *version) textAt(i int) []byte { return v.chars[v.words[i].start:v.words[i].end] }

// scanBody collects the findings of all languages.
func (s *scanner) scanBody(body string) []finding {
	s.tokens.readBody(body)
	s.findings, s.isLimited, s.isDoubted, s.isExcused = s.findings[:0], false, false, false
	s.window.work = 0
	sets := ruleSets()
	s.lookUpTokens()
	if len(s.versions) != len(sets) {
		s.versions = make([]version, len(sets))
	}
	s.features.readTokens(&s.tokens)
	s.scanReading(sets, nil)
	if joined := s.tokens.joinBroken(); len(joined) > 1 {
		s.scanReading(sets, joined)
	}
	return s.findings
}

// scanReading adds the findings of all languages in the text as it is cut into
// sentences now. Where joined names tokens before which a sentence does not end
// any more, it reads only what is near them: the rest was read before.
func (s *scanner) scanReading(sets []*ruleSet, joined []int) {
	for i, set := range sets {
		if joined == nil {
			s.spellWords(set, &s.versions[i])
			continue
		}
		s.versions[i].joinSentences(joined)
	}
	if joined == nil {
		s.asked = s.scoreRequest()
	}
	for i, set := range sets {
		s.matchAll(set, i, joined)
	}
}

// matchAll matches the rules of one language, window by window.
func (s *scanner) matchAll(set *ruleSet, language int, joined []int) {
	words := s.versions[language].words
	for from := 0; from < len(words); from += windowWords - windowOverlap {
		to := min(from+windowWords, len(words))
		if s.canMatch(language, int(words[from].from), int(words[to-1].to), joined) {
			s.fillWindow(set, language, from, to)
			s.matchRules(set, language, from)
		}
		if to == len(words) {
			break
		}
	}
}

// canMatch reports whether tokens can hold something new of a language: some of
// them may be in it, and near them is a sentence that was joined, where that is
// what has changed. A match covers at least one token, and what surrounds it
// decides on its language.
func (s *scanner) canMatch(language, from, to int, joined []int) bool {
	isNear := func(at int) bool { return at >= from-foreignReach && at <= to+foreignReach }
	if joined != nil && !slices.ContainsFunc(joined, isNear) {
		return false
	}
	for i := from; i < to; i++ {
		if !s.isForeignPart(language, i, i+1) {
			return true
		}
	}
	return false
}

// joinSentences takes the ends of sentences before some tokens away. The words of a
// version do not depend on them.
func (v *version) joinSentences(joined []int) {
	kept := v.words[:0]
	next := 0
	for _, word := range v.words {
		for next < len(joined) && joined[next] < int(word.from) {
			next++
		}
		if next < len(joined) && joined[next] == int(word.from) {
			if word.isBreak {
				continue
			}
			if word.before == gapSentence {
				word.before = gapNone
			}
		}
		kept = append(kept, word)
	}
	v.words = kept
}

// spellWords writes the tokens as words of a language: parts that an apostrophe
// joins, words that are spelled out, cut in two or run together.
func (s *scanner) spellWords(set *ruleSet, v *version) {
	v.words, v.chars, v.known, v.readings = v.words[:0], v.chars[:0], append(v.known[:0], 0), v.readings[:0]
	t := &s.tokens
	for i := 0; i < len(t.spans); {
		before := t.spans[i].before
		if before == gapSentence && len(v.words) > 0 {
			v.words = append(v.words, wordAt{isBreak: true, from: int32(i), to: int32(i)})
		}
		w := wordAt{start: int32(len(v.chars)), from: int32(i), before: before}
		first := i
		n := s.spelledOut(v, i)
		if n == 0 {
			v.chars = append(v.chars, t.textAt(i)...)
			n = 1
			for i+n < len(t.spans) && t.spans[i+n].isGlued && !set.respell.splitsAtMarks {
				v.chars = append(v.chars, t.textAt(i+n)...)
				n++
			}
		}
		n += s.joinNext(set, v, int(w.start), i+n)
		i += n
		w.to = int32(i)
		isKnown := v.addWord(set, w, s.infoOf(set, first, n, v.chars[w.start:]))
		for range n {
			v.known = append(v.known, v.known[len(v.known)-1]+isKnown)
		}
	}
}

// lookUpTokens looks all tokens up, for all languages at once.
func (s *scanner) lookUpTokens() {
	all := lexicon()
	s.spelled = s.spelled[:0]
	for i := range s.tokens.spans {
		s.spelled = append(s.spelled, all[string(s.tokens.textAt(i))])
	}
}

// infoOf returns what a language knows of a word that was written of n tokens, or
// nil.
func (s *scanner) infoOf(set *ruleSet, first, n int, word []byte) *wordInfo {
	if n > 1 || len(s.spelled) != len(s.tokens.spans) {
		return set.known[string(word)]
	}
	if found := s.spelled[first]; found != nil {
		return found[set.place]
	}
	return nil
}

// isForeign reports whether the words around a match belong to another language
// rather than to that of the rule.
func (s *scanner) isForeign(language, start, end int) bool {
	v := &s.versions[language]
	return s.isForeignPart(language, int(v.words[start].from), int(v.words[end-1].to))
}

// isForeignPart compares the languages of some tokens and those around them.
func (s *scanner) isForeignPart(language, from, to int) bool {
	for range foreignReach {
		if from > 0 && s.tokens.spans[from].before != gapSentence {
			from--
		}
		if to < len(s.tokens.spans) && s.tokens.spans[to].before != gapSentence {
			to++
		}
	}
	known := s.versions[language].known
	own := known[to] - known[from]
	for i := range s.versions {
		if other := s.versions[i].known[to] - s.versions[i].known[from]; own*foreignOf < other*foreignShare {
			return true
		}
	}
	return false
}

// A match is foreign when its language knows less than four fifths of the words
// that another language knows, in its sentence within four words of it.
const (
	foreignReach = 4
	foreignShare = 4
	foreignOf    = 5
)

// spelledOut appends single letters that stand in a row as one word and gives
// their number.
func (s *scanner) spelledOut(v *version, i int) int {
	t := &s.tokens
	n := 0
	for i+n < len(t.spans) && len(t.textAt(i+n)) == 1 && !t.spans[i+n].isGlued {
		n++
	}
	if n < minSpelledOut {
		return 0
	}
	for j := range n {
		v.chars = append(v.chars, t.textAt(i+j)...)
	}
	return n
}

// joinNext joins the next word to the one that was written, where both are one
// word cut in two.
func (s *scanner) joinNext(set *ruleSet, v *version, start, next int) int {
	t := &s.tokens
	if next >= len(t.spans) || len(set.respell.joins) == 0 {
		return 0
	}
	first, second := v.chars[start:], t.textAt(next)
	if len(first)+len(second) > maxWord {
		return 0
	}
	joined := set.respell.joinWords(first, second)
	if joined == "" {
		return 0
	}
	v.chars = append(v.chars[:start], joined...)
	return 1
}

// joinWords returns the one word that two are, or nothing.
func (r *respelling) joinWords(first, second []byte) string {
	var space [maxWord + 1]byte
	if r.joinBits.mayHave(first[0], second[0], 0) {
		pair := append(append(append(space[:0], first...), ' '), second...)
		if joined, ok := r.joins[string(pair)]; ok {
			return joined
		}
	}
	if len(first) < 2 {
		return ""
	}
	whole := append(append(space[:0], first...), second...)
	if !r.stemBits.mayHave(whole[0], whole[1], whole[2]) || !r.stems[string(whole)] {
		return ""
	}
	return string(whole)
}

// addWord adds what was written last as one word, or as the words that it stands
// for. It returns 1 when the language knows the word.
func (v *version) addWord(set *ruleSet, w wordAt, known *wordInfo) int32 {
	word := v.chars[w.start:]
	var info wordInfo
	if known != nil {
		info = *known
	} else {
		info.entry = set.mergePrefixes(nil, word)
	}
	if info.meant != nil {
		addParts(v, w, info.meant)
		return 1
	}
	if len(word) >= minJoined && !info.isExact && !info.isPlain {
		if cut := set.cutPieces(word); cut != nil {
			addParts(v, w, cut)
			return 1
		}
	}
	w.state, w.entry = wordUnknown, info.entry
	if info.entry != nil {
		w.state = wordKnown
	}
	v.addPart(w, 0)
	if info.isPlain || info.entry != nil {
		return 1
	}
	return 0
}

// addParts adds, in place of what was written last, the words that it stands for.
func addParts[P string | []byte](v *version, w wordAt, parts []P) {
	v.chars = v.chars[:w.start]
	for i, part := range parts {
		w.start = int32(len(v.chars))
		v.chars = append(v.chars, part...)
		v.addPart(w, i)
	}
}

func (v *version) addPart(w wordAt, i int) {
	if i > 0 {
		w.before = gapNone
	}
	w.end = int32(len(v.chars))
	v.words = append(v.words, w)
}

// joinBroken takes the ends of sentences beside sentences of one word away, where
// full stops may stand after words that belong together ("I. Want. To. Stop."), and
// returns the tokens behind them. The text is read both ways, because a sentence of
// one word may also be one ("No. I want to stop").
func (t *tokens) joinBroken() []int {
	var ends []int // the tokens before which a sentence ends, and the end of the text
	words := []int{0}
	for i := range t.spans {
		if i > 0 && t.spans[i].before == gapSentence {
			ends = append(ends, i)
			words = append(words, 0)
		}
		if !t.spans[i].isGlued {
			words[len(words)-1]++
		}
	}
	var joined []int
	for k, at := range ends {
		if words[k] == 1 || words[k+1] == 1 {
			t.spans[at].before = gapNone
			joined = append(joined, at)
		}
	}
	return joined
}

// fillWindow fills the window with the words from one position to another.
func (s *scanner) fillWindow(set *ruleSet, language, from, to int) {
	w := &s.window
	v := &s.versions[language]
	w.memos = slices.Grow(w.memos[:0], int(set.memos))[:set.memos]
	clear(w.memos)
	w.occurs = slices.Grow(w.occurs[:0], set.atoms)[:set.atoms]
	clear(w.occurs)
	w.present = slices.Grow(w.present[:0], set.atoms/64+1)[:set.atoms/64+1]
	clear(w.present)
	w.touched = w.touched[:0]
	w.words = to - from
	w.breaks, w.clauseStart, w.clauseEnd, w.textStart, w.textEnd = 0, 0, 0, 0, 0
	if from == 0 {
		w.textStart, w.clauseStart = 1, 1
	}
	if to == len(v.words) {
		w.textEnd = 1 << w.words
		w.clauseEnd = 1 << w.words
	}
	for i := range v.words[from:to] {
		word := &v.words[from+i]
		at := uint64(1) << i
		if word.isBreak {
			w.breaks |= at
			w.clauseEnd |= at
			w.clauseStart |= at << 1
			w.markEntry(set.sentenceEnd, at)
			continue
		}
		if word.before != gapNone {
			w.clauseStart |= at
			w.clauseEnd |= at
		}
		if s.tokens.spans[word.from].isName {
			w.markEntry(set.name, at)
		}
		s.markWord(set, v, word, at)
	}
}

// markWord marks the atoms of a word, or of what a misspelled word may be.
func (s *scanner) markWord(set *ruleSet, v *version, word *wordAt, at uint64) {
	w, text := &s.window, v.chars[word.start:word.end]
	w.markEntry(set.anyWord, at)
	if text[0] >= '0' && text[0] <= '9' {
		w.markEntry(set.number, at)
		if isNumber(text) {
			w.markEntry(set.exact[string(text)], at)
			return
		}
	}
	v.readWord(set, word)
	w.markEntry(word.entry, at)
	for _, e := range v.readings[word.readFrom:word.readUpTo] {
		w.markEntry(e, at)
	}
}

// readWord finds what the language knows of a word, or what it may be, once.
func (v *version) readWord(set *ruleSet, word *wordAt) {
	text := v.chars[word.start:word.end]
	if word.state == wordUnread {
		word.state = wordUnknown
		if word.entry = set.findEntry(text); word.entry != nil {
			word.state = wordKnown
		}
	}
	if word.state == wordUnknown {
		from := len(v.readings)
		v.readings = append(v.readings, set.appendReadings(v.readings[from:], text)...)
		word.state, word.readFrom, word.readUpTo = wordRead, int32(from), int32(len(v.readings))
	}
}

func isNumber(word []byte) bool {
	for _, c := range word {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

func (w *window) markEntry(e *entry, at uint64) {
	if e == nil {
		return
	}
	for _, atom := range e.atoms {
		if w.occurs[atom] == 0 {
			w.touched = append(w.touched, atom)
			w.present[atom>>6] |= 1 << (atom & 63)
		}
		w.occurs[atom] |= at
	}
}

// matchRules evaluates the patterns whose anchors occur.
func (s *scanner) matchRules(set *ruleSet, language, from int) {
	s.seen = slices.Grow(s.seen[:0], len(set.rules))[:len(set.rules)]
	clear(s.seen)
	s.tried = slices.Grow(s.tried[:0], set.patterns/64+1)[:set.patterns/64+1]
	clear(s.tried)
	w := &s.window
	for _, atom := range w.touched {
		refs := set.byAnchor[atom]
		for i := range refs {
			ref := &refs[i]
			if !w.hasAtom(ref.needs[0]) || !w.hasAtom(ref.needs[1]) || s.seen[ref.rule] || set.rules[ref.rule].isForm && s.asked < formReach || s.isTried(ref.number) {
				continue
			}
			found, ok := s.findMatch(&set.rules[ref.rule], ref.pattern, language, from)
			if !ok {
				continue
			}
			s.seen[ref.rule] = true
			if set.rules[ref.rule].tier == tierOrdinary {
				s.isLimited = true
				continue
			}
			found.rule, found.set = &set.rules[ref.rule], set
			s.findings = append(s.findings, found)
		}
	}
}

// isTried reports whether a pattern was matched in the window before, for another of
// its anchors, and notes that it was.
func (s *scanner) isTried(pattern int32) bool {
	bits, bit := &s.tried[pattern>>6], uint64(1)<<(pattern&63)
	isTried := *bits&bit != 0
	*bits |= bit
	return isTried
}

// findMatch finds where a pattern matches and no exception holds, in words of its
// language.
func (s *scanner) findMatch(rule *rule, pattern *node, language, from int) (found finding, ok bool) {
	w, v := &s.window, &s.versions[language]
	for starts := w.allPositions(); w.matchNode(pattern, starts) != 0; starts &= starts - 1 {
		starts = w.fromFirstStart(pattern, starts)
		start := bits.TrailingZeros64(starts)
		for ends := w.matchNode(pattern, 1<<start); ends != 0; ends &= ends - 1 {
			end := bits.TrailingZeros64(ends)
			if s.isForeign(language, from+start, from+end) {
				continue
			}
			if !w.isExcepted(rule.unless, start, end) {
				if rule.tier == tierStop && s.isNegatedInEnglish(language, from+start) {
					continue
				}
				if rule.tier == tierStop && s.isDoubtedAt(language, from+start, from+end) {
					s.isDoubted = true
					continue
				}
				first, last := int(v.words[from+start].from), int(v.words[from+end-1].to)
				if borne := s.tierAt(rule, first, last); borne > found.tier {
					found.tier, found.from, found.to = borne, first, last
				}
				if found.tier == rule.tier {
					return found, true
				}
				continue
			}
			s.isLimited = s.isLimited || !rule.tier.isDanger() && !rule.isForm
			s.isExcused = s.isExcused || rule.tier.isDanger()
		}
	}
	return found, found.tier != tierNone
}

// fromFirstStart returns the positions from the first one on at which a pattern
// matches, which it does at one of them.
func (w *window) fromFirstStart(pattern *node, starts uint64) uint64 {
	for among := starts; among&(among-1) != 0; {
		// The lower half of the positions between the first and the last one.
		low, high := bits.TrailingZeros64(among), bits.Len64(among)
		half := among & (1<<((low+high)/2) - 1)
		if w.matchNode(pattern, half) == 0 {
			among &^= half
			starts &^= half
			continue
		}
		among = half
	}
	return starts
}

func (w *window) isExcepted(unless []*exception, start, end int) bool {
	low, high := max(0, start-exceptionReach), min(w.words, end+exceptionReach)
	// Positions from low on, and from low up to high.
	within := (w.allPositions()<<1 | 1) &^ (1<<low - 1)
	upTo := within & (1<<high | (1<<high - 1))
	for _, e := range unless {
		if w.matchAny(&e.before, within&(1<<start-1))>>start&1 == 1 ||
			w.matchAny(&e.after, 1<<end) != 0 || w.matchAny(&e.near, upTo)&upTo != 0 {
			return true
		}
	}
	return false
}
