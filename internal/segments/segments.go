// Package segments knows what a text costs on the phone network and how to
// send a long one: it counts segments (GSM-7 or UCS-2), replaces typographic
// characters by plain ones where that is cheaper, and splits a text into parts
// that a person can read one after the other.
package segments

import (
	"cmp"
	"strings"
	"unicode/utf16"

	"github.com/rivo/uniseg"
)

// Encoding is how the network writes a text.
type Encoding string

const (
	GSM7 Encoding = "gsm7"
	UCS2 Encoding = "ucs2"
)

// Units in a segment that stands alone and in one of several; the others hold
// a header that tells the phone how to join them (GSM 03.40).
const (
	gsmSingle, gsmJoined = 160, 153
	ucsSingle, ucsJoined = 70, 67
)

// Size is what a text costs. Units are septets for GSM7 and UTF-16 units for
// UCS2.
type Size struct {
	Encoding Encoding
	Units    int
	Segments int
}

// Count measures a text as the carrier's own calculator does. One character
// outside the GSM 03.38 alphabet turns the whole text to UCS2. A character
// never straddles two segments: neither one of the extension table, which takes
// two septets, nor one that is made of several UTF-16 units, so a segment may
// end before it is full. An empty text has no segments.
func Count(text string) Size {
	var t tally
	for state := -1; text != ""; {
		var cluster string
		cluster, text, _, state = uniseg.FirstGraphemeClusterInString(text, state)
		t.addCluster(cluster)
	}
	return t.size()
}

// splitAtoms divides a cluster into what a part's end may not divide:
// characters as a person sees them. A pile of marks that is longer than a
// segment has to be divided, and a carriage return and its line feed may be.
func splitAtoms(cluster string) []string {
	if cluster == "\r\n" || utf16Len(cluster) > ucsJoined {
		return strings.Split(cluster, "")
	}
	return []string{cluster}
}

// tally counts while a text grows. Both encodings are followed, because a
// later character decides between them.
type tally struct {
	gsm, ucs packer
	beyond   bool // a character that GSM-7 does not have was seen
	// open is the calculator's character that may still go on; openUnits is its
	// length in UTF-16 units.
	open      character
	openUnits int
}

// addCluster takes what a person sees as one character, or a part of it that the
// calculator would divide as well.
func (t *tally) addCluster(cluster string) {
	for i, r := range cluster {
		n := gsmUnits(r)
		t.beyond = t.beyond || n == 0
		if n > 0 {
			t.gsm.addUnits(n, gsmSingle, gsmJoined)
		}
		if t.open.endsBefore(r, i > 0 && cluster != "\r\n") {
			t.packOpen()
		}
		t.open.addRune(r)
		t.openUnits += utf16.RuneLen(r)
	}
}

func (t *tally) packOpen() {
	t.ucs.addUnits(t.openUnits, ucsSingle, ucsJoined)
	t.open, t.openUnits = character{}, 0
}

func (t tally) size() Size {
	if t.beyond {
		t.packOpen()
		return Size{Encoding: UCS2, Units: t.ucs.units, Segments: t.ucs.segments}
	}
	return Size{Encoding: GSM7, Units: t.gsm.units, Segments: t.gsm.segments}
}

// packer fills segments one after the other. What is in the first is
// remembered, because it gets a header when a second one begins and what then
// has no place moves on.
type packer struct {
	units, segments, fill int
	first                 [gsmSingle]uint8 // units of each character in the first segment
	characters            int
}

func (p *packer) addUnits(units, single, joined int) {
	p.units += units
	p.segments = max(p.segments, 1)
	switch {
	case p.segments == 1 && p.fill+units > single:
		p.segments = 2
		p.fill = p.moveOn(joined)
	case p.segments > 1 && p.fill+units > joined:
		p.segments++
		p.fill = 0
	}
	if p.segments == 1 {
		p.first[p.characters] = uint8(units) // At most 160, the first segment's capacity.
		p.characters++
	}
	p.fill += units
}

// moveOn takes characters out of the first segment until the
// header fits, and returns their units.
func (p *packer) moveOn(joined int) int {
	moved := 0
	for p.fill-moved > joined {
		p.characters--
		moved += int(p.first[p.characters])
	}
	return moved
}

// Characters of the GSM 03.38 default alphabet beyond ASCII, and those of its
// extension table.
const (
	gsmBeyondASCII = "\n\r£¥èéùìòÇØøÅåΔΦΓΛΩΠΨΣΘΞÆæßÉ¤¡ÄÖÑÜ§¿äöñüà"
	gsmExtension   = "\f^{}\\[~]|€"
)

// gsmUnits returns how many septets a character takes, 0 when GSM-7 lacks it.
func gsmUnits(r rune) int {
	switch {
	case strings.ContainsRune(gsmExtension, r):
		return 2
	case r >= ' ' && r <= 'z' && r != '`', strings.ContainsRune(gsmBeyondASCII, r):
		return 1
	}
	return 0
}

// utf16Len returns the length in UTF-16 units, which is also what the carrier
// counts as characters.
func utf16Len(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// plainer maps typographic characters to those of GSM-7. It holds punctuation,
// signs and spaces only: no letter, with a diacritic or without, no digit and
// no emoji, and nothing that its replacement would change in meaning
// ("1½" is not "11/2", the dot of "col·legi" is part of a word).
var plainer = strings.NewReplacer(
	// Single quotes, apostrophes, primes.
	"‘", "'", "’", "'", "‚", "'", "‛", "'", "‹", "'", "›", "'", "′", "'", "´", "'", "`", "'",
	// Double quotes.
	"“", `"`, "”", `"`, "„", `"`, "‟", `"`, "«", `"`, "»", `"`, "″", `"`,
	// Hyphens, the minus sign, the dashes of ranges.
	"\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2212", "-",
	// Dashes between phrases keep the phrases apart.
	" \u2014 ", " - ", " \u2014", " -", "\u2014 ", "- ", "\u2014", " - ",
	" \u2015 ", " - ", " \u2015", " -", "\u2015 ", "- ", "\u2015", " - ",
	// Ellipsis, bullets, dots between phrases, fraction slash.
	"…", "...", "•", "-", "‣", "-", "◦", "-", "⁃", "-", "∙", "-", "▪", "-", "●", "-", " · ", " - ", "⁄", "/",
	// Signs of arithmetic and arrows.
	"×", "x", "≤", "<=", "≥", ">=", "≠", "!=", "→", "->", "←", "<-",
	// Spaces: no-break, of the printers' widths, ideographic; tab.
	"\u00a0", " ", "\u2000", " ", "\u2001", " ", "\u2002", " ", "\u2003", " ", "\u2004", " ", "\u2005", " ",
	"\u2006", " ", "\u2007", " ", "\u2008", " ", "\u2009", " ", "\u200a", " ", "\u202f", " ", "\u205f", " ", "\u3000", " ", "\t", " ",
	// Separators of lines and paragraphs.
	"\u2028", "\n", "\u2029", "\n\n",
	// Invisible: soft hyphen, zero-width space, word joiner, byte order mark.
	"\u00ad", "", "\u200b", "", "\u2060", "", "\ufeff", "",
)

// Smart replaces typographic characters where it pays: when the whole text
// becomes GSM-7 and takes no more segments, or when its parts take fewer.
// Otherwise the text stays as it is, since one that needs UCS-2 anyway loses
// nothing by its quotes. A text within MaxCharacters stays within.
func Smart(text string) string {
	candidate := plainer.Replace(text)
	if candidate == text || utf16Len(candidate) > MaxCharacters && utf16Len(text) <= MaxCharacters {
		return text
	}
	before, after := priceOf(text), priceOf(candidate)
	if after.isUnder(before) || after == before && Count(candidate).Encoding == GSM7 {
		return candidate
	}
	return text
}

// price is what a text costs when it is sent in parts.
type price struct{ leftOut, segments int }

func priceOf(text string) price {
	out := Split(text, Options{})
	p := price{leftOut: out.LeftOut}
	for _, part := range out.Texts {
		p.segments += Count(part).Segments
	}
	return p
}

func (p price) isUnder(other price) bool {
	return cmp.Or(cmp.Compare(p.leftOut, other.leftOut), cmp.Compare(p.segments, other.segments)) < 0
}
