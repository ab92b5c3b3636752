// Package stems knows what a text must hold before a regular expression can
// match in it. One pass over a text finds the few patterns of many that are
// worth running; nearly always there is none. It is pure.
package stems

import (
	"slices"
	"strings"
)

// Index finds those of many things with a pattern whose pattern may match in a
// text. It is safe for use by several goroutines.
type Index[T any] struct {
	things []T
	always []int
	known  map[gram][]stem
}

// stem is a string that brings up one of the things.
type stem struct {
	text  string
	thing int
}

// gram is the first three bytes of a stem.
type gram uint32

const gramBytes = 3

func (g gram) and(next byte) gram { return (g<<8 | gram(next)) & 0xffffff }

func gramOf(text string) gram {
	var g gram
	for i := range gramBytes {
		g = g.and(text[i])
	}
	return g
}

// NewIndex reads the pattern of each thing. It panics where one is malformed.
func NewIndex[T any](things []T, pattern func(T) string) *Index[T] {
	x := &Index[T]{things: things, known: map[gram][]stem{}}
	for i, thing := range things {
		x.add(i, Of(pattern(thing)))
	}
	return x
}

// add: a thing without stems, or with one too short to look up, is always
// worth a try.
func (x *Index[T]) add(thing int, stems []string) {
	if len(stems) == 0 || slices.ContainsFunc(stems, func(s string) bool { return len(s) < gramBytes }) {
		x.always = append(x.always, thing)
		return
	}
	for _, text := range stems {
		g := gramOf(text)
		x.known[g] = append(x.known[g], stem{text: text, thing: thing})
	}
}

// Likely gives the things whose pattern may match in the text, in no order. The
// pattern of every other thing matches nowhere in it, nor in a part of it.
func (x *Index[T]) Likely(text string) []T {
	found := slices.Clone(x.always)
	var g gram
	for i := range len(text) {
		g = g.and(text[i])
		for _, s := range x.known[g] {
			if strings.HasPrefix(text[max(i+1-gramBytes, 0):], s.text) && !slices.Contains(found, s.thing) {
				found = append(found, s.thing)
			}
		}
	}
	likely := make([]T, len(found))
	for i, thing := range found {
		likely[i] = x.things[thing]
	}
	return likely
}
