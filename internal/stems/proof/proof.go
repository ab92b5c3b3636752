// Package proof checks for tests that the stems of a pattern are necessary. It
// does not derive them again: it walks the compiled pattern and looks for a
// match that holds no stem.
package proof

import (
	"regexp/syntax"
	"strings"
	"unicode"
)

// Exception returns a shortest string that the pattern matches, wherever it may
// stand, and that holds none of the stems; false if there is none, and the stems
// are proven. It panics where the pattern is malformed.
func Exception(pattern string, stems []string) (string, bool) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic(err)
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		panic(err)
	}
	w := walk{prog: prog, stems: stems, seen: map[place]bool{}}
	w.reach(place{pc: prog.Start}, "")
	for len(w.next) > 0 {
		at := w.next[0]
		w.next = w.next[1:]
		if prog.Inst[at.pc].Op == syntax.InstMatch {
			return at.read, true
		}
		w.step(at)
	}
	return "", false
}

// place is a point in the pattern, with as much of what was read as may be the
// beginning of a stem.
type place struct {
	pc   int
	tail string
}

type visit struct {
	place
	read string
}

type walk struct {
	prog  *syntax.Prog
	stems []string
	seen  map[place]bool
	next  []visit
}

// reach goes on to where a character is read, or the match ends. Conditions on
// the position are taken to hold, which can only add strings.
func (w *walk) reach(at place, read string) {
	if w.seen[at] {
		return
	}
	w.seen[at] = true
	inst := &w.prog.Inst[at.pc]
	switch inst.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		w.reach(place{int(inst.Out), at.tail}, read)
		w.reach(place{int(inst.Arg), at.tail}, read)
	case syntax.InstCapture, syntax.InstEmptyWidth, syntax.InstNop:
		w.reach(place{int(inst.Out), at.tail}, read)
	case syntax.InstMatch, syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		w.next = append(w.next, visit{place: at, read: read})
	case syntax.InstFail:
	}
}

// step reads each character that makes a difference and does not end a stem.
func (w *walk) step(from visit) {
	inst := &w.prog.Inst[from.pc]
	for _, r := range w.choices(inst) {
		tail, ends := w.follow(from.tail + string(r))
		if !ends {
			w.reach(place{int(inst.Out), tail}, from.read+string(r))
		}
	}
}

// choices are the characters of stems that may be read here, and one other that
// stands for all others.
func (w *walk) choices(inst *syntax.Inst) []rune {
	var all []rune
	letters := strings.Join(w.stems, "")
	for _, r := range letters {
		if inst.MatchRune(r) {
			all = append(all, r)
		}
	}
	if len(inst.Rune) == 1 && syntax.Flags(inst.Arg)&syntax.FoldCase != 0 {
		all = append(all, inst.Rune[0], unicode.SimpleFold(inst.Rune[0]), unicode.SimpleFold(unicode.SimpleFold(inst.Rune[0])))
	}
	for i := 0; i < len(inst.Rune); i += 2 {
		for r := inst.Rune[i]; r <= inst.Rune[min(i+1, len(inst.Rune)-1)]; r++ {
			if !strings.ContainsRune(letters, r) {
				return append(all, r)
			}
		}
	}
	return all
}

// follow keeps the longest end of what was read that begins a stem, and tells
// whether a stem ends here.
func (w *walk) follow(read string) (string, bool) {
	for _, stem := range w.stems {
		if strings.HasSuffix(read, stem) {
			return "", true
		}
	}
	for i := range read {
		for _, stem := range w.stems {
			if strings.HasPrefix(stem, read[i:]) {
				return read[i:], false
			}
		}
	}
	return "", false
}
