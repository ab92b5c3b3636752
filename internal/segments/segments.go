// Package segments knows what a text costs on the phone network and how to
// send a long one: it counts segments (GSM-7 or UCS-2), replaces typographic
// characters by plain ones where that is cheaper, and splits a text into parts
// that a person can read one after the other.
package segments

import (
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

// Count measures a text. One character outside the GSM 03.38 alphabet turns
// the whole text to UCS2. A character never straddles two segments: neither
// one of the extension table, which takes two septets, nor one that is made of
// several UTF-16 units, so a segment may end before it is full. An empty text
// has no segments.
func Count(text string) Size {
	var t tally
	for state := -1; text != ""; {
		var cluster string
		cluster, text, _, state = uniseg.FirstGraphemeClusterInString(text, state)
		for _, atom := range atoms(cluster) {
			t.add(atom)
		}
	}
	return t.size()
}

// atoms are what a segment's end may not divide: characters as a person sees
// them. A pile of marks that is longer than a segment has to be divided, and
// a carriage return and its line feed may be.
func atoms(cluster string) []string {
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
}

func (t *tally) add(atom string) {
	for _, r := range atom {
		n := gsmUnits(r)
		t.beyond = t.beyond || n == 0
		t.gsm.add(n, gsmJoined)
	}
	t.ucs.add(utf16Len(atom), ucsJoined)
}

func (t *tally) size() Size {
	if t.beyond {
		return Size{Encoding: UCS2, Units: t.ucs.units, Segments: t.ucs.count(ucsSingle)}
	}
	return Size{Encoding: GSM7, Units: t.gsm.units, Segments: t.gsm.count(gsmSingle)}
}

// packer fills joined segments one after the other.
type packer struct {
	units, segments, fill int
}

func (p *packer) add(units, room int) {
	p.units += units
	if p.segments == 0 || p.fill+units > room {
		p.segments++
		p.fill = 0
	}
	p.fill += units
}

func (p *packer) count(single int) int {
	switch {
	case p.units == 0:
		return 0
	case p.units <= single:
		return 1
	}
	return p.segments
}

// Characters of the GSM 03.38 default alphabet beyond ASCII, and those of its
// extension table.
const (
	gsmBeyondASCII = "\n\r£¥èéùìòÇØøÅåΔΦΓΛΩΠΨΣΘΞÆæßÉ¤¡ÄÖÑÜ§¿äöñüà"
	gsmExtension   = "\f^{}\\[~]|€"
)

// gsmUnits is how many septets a character takes, 0 when GSM-7 lacks it.
func gsmUnits(r rune) int {
	switch {
	case strings.ContainsRune(gsmExtension, r):
		return 2
	case r >= ' ' && r <= '~' && r != '`', strings.ContainsRune(gsmBeyondASCII, r):
		return 1
	}
	return 0
}

// utf16Len is the length in UTF-16 units, which is also what the carrier
// counts as characters.
func utf16Len(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}
