package screening

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A pattern is a sequence of words as rule files write it:
//
//	word  stem*  one|other   a word, the beginning of a word, one of several
//	CLASS                    words that the file names with "class"
//	( a b , c )  [ a , b ]   one of several sequences; the same, or nothing
//	..  ..5                  up to three words, or up to five, of one sentence
//	CLASS~4  [ a , b ]~2     up to four times, up to twice
//	_  @  #  ;               any one word, a name, a number, the end of a sentence
//	^  $                     the beginning or the end of a clause
//	^^ $$                    the beginning or the end of the text
//
// A text is matched as the set of its positions: every element of a pattern
// turns the set of positions before it into the set of those after it, in one
// machine word, so that the work is bounded by the size of the rules times the
// length of the text, and nothing is tried twice.
type node struct {
	op   op
	n    uint8
	atom int32
	// memo is the place of a class in window.memos, or 0.
	memo int32
	kids []*node
	// needs are the atoms of a sequence without which it does not match. Of
	// alternatives, they are one for each without which it does not match, or noAtom.
	needs []int32
	// classes are the members of a sequence that have a memo.
	classes []*node
	// words are those of an atom that has no number yet.
	words []string
}

// noAtom stands for an atom where there is none.
const noAtom = -1

type op uint8

const (
	opWord op = iota
	opSeq
	opAlt
	opOptional
	opGap
	opRepeat
	opClauseStart
	opClauseEnd
	opTextStart
	opTextEnd
)

// windowWords is how many words are matched at a time; texts that are longer
// are read in windows that overlap by windowOverlap words.
const (
	windowWords   = 63
	windowOverlap = 27
)

// window is a part of a text as the atoms of one language see it: occurs has a
// bit for each position at which a word of the atom stands.
type window struct {
	occurs      []uint64
	present     []uint64 // a bit for each atom that occurs, which a processor's cache holds
	touched     []int32
	words       int
	breaks      uint64 // the ends of sentences, which are positions of their own
	clauseStart uint64
	clauseEnd   uint64
	textStart   uint64
	textEnd     uint64
	memos       []memo
	// work counts elements that were matched.
	work int
}

// memo is what a class that many patterns share matches in a window: whether
// anything, and the positions after those that it was asked for last.
type memo struct {
	isRead, isAbsent bool
	at, after        uint64
}

func (w *window) hasAtom(atom int32) bool { return w.present[atom>>6]>>(atom&63)&1 == 1 }

func (w *window) allPositions() uint64 { return 1<<w.words - 1 }

// isAbsent reports whether a class matches nowhere in the window. What follows from
// some positions is a part of what follows from more of them, so that a class that
// does not match from all of them matches from none.
func (w *window) isAbsent(n *node) bool {
	m := &w.memos[n.memo]
	if !m.isRead {
		every := w.allPositions()<<1 | 1
		m.isRead, m.at, m.after = true, every, w.matchAny(n, every)
		m.isAbsent = m.after == 0
	}
	return m.isAbsent
}

func (w *window) matchClass(n *node, at uint64) uint64 {
	if w.isAbsent(n) {
		return 0
	}
	if m := w.memos[n.memo]; m.at == at {
		return m.after
	}
	after := w.matchAny(n, at)
	w.memos[n.memo].at, w.memos[n.memo].after = at, after
	return after
}

// matchNode returns the positions after a node, given those before it.
func (w *window) matchNode(n *node, at uint64) uint64 {
	if at == 0 {
		return 0
	}
	w.work++
	switch n.op {
	case opWord:
		return at & w.occurs[n.atom] << 1
	case opSeq:
		return w.matchSequence(n, at)
	case opAlt:
		if n.memo > 0 {
			return w.matchClass(n, at)
		}
		return w.matchAny(n, at)
	case opOptional:
		return at | w.matchAny(n, at)
	case opGap:
		for range n.n {
			at |= at &^ w.breaks << 1
		}
		return at & (1<<(w.words+1) - 1)
	case opRepeat:
		for range n.n {
			at |= w.matchNode(n.kids[0], at)
		}
		return at
	case opClauseStart:
		return at & w.clauseStart
	case opClauseEnd:
		return at & w.clauseEnd
	case opTextStart:
		return at & w.textStart
	case opTextEnd:
		return at & w.textEnd
	}
	return 0
}

// matchSequence matches the members one after the other. Most sequences end at a
// word that does not occur at all, which is looked at first.
func (w *window) matchSequence(n *node, at uint64) uint64 {
	for _, atom := range n.needs {
		if !w.hasAtom(atom) {
			return 0
		}
	}
	for _, class := range n.classes {
		if w.isAbsent(class) {
			return 0
		}
	}
	for _, kid := range n.kids {
		if kid.op == opWord {
			at = at & w.occurs[kid.atom] << 1
		} else {
			at = w.matchNode(kid, at)
		}
		if at == 0 {
			return 0
		}
	}
	return at
}

// matchAny matches alternatives. Most of them need a word that does not occur, and
// are not read at all.
func (w *window) matchAny(n *node, at uint64) uint64 {
	var after uint64
	for i, kid := range n.kids {
		if need := n.needs[i]; need == noAtom || w.hasAtom(need) {
			after |= w.matchNode(kid, at)
		}
	}
	return after
}

// findAnchors returns atoms of which one occurs wherever the node matches; nil
// when there is no such set.
func (n *node) findAnchors(size func(int32) int) []int32 {
	weigh := func(atoms []int32) int {
		total := 0
		for _, atom := range atoms {
			total += size(atom)
		}
		return total
	}
	switch n.op {
	case opWord:
		return []int32{n.atom}
	case opSeq:
		var best []int32
		for _, kid := range n.kids {
			if found := kid.findAnchors(size); found != nil && (best == nil || weigh(found) < weigh(best)) {
				best = found
			}
		}
		return best
	case opAlt:
		var union []int32
		for _, kid := range n.kids {
			found := kid.findAnchors(size)
			if found == nil {
				return nil
			}
			union = append(union, found...)
		}
		slices.Sort(union)
		return slices.Compact(union)
	case opOptional, opGap, opRepeat, opClauseStart, opClauseEnd, opTextStart, opTextEnd:
		return nil
	}
	return nil
}

// listNeeds returns atoms that must all be present for the node to match.
func (n *node) listNeeds() []int32 {
	var all []int32
	switch {
	case n.op == opWord:
		all = append(all, n.atom)
	case n.op == opSeq, n.op == opAlt && len(n.kids) == 1:
		for _, kid := range n.kids {
			all = append(all, kid.listNeeds()...)
		}
	}
	return all
}

// rarestNeed returns the rarest atom that must be present for the node to match, or
// noAtom.
func (n *node) rarestNeed(size func(int32) int) int32 {
	rarest := int32(noAtom)
	for _, atom := range n.listNeeds() {
		if rarest == noAtom || size(atom) < size(rarest) {
			rarest = atom
		}
	}
	return rarest
}

// noteNeeds records, for all alternatives within the node, the atom that each needs.
func (n *node) noteNeeds(size func(int32) int) {
	isEither := n.op == opAlt || n.op == opOptional
	if isEither && len(n.needs) == len(n.kids) {
		return // a class, which was met before
	}
	for _, kid := range n.kids {
		kid.noteNeeds(size)
		if isEither {
			n.needs = append(n.needs, kid.rarestNeed(size))
		}
	}
}

// parser turns the text of patterns into nodes.
type parser struct {
	classes map[string]*node
	joins   map[string]string // two words that texts have as one
	atom    func(words []string) (int32, error)
	items   []string
}

func (p *parser) parsePattern(pattern string) (*node, error) {
	p.items = strings.Fields(spread.Replace(orInGroups(pattern)))
	found, err := p.readSequences("")
	if err == nil {
		err = p.resolveAtoms(found)
	}
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	if len(found.kids) == 1 {
		return found.kids[0], nil
	}
	return found, nil
}

// orInGroups writes commas for the bars of groups, so that both separate
// sequences there.
func orInGroups(pattern string) string {
	depth := 0
	return strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune("([", r):
			depth++
		case strings.ContainsRune(")]", r):
			depth--
		case r == '|' && depth > 0:
			return ','
		}
		return r
	}, pattern)
}

// resolveAtoms numbers the atoms of a pattern. Alternatives that are one word
// each become one atom.
func (p *parser) resolveAtoms(n *node) error {
	if n.op == opWord {
		if n.words == nil {
			return nil
		}
		atom, err := p.atom(n.words)
		n.atom, n.words = atom, nil
		return err
	}
	switch n.op {
	case opAlt, opOptional:
		n.kids = mergeWords(n.kids)
	case opSeq:
		return p.resolveSequence(n)
	case opWord, opGap, opRepeat, opClauseStart, opClauseEnd, opTextStart, opTextEnd:
	}
	for _, kid := range n.kids {
		if err := p.resolveAtoms(kid); err != nil {
			return err
		}
	}
	return nil
}

// resolveSequence numbers the atoms of a sequence, and lets two of its words
// match as the one word that texts have for them.
func (p *parser) resolveSequence(n *node) error {
	var out []*node
	for i := 0; i < len(n.kids); i++ {
		var joined []string
		if i+1 < len(n.kids) {
			joined = p.joinWords(n.kids[i], n.kids[i+1])
		}
		if err := p.resolveAtoms(n.kids[i]); err != nil {
			return err
		}
		if joined == nil {
			out = append(out, n.kids[i])
			continue
		}
		one := &node{op: opWord, words: joined}
		if err := errors.Join(p.resolveAtoms(n.kids[i+1]), p.resolveAtoms(one)); err != nil {
			return err
		}
		apart := &node{op: opSeq, kids: []*node{n.kids[i], n.kids[i+1]}}
		out = append(out, &node{op: opAlt, kids: []*node{apart, one}})
		i++
	}
	n.needs, n.classes = nil, nil
	for i, kid := range out {
		if kid.op == opAlt && len(kid.kids) == 1 {
			kid = kid.kids[0]
			out[i] = kid
		}
		if kid.op == opWord {
			n.needs = append(n.needs, kid.atom)
		}
		if kid.memo > 0 {
			n.classes = append(n.classes, kid)
		}
	}
	n.kids = out
	return nil
}

func (p *parser) joinWords(first, second *node) []string {
	var all []string
	for _, a := range first.words {
		for _, b := range second.words {
			if one, ok := p.joins[a+" "+b]; ok {
				all = append(all, one)
			}
		}
	}
	return all
}

func mergeWords(kids []*node) []*node {
	var rest []*node
	var words []string
	for _, kid := range kids {
		if kid.op == opWord && kid.words != nil {
			words = append(words, kid.words...)
			continue
		}
		rest = append(rest, kid)
	}
	if words == nil {
		return rest
	}
	return append(rest, &node{op: opWord, words: words})
}

var spread = strings.NewReplacer("(", " ( ", ")", " ) ", "[", " [ ", "]", " ] ", ",", " , ")

// readSequences reads sequences with commas between them up to an end.
func (p *parser) readSequences(end string) (*node, error) {
	alternatives := &node{op: opAlt}
	sequence := &node{op: opSeq}
	flush := func() error {
		if len(sequence.kids) == 0 {
			return errors.New("empty sequence")
		}
		alternatives.kids = append(alternatives.kids, unwrapSequence(sequence))
		sequence = &node{op: opSeq}
		return nil
	}
	for len(p.items) > 0 {
		item := p.items[0]
		p.items = p.items[1:]
		switch item {
		case ")", "]":
			if item != end {
				return nil, fmt.Errorf("unexpected %q", item)
			}
			return alternatives, flush()
		case ",":
			if err := flush(); err != nil {
				return nil, err
			}
		default:
			if err := p.appendItem(sequence, item); err != nil {
				return nil, err
			}
		}
	}
	if end != "" {
		return nil, fmt.Errorf("missing %q", end)
	}
	return alternatives, flush()
}

// appendItem adds an item to a sequence. What begins with "~" repeats the group
// before it.
func (p *parser) appendItem(sequence *node, item string) error {
	last := len(sequence.kids) - 1
	if item[0] != '~' {
		kid, err := p.readItem(item)
		sequence.kids = append(sequence.kids, kid)
		return err
	}
	n, err := strconv.ParseUint(item[1:], 10, 4)
	if err != nil || last < 0 {
		return fmt.Errorf("repetition %q", item)
	}
	sequence.kids[last] = &node{op: opRepeat, n: uint8(n), kids: []*node{sequence.kids[last]}}
	return nil
}

// unwrapSequence replaces a sequence of one member by that member.
func unwrapSequence(n *node) *node {
	if len(n.kids) == 1 {
		return n.kids[0]
	}
	return n
}

var symbols = map[string]op{"^": opClauseStart, "$": opClauseEnd, "^^": opTextStart, "$$": opTextEnd}

func (p *parser) readItem(item string) (*node, error) {
	if o, ok := symbols[item]; ok {
		return &node{op: o}, nil
	}
	switch {
	case item == "(":
		return p.readSequences(")")
	case item == "[":
		inner, err := p.readSequences("]")
		if err != nil {
			return nil, err
		}
		return &node{op: opOptional, kids: inner.kids}, nil
	case strings.HasPrefix(item, ".."):
		return gapNode(item[2:])
	case strings.Contains(item, "~"):
		name, times, _ := strings.Cut(item, "~")
		n, err := strconv.ParseUint(times, 10, 4)
		if err != nil {
			return nil, fmt.Errorf("repetition %q: %w", item, err)
		}
		inner, err := p.readItem(name)
		return &node{op: opRepeat, n: uint8(n), kids: []*node{inner}}, err
	case strings.Contains(item, "|") && strings.ContainsFunc(item, unicode.IsUpper):
		return p.readAlternatives(strings.Split(item, "|"))
	case isClassName(item):
		class := p.classes[item]
		if class == nil {
			return nil, fmt.Errorf("no class %s", item)
		}
		return class, nil
	}
	return &node{op: opWord, words: strings.Split(item, "|")}, nil
}

// readAlternatives reads one of several words and classes.
func (p *parser) readAlternatives(names []string) (*node, error) {
	either := &node{op: opAlt}
	for _, name := range names {
		kid, err := p.readItem(name)
		if err != nil {
			return nil, err
		}
		either.kids = append(either.kids, kid)
	}
	return either, nil
}

func gapNode(words string) (*node, error) {
	if words == "" {
		return &node{op: opGap, n: 3}, nil
	}
	n, err := strconv.ParseUint(words, 10, 4)
	if err != nil {
		return nil, fmt.Errorf("gap of %q words: %w", words, err)
	}
	return &node{op: opGap, n: uint8(n)}, nil
}

func isClassName(item string) bool {
	return item[0] >= 'A' && item[0] <= 'Z'
}
