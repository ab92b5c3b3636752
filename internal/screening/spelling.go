package screening

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// respelling is how a language reads words that it does not know.
type respelling struct {
	sounds        []soundRule
	splitsAtMarks bool
	plain         map[string]bool // words that are never respelled
	common        map[string]bool // as plain, and no sign of the language
	meant         map[string][]string
	joins         map[string]string
	stems         map[string]bool

	bySound   map[string][]string // known words by how they sound
	bySqueeze map[string][]string // known words without repeated letters
	byDeletes map[string][]string // known words with one letter left out
	near      map[string]*entry   // the known words of these
	stemHeads map[[3]byte]bool    // how stems begin

	// What is in none of these sets is in no map either: most words of a text
	// are looked up in a set alone.
	stemBits headSet // how stems begin, by three letters
	joinBits headSet // the first letters of two words that are one
}

// soundRule says what is written for some letters of a word: anywhere, or only where it
// begins or ends.
type soundRule struct {
	old, with     []byte
	isHead, isEnd bool
	letters       uint64 // of old
}

// lettersOf returns the letters of a word as bits of their hash.
func lettersOf(word []byte) uint64 {
	var letters uint64
	for _, c := range word {
		letters |= 1 << (c & 63)
	}
	return letters
}

// headSet is a set of beginnings of words by their hash, which may be wrong about
// what it has and never about what it lacks.
type headSet [1 << 7]uint64

func (h *headSet) add(a, b, c byte) {
	at := hashHead(a, b, c)
	h[at>>6] |= 1 << (at & 63)
}

func (h *headSet) mayHave(a, b, c byte) bool {
	at := hashHead(a, b, c)
	return h[at>>6]>>(at&63)&1 == 1
}

func hashHead(a, b, c byte) uint32 {
	return (uint32(a)<<16 | uint32(b)<<8 | uint32(c)) * 0x9e3779b1 >> 19
}

// wordInfo is what a language knows of a spelling.
type wordInfo struct {
	entry   *entry // with all stems that begin it, or nil
	isExact bool   // rules have the word as it is
	isPlain bool
	meant   []string
}

const (
	maxWord       = 40 // longer words are not respelled
	minSqueeze    = 3  // letters
	minSound      = 3
	minMistyped   = 5
	minSwapped    = 3
	minJoined     = 6
	minSpelledOut = 3 // single letters in a row
)

func (r *respelling) makeMaps() {
	r.plain = map[string]bool{}
	r.meant = map[string][]string{}
	r.joins = map[string]string{}
	r.stems = map[string]bool{}
	r.common = map[string]bool{}
	r.bySound = map[string][]string{}
	r.bySqueeze = map[string][]string{}
	r.byDeletes = map[string][]string{}
	r.near = map[string]*entry{}
	r.stemHeads = map[[3]byte]bool{}
}

func (set *ruleSet) readSpelling(verb, rest string) error {
	r := &set.respell
	switch verb {
	case "apostrophe":
		r.splitsAtMarks = rest == "splits"
	case "sound":
		for pair := range strings.FieldsSeq(rest) {
			from, to, ok := strings.Cut(pair, "=")
			if !ok || from == "" {
				return fmt.Errorf("sound %q", pair)
			}
			r.sounds = append(r.sounds, readSound(from, to))
		}
	case "words":
		for word := range strings.FieldsSeq(rest) {
			r.plain[foldWord(word)] = true
		}
	case "stems":
		for word := range strings.FieldsSeq(rest) {
			r.stems[foldWord(word)] = true
		}
	case "map", "join":
		return r.readMap(verb, rest)
	}
	return nil
}

func (r *respelling) readMap(verb, rest string) error {
	for pair := range strings.SplitSeq(rest, ",") {
		from, to, ok := strings.Cut(pair, "=")
		typed, meant := foldAll(from), foldAll(to)
		if !ok || len(typed) == 0 || len(meant) == 0 {
			return fmt.Errorf("%s %q", verb, pair)
		}
		if verb == "map" {
			r.meant[strings.Join(typed, "")] = meant
			continue
		}
		r.joins[strings.Join(typed, " ")] = strings.Join(meant, "")
	}
	return nil
}

func foldAll(text string) []string {
	var all []string
	for word := range strings.FieldsSeq(text) {
		all = append(all, foldWord(word))
	}
	return all
}

func (r *respelling) buildIndexes(set *ruleSet) {
	for word := range r.stems {
		if set.exact[word] == nil {
			set.exact[word] = &entry{}
		}
		if len(word) >= 3 {
			r.stemHeads[[3]byte([]byte(word))] = true
			r.stemBits.add(word[0], word[1], word[2])
		}
	}
	for word, e := range set.exact {
		if len(word) < minSound || !unicode.IsLetter(rune(word[0])) && word[0] < utf8.RuneSelf {
			continue
		}
		full := set.findEntry([]byte(word))
		if full == nil {
			full = e
		}
		sound := string(r.appendSound(nil, []byte(word)))
		r.bySound[sound] = append(r.bySound[sound], word)
		squeezed := string(appendSqueezed(nil, []byte(word)))
		r.bySqueeze[squeezed] = append(r.bySqueeze[squeezed], word)
		r.near[word] = full
		for left := range yieldDeletes([]byte(word)) {
			r.byDeletes[string(left)] = append(r.byDeletes[string(left)], word)
		}
	}
	for word := range r.meant {
		r.plain[word] = true
	}
	for pair := range r.joins {
		if first, second, ok := strings.Cut(pair, " "); ok {
			r.joinBits.add(first[0], second[0], 0)
		}
	}
	set.indexWords()
}

// indexWords puts all that is known of each spelling in one place.
func (set *ruleSet) indexWords() {
	known := map[string]*wordInfo{}
	infoOf := func(word string) *wordInfo {
		if known[word] == nil {
			known[word] = &wordInfo{entry: set.findEntry([]byte(word))}
		}
		return known[word]
	}
	for word := range set.exact {
		infoOf(word).isExact = true
	}
	for word := range set.respell.plain {
		infoOf(word).isPlain = true
	}
	for word, meant := range set.respell.meant {
		infoOf(word).meant = meant
	}
	set.known = known
	set.anyWord, set.number, set.name, set.sentenceEnd = set.exact["_"], set.exact["#"], set.exact["@"], set.exact[";"]
}

// findEntry returns what is known of a word, with all stems that begin it.
func (set *ruleSet) findEntry(word []byte) *entry {
	if info := set.known[string(word)]; info != nil {
		return info.entry
	}
	return set.mergeEntry(word)
}

// mergeEntry puts what is known of a word and of all stems that begin it together.
func (set *ruleSet) mergeEntry(word []byte) *entry {
	return set.mergePrefixes(set.exact[string(word)], word)
}

// mergePrefixes puts what was found of a word and all stems that begin it together.
func (set *ruleSet) mergePrefixes(found *entry, word []byte) *entry {
	var merged *entry
	for sizes := set.prefixSizesOf(word); sizes != 0; sizes &= sizes - 1 {
		size := bits.TrailingZeros64(sizes)
		if size > len(word) {
			break
		}
		if stem := set.prefixes[string(word[:size])]; stem != nil {
			if merged == nil {
				merged = &entry{}
				if found != nil {
					merged.atoms = append(merged.atoms, found.atoms...)
				}
			}
			merged.atoms = append(merged.atoms, stem.atoms...)
		}
	}
	if merged != nil {
		return merged
	}
	return found
}

// prefixSizesOf returns the lengths of the prefixes that may begin a word, as bits.
func (set *ruleSet) prefixSizesOf(word []byte) uint64 {
	if len(word) < 2 {
		return set.prefixSizes[0]
	}
	return set.prefixSizes[1+hashHead(word[0], word[1], 0)%prefixHeads]
}

// addPrefixSize notes that a prefix of rules has a length.
func (set *ruleSet) addPrefixSize(prefix string) {
	set.prefixSizes[0] |= 1 << len(prefix)
	if len(prefix) >= 2 {
		set.prefixSizes[1+hashHead(prefix[0], prefix[1], 0)%prefixHeads] |= 1 << len(prefix)
		return
	}
	for i := range set.prefixSizes {
		set.prefixSizes[i] |= 1 << len(prefix)
	}
}

// readSound reads a pair: "$" behind a text stands for the end of the word, "^"
// before it for the beginning.
func readSound(old, with string) soundRule {
	text, isEnd := strings.CutSuffix(old, "$")
	isHead := false
	if !isEnd {
		text, isHead = strings.CutPrefix(old, "^")
	}
	return soundRule{old: []byte(text), with: []byte(with), isHead: isHead, isEnd: isEnd, letters: lettersOf([]byte(text))}
}

func (r *respelling) appendSound(out, word []byte) []byte {
	from := len(out)
	out = append(out, word...)
	letters := lettersOf(word)
	for i := range r.sounds {
		s := &r.sounds[i]
		if s.letters&^letters != 0 {
			continue
		}
		out = s.replaceFrom(out, from)
		letters = lettersOf(out[from:])
	}
	return appendSqueezed(out[:from], out[from:])
}

func (s *soundRule) replaceFrom(out []byte, from int) []byte {
	word := out[from:]
	switch {
	case s.isEnd:
		if rest, ok := bytes.CutSuffix(word, s.old); ok && len(rest) > 1 {
			return append(out[:from+len(rest)], s.with...)
		}
	case s.isHead:
		if rest, ok := bytes.CutPrefix(word, s.old); ok {
			return append(out[:from], string(s.with)+string(rest)...)
		}
	case bytes.Contains(word, s.old):
		return append(out[:from], bytes.ReplaceAll(word, s.old, s.with)...)
	}
	return out
}

// appendSqueezed appends a word with one letter for each run of a letter.
func appendSqueezed(out, word []byte) []byte {
	for i, c := range word {
		if i == 0 || word[i-1] != c {
			out = append(out, c)
		}
	}
	return out
}

// longestRun returns the length of the longest run of one letter.
func longestRun(word []byte) int {
	longest, run := 0, 0
	for i, c := range word {
		if i > 0 && word[i-1] == c {
			run++
		} else {
			run = 1
		}
		longest = max(longest, run)
	}
	return longest
}

// yieldDeletes yields a word and all forms of it that lack one letter.
func yieldDeletes(word []byte) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		if !yield(word) {
			return
		}
		left := make([]byte, 0, len(word))
		for i := range word {
			left = append(append(left[:0], word[:i]...), word[i+1:]...)
			if !yield(left) {
				return
			}
		}
	}
}

// isNear reports whether two words differ by one letter that is missing, added
// or wrong, or by two neighbours that changed places. The first letter is seldom
// mistyped and must be right, unless it changed places.
func isNear(a, b []byte) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(b)-len(a) == 1 {
		return i > 0 && bytes.Equal(a[i:], b[i+1:])
	}
	if len(a) != len(b) {
		return false
	}
	if i == len(a) {
		return true
	}
	if i > 0 && bytes.Equal(a[i+1:], b[i+1:]) {
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && bytes.Equal(a[i+2:], b[i+2:])
}

// leetLetters are digits that stand for letters.
var leetLetters = [256]byte{'0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '8': 'b'}

// appendLeet appends a word with digits read as letters; ok is false when the word
// has no digits among letters.
func appendLeet(out, word []byte) ([]byte, bool) {
	letters, digits := 0, 0
	from := len(out)
	for _, c := range word {
		switch {
		case leetLetters[c] != 0:
			digits++
			c = leetLetters[c]
		case c >= '0' && c <= '9':
			return out[:from], false
		default:
			letters++
		}
		out = append(out, c)
	}
	return out, letters > 0 && digits > 0 && letters+digits > 2
}

func (set *ruleSet) appendReadings(found []*entry, word []byte) []*entry {
	r := &set.respell
	if len(word) > maxWord || r.plain[string(word)] || r.common[string(word)] {
		return found
	}
	var space [2 * maxWord]byte
	if digits, ok := appendLeet(space[:0], word); ok {
		if e := set.findEntry(digits); e != nil {
			return append(found, e)
		}
		word = slices.Clone(digits)
	}
	letters := utf8.RuneCount(word)
	if letters >= minSqueeze || longestRun(word) > 2 {
		if squeezed := appendSqueezed(space[:0], word); len(squeezed) < len(word) {
			if e := set.findEntry(squeezed); e != nil && (longestRun(word) > 2 || len(squeezed) >= minSqueeze) {
				found = append(found, e)
			}
			found = r.appendNear(found, r.bySqueeze[string(squeezed)])
		}
	}
	if letters >= minSound {
		found = r.appendNear(found, r.bySound[string(r.appendSound(space[:0], word))])
	}
	if letters >= minSwapped {
		found = set.appendMistyped(found, word, letters)
	}
	return found
}

func (r *respelling) appendNear(found []*entry, known []string) []*entry {
	for _, word := range known {
		found = append(found, r.near[word])
	}
	return found
}

// appendMistyped appends the known words that differ from a word by one letter. In
// short words only two letters may have changed places, or a star stands for one.
func (set *ruleSet) appendMistyped(found []*entry, word []byte, letters int) []*entry {
	r := &set.respell
	for left := range yieldDeletes(word) {
		for _, known := range r.byDeletes[string(left)] {
			isLong := letters >= minMistyped-1 && len(known) >= minMistyped
			if e := r.near[known]; isNear(word, []byte(known)) && (isLong || isSwapped(word, known)) && !slices.Contains(found, e) {
				found = append(found, e)
			}
		}
	}
	return found
}

// isSwapped reports whether two words of one length have the same letters, or a
// star stands for one of them.
func isSwapped(word []byte, known string) bool {
	if len(word) != len(known) {
		return false
	}
	if bytes.IndexByte(word, '*') > 0 {
		return true
	}
	sum := 0
	for i := range word {
		sum += int(word[i]) - int(known[i])
	}
	return sum == 0
}

// cutPieces cuts a word into known words of which one is a stem; nil when it
// cannot be cut.
func (set *ruleSet) cutPieces(word []byte) [][]byte {
	if !set.respell.mayBeJoined(word) {
		return nil
	}
	// cuts[i] is the best cut of word[:i], the one with the fewest words.
	var cuts [maxWord + 1]struct{ last, words, stems int }
	for end := 1; end <= len(word); end++ {
		for start := max(0, end-maxPiece); start < end; start++ {
			before, best := cuts[start], &cuts[end]
			isWorse := start > 0 && before.words == 0 || best.words > 0 && before.words+1 >= best.words
			if isWorse || !set.isPiece(word[start:end]) {
				continue
			}
			best.last, best.words, best.stems = end-start, before.words+1, before.stems
			if set.respell.stems[string(word[start:end])] {
				best.stems++
			}
		}
	}
	if whole := cuts[len(word)]; whole.stems == 0 || whole.words < 2 {
		return nil
	}
	var parts [][]byte
	for end := len(word); end > 0; end -= cuts[end].last {
		parts = append(parts, word[end-cuts[end].last:end])
	}
	slices.Reverse(parts)
	return parts
}

// mayBeJoined reports whether a word may be several words written as one.
func (r *respelling) mayBeJoined(word []byte) bool {
	return len(word) >= minJoined && len(word) <= maxWord && r.hasStem(word) && !r.plain[string(word)] && !r.common[string(word)]
}

// hasStem reports whether a stem may begin anywhere in a word.
func (r *respelling) hasStem(word []byte) bool {
	for i := range len(word) - 2 {
		if r.stemBits.mayHave(word[i], word[i+1], word[i+2]) && r.stemHeads[[3]byte(word[i:])] {
			return true
		}
	}
	return false
}

// maxPiece is the longest word that is looked for within another.
const maxPiece = 14

func (set *ruleSet) isPiece(part []byte) bool {
	if len(part) == 1 {
		return strings.ContainsRune("iyajo", rune(part[0])) && set.exact[string(part)] != nil
	}
	return set.exact[string(part)] != nil
}
