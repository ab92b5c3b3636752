package segments

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a reply may take: two texts, of three segments where it does not fit into two.
const (
	MaxParts     = 2
	PartSegments = 2
	FullSegments = 3
	// MaxCharacters is the carrier's limit for one text, in UTF-16 units.
	MaxCharacters = 1600
)

// Options bound a split; 0 stands for MaxParts, and for PartSegments or, where the text
// does not fit, FullSegments.
type Options struct {
	MaxParts int
	// Segments is how many segments a part may take.
	Segments int
}

// Parts are texts to be sent one after the other, none of them empty or longer
// than MaxCharacters. LeftOut counts the characters (code points) that found no
// place; the last part ends with "..." when there are any, unless that would make
// it longer than MaxCharacters.
type Parts struct {
	Texts   []string
	LeftOut int
}

// tail ends a text that was cut; "..." is in both encodings.
const tail = " ..."

// Split divides a text that is too long for one part. It prefers to divide
// between paragraphs (lines), then between sentences, then between words, and
// divides a word only when it is longer than a part; it never divides a
// character that is made of several code points, nor a URL: one that is longer
// than a part has a part of its own that takes more segments. White space at
// the cuts is dropped, nothing else, unless LeftOut says so. A text that fits
// is one part, a blank one none.
func Split(text string, o Options) Parts {
	if o.MaxParts < 1 {
		o.MaxParts = MaxParts
	}
	sizes := []int{o.Segments}
	if o.Segments < 1 {
		sizes = []int{PartSegments, FullSegments}
	}
	s := &splitter{text: text, pieces: scanText(text), options: o}
	// Parts that end at paragraphs are the easiest to read and the least full:
	// when they cannot hold the text, fuller ones are tried. A text that has to
	// be cut anyway is not divided within sentences as well.
	for _, s.options.Segments = range sizes {
		for _, coarse := range []breakKind{paragraph, sentence, word} {
			if out := s.planParts(coarse); out.LeftOut == 0 {
				return out
			}
		}
	}
	return s.planParts(sentence)
}

type splitter struct {
	text    string
	pieces  []grapheme
	options Options
	coarse  breakKind // the coarsest edges that this plan looks for
}

// planParts divides the text at edges no coarser than the given one: coarser ones
// are as good, not better.
func (s *splitter) planParts(coarse breakKind) Parts {
	s.coarse = coarse
	var out Parts
	for from := s.skipSpace(0); from < len(s.pieces); {
		end := s.findEnd(from, "")
		if end < len(s.pieces) && len(out.Texts)+1 == s.options.MaxParts {
			end = s.findEnd(from, tail)
			out.Texts = append(out.Texts, s.cutPart(from, end))
			out.LeftOut = utf8.RuneCountInString(strings.TrimSpace(s.textBetween(end, len(s.pieces))))
			return out
		}
		out.Texts = append(out.Texts, s.trimmedPart(from, end))
		from = s.skipSpace(end)
	}
	return out
}

// skipSpace returns the next piece that is not white space; the end of the text
// when nothing else is left.
func (s *splitter) skipSpace(from int) int {
	for from < len(s.pieces) && s.pieces[from].space {
		from++
	}
	return from
}

func (s *splitter) textBetween(from, end int) string {
	start := 0
	if from > 0 {
		start = s.pieces[from-1].end
	}
	return s.text[start:s.pieces[end-1].end]
}

// trimmedPart returns a part without the white space at its end.
func (s *splitter) trimmedPart(from, end int) string {
	for s.pieces[end-1].space { // The first of a part is none.
		end--
	}
	return s.textBetween(from, end)
}

// cutPart returns the last part of a text that goes on. Only a URL can be so
// long that the dots find no place behind it.
func (s *splitter) cutPart(from, end int) string {
	part := s.trimmedPart(from, end)
	if utf16Len(part) > MaxCharacters-len(tail) {
		return part
	}
	last, _ := utf8.DecodeLastRuneInString(part)
	address := urls.FindAllStringIndex(part, -1)
	if n := len(address); unicode.IsLetter(last) && (n == 0 || address[n-1][1] < len(part)) {
		return part + strings.TrimSpace(tail)
	}
	return part + tail
}

// findEnd finds where the part that starts at a piece ends when something is to
// follow it: the number of pieces when all the rest fits.
func (s *splitter) findEnd(from int, follows string) int {
	var t tally
	var latest [paragraph + 1]int
	i := from
	for ; i < len(s.pieces); i++ {
		t.addCluster(s.pieces[i].text)
		if !s.pieces[i].space && !s.canFollow(t, follows) {
			break
		}
		at := min(s.pieces[i].edge, s.coarse)
		latest[at] = i + 1
	}
	if i == len(s.pieces) {
		return i
	}
	// An edge near the start would make a part of a few words.
	for e := paragraph; e >= soft; e-- {
		if k := latest[e]; k > 0 && (k-from)*3 >= i-from {
			return k
		}
	}
	if k := max(latest[paragraph], latest[sentence], latest[word]); k > 0 {
		return k
	}
	if k := max(latest[soft], latest[inWord]); k > 0 {
		return k
	}
	return s.wholeEnd(from)
}

func (s *splitter) canFollow(t tally, follows string) bool {
	for _, r := range follows {
		t.addCluster(string(r))
	}
	return t.size().Segments <= s.options.Segments
}

// wholeEnd returns the end of what may not be divided, a URL, unless the
// carrier would refuse it.
func (s *splitter) wholeEnd(from int) int {
	length := 0
	for i := from; ; i++ { // The end of the text is no place within a URL.
		length += utf16Len(s.pieces[i].text)
		if length > MaxCharacters { // Not by the first piece alone: splitAtoms bounds it.
			return i
		}
		if s.pieces[i].edge != never {
			return i + 1
		}
	}
}
