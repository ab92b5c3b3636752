package screening

import (
	"math/bits"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"coachline/internal/screening/sheets"
)

// reference reads texts the plain way: every word is looked up wherever it stands,
// a text with joined sentences is spelled again, and every pattern is matched from
// every position by itself.
type reference struct {
	scanner
	present map[string]bool
}

func (r *reference) scanBody(body string) []string {
	r.tokens.readBody(body)
	r.features.readTokens(&r.tokens)
	r.present, r.isLimited = map[string]bool{}, false
	r.versions = make([]version, len(languages))
	r.scanReading(nil)
	if joined := r.tokens.joinBroken(); len(joined) > 1 {
		r.scanReading(joined)
	}
	var ids []string
	for id := range r.present {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (r *reference) scanReading(joined []int) {
	for i, set := range ruleSets() {
		r.spellWords(set, &r.versions[i])
	}
	if joined == nil {
		r.asked = r.scoreRequest()
	}
	for i, set := range ruleSets() {
		words := r.versions[i].words
		for from := 0; from < len(words); from += windowWords - windowOverlap {
			to := min(from+windowWords, len(words))
			if r.canMatch(i, int(words[from].from), int(words[to-1].to), joined) {
				r.fillWindow(set, i, from, to)
				r.matchRules(set, i, from)
			}
			if to == len(words) {
				break
			}
		}
	}
}

func (r *reference) spellWords(set *ruleSet, v *version) {
	v.words, v.chars, v.known = v.words[:0], v.chars[:0], append(v.known[:0], 0)
	t := &r.tokens
	for i := 0; i < len(t.spans); {
		before := t.spans[i].before
		if before == gapSentence && len(v.words) > 0 {
			v.words = append(v.words, wordAt{isBreak: true, from: int32(i), to: int32(i)})
		}
		w := wordAt{start: int32(len(v.chars)), from: int32(i), before: before}
		n := r.spelledOut(v, i)
		if n == 0 {
			v.chars = append(v.chars, t.textAt(i)...)
			n = 1
			for i+n < len(t.spans) && t.spans[i+n].isGlued && !set.respell.splitsAtMarks {
				v.chars = append(v.chars, t.textAt(i+n)...)
				n++
			}
		}
		if i+n < len(t.spans) && r.joinNext(set, v, int(w.start), i+n) {
			n++
		}
		i += n
		w.to = int32(i)
		isKnown := addReferenceWord(set, v, w)
		for range n {
			v.known = append(v.known, v.known[len(v.known)-1]+isKnown)
		}
	}
}

func (r *reference) joinNext(set *ruleSet, v *version, start, next int) bool {
	first, second := string(v.chars[start:]), string(r.tokens.textAt(next))
	if len(set.respell.joins) == 0 || len(first)+len(second) > maxWord {
		return false
	}
	joined, ok := set.respell.joins[first+" "+second]
	if !ok {
		joined = first + second
		if !set.respell.stems[joined] || len(first) < 2 {
			return false
		}
	}
	v.chars = append(v.chars[:start], joined...)
	return true
}

func addReferenceWord(set *ruleSet, v *version, w wordAt) int32 {
	word := v.chars[w.start:]
	if meant, ok := set.respell.meant[string(word)]; ok {
		addParts(v, w, meant)
		return 1
	}
	isKnown := set.respell.plain[string(word)] || referenceEntry(set, word) != nil
	if len(word) >= minJoined && set.exact[string(word)] == nil {
		if cut := set.cutPieces(word); cut != nil {
			addParts(v, w, cut)
			return 1
		}
	}
	v.addPart(w, 0)
	if isKnown {
		return 1
	}
	return 0
}

// referenceEntry tries every beginning of a word.
func referenceEntry(set *ruleSet, word []byte) *entry {
	found := &entry{}
	exact := set.exact[string(word)]
	if exact != nil {
		found.atoms = append(found.atoms, exact.atoms...)
	}
	isKnown := exact != nil
	for size := range len(word) + 1 {
		if stem := set.prefixes[string(word[:size])]; stem != nil {
			found.atoms = append(found.atoms, stem.atoms...)
			isKnown = true
		}
	}
	if !isKnown {
		return nil
	}
	return found
}

func (r *reference) fillWindow(set *ruleSet, language, from, to int) {
	w := &r.window
	v := &r.versions[language]
	*w = window{occurs: make([]uint64, set.atoms), words: to - from}
	if from == 0 {
		w.textStart, w.clauseStart = 1, 1
	}
	if to == len(v.words) {
		w.textEnd, w.clauseEnd = 1<<w.words, 1<<w.words
	}
	for i, word := range v.words[from:to] {
		at := uint64(1) << i
		if word.isBreak {
			w.breaks |= at
			w.clauseEnd |= at
			w.clauseStart |= at << 1
			r.mark(set.exact[";"], at)
			continue
		}
		if word.before != gapNone {
			w.clauseStart |= at
			w.clauseEnd |= at
		}
		if r.tokens.spans[word.from].isName {
			r.mark(set.exact["@"], at)
		}
		text := v.textAt(from + i)
		r.mark(set.exact["_"], at)
		if text[0] >= '0' && text[0] <= '9' {
			r.mark(set.exact["#"], at)
		}
		if isNumber(text) {
			r.mark(set.exact[string(text)], at)
			continue
		}
		if known := referenceEntry(set, text); known != nil {
			r.mark(known, at)
			continue
		}
		for _, e := range set.appendReadings(nil, text) {
			r.mark(e, at)
		}
	}
}

func (r *reference) mark(e *entry, at uint64) {
	if e == nil {
		return
	}
	for _, atom := range e.atoms {
		if r.window.occurs[atom] == 0 {
			r.window.touched = append(r.window.touched, atom)
		}
		r.window.occurs[atom] |= at
	}
}

func (r *reference) matchRules(set *ruleSet, language, from int) {
	isDone := map[int32]bool{} // rules that were found in this window
	for _, atom := range r.window.touched {
		for _, ref := range set.byAnchor[atom] {
			rule := &set.rules[ref.rule]
			if !isDone[ref.rule] && (r.asked >= formReach || !rule.isForm) && r.hasMatch(rule, ref.pattern, language, from) {
				isDone[ref.rule] = true
				if rule.tier == tierOrdinary {
					r.isLimited = true
				} else {
					r.present[rule.id] = true
				}
			}
		}
	}
}

func (r *reference) hasMatch(rule *rule, pattern *node, language, from int) bool {
	w := &r.window
	for start := range w.words {
		for ends := w.matchPlainly(pattern, 1<<start); ends != 0; ends &= ends - 1 {
			end := bits.TrailingZeros64(ends)
			if r.isForeign(language, from+start, from+end) {
				continue
			}
			if !w.isExceptedPlainly(rule.unless, start, end) {
				v := &r.versions[language]
				isDoubted := rule.tier == tierStop && (r.isNegatedInEnglish(language, from+start) || r.isDoubtedAt(language, from+start, from+end))
				if !isDoubted && r.tierAt(rule, int(v.words[from+start].from), int(v.words[from+end-1].to)) != tierNone {
					return true
				}
				continue
			}
			r.isLimited = r.isLimited || !rule.tier.isDanger() && !rule.isForm
		}
	}
	return false
}

func (w *window) isExceptedPlainly(unless []*exception, start, end int) bool {
	low, high := max(0, start-exceptionReach), min(w.words, end+exceptionReach)
	within := (w.allPositions()<<1 | 1) &^ (1<<low - 1)
	upTo := within & (1<<high | (1<<high - 1))
	for _, e := range unless {
		if slices.ContainsFunc(e.before.kids, func(p *node) bool { return w.matchPlainly(p, within&(1<<start-1))>>start&1 == 1 }) ||
			slices.ContainsFunc(e.after.kids, func(p *node) bool { return w.matchPlainly(p, 1<<end) != 0 }) ||
			slices.ContainsFunc(e.near.kids, func(p *node) bool { return w.matchPlainly(p, upTo)&upTo != 0 }) {
			return true
		}
	}
	return false
}

// matchPlainly is matchNode without memos and without what is looked at first.
func (w *window) matchPlainly(n *node, at uint64) uint64 {
	either := func(at uint64) (after uint64) {
		for _, kid := range n.kids {
			after |= w.matchPlainly(kid, at)
		}
		return after
	}
	switch n.op {
	case opWord:
		return at & w.occurs[n.atom] << 1
	case opSeq:
		for _, kid := range n.kids {
			at = w.matchPlainly(kid, at)
		}
		return at
	case opAlt:
		return either(at)
	case opOptional:
		return at | either(at)
	case opGap:
		for range n.n {
			at |= at &^ w.breaks << 1
		}
		return at & (1<<(w.words+1) - 1)
	case opRepeat:
		for range n.n {
			at |= w.matchPlainly(n.kids[0], at)
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

// splitPlainly is splitWords with a string for each word.
func splitPlainly(body string) []string {
	var all []string
	var word strings.Builder
	endWord := func() {
		if word.Len() > 0 {
			all = append(all, word.String())
			word.Reset()
		}
	}
	for _, r := range norm.NFKD.String(strings.ReplaceAll(body, "\u00b4", "'")) {
		switch {
		case strings.ContainsRune(fillers, r), unicode.Is(unicode.M, r), unicode.Is(unicode.Cf, r), isApostrophe(r):
			continue
		case unicode.IsLetter(r), unicode.IsDigit(r):
			word.WriteRune(unicode.ToLower(asLatin(r)))
		default:
			endWord()
		}
	}
	endWord()
	return all
}

// The texts to learn from, alone and in rows with and without sentences between
// them, are read as the plain way reads them.
func TestSameAsReference(t *testing.T) {
	var s scanner
	var r reference
	for _, language := range languages {
		texts, err := sheets.Read(os.DirFS("train/texts"), language)
		require.NoError(t, err)
		var bodies []string
		for i, text := range texts {
			if i%20 == 0 {
				bodies = append(bodies, text.Body)
			}
			if i%120 == 40 {
				var row []string
				for _, text := range texts[i-40 : i] {
					row = append(row, text.Body)
				}
				bodies = append(bodies, strings.Join(row[:12], ". "), strings.Join(row[:8], " "), strings.Join(row, " stop. "), strings.ReplaceAll(row[0], " ", ". "))
			}
		}
		require.Greater(t, len(bodies), 100)
		for _, body := range bodies {
			want := r.scanBody(body)
			var got []string
			for _, f := range s.scanBody(body) {
				got = append(got, f.rule.id)
			}
			slices.Sort(got)
			require.Equal(t, want, slices.Compact(got), body)
			require.Equal(t, r.isLimited, s.isLimited, body)
			for i := range s.versions {
				require.Equal(t, r.versions[i].known, s.versions[i].known, body)
				require.Equal(t, string(r.versions[i].chars), string(s.versions[i].chars), body)
			}
			require.True(t, slices.Equal(splitPlainly(body), splitWords(body)), body)
		}
	}
}
