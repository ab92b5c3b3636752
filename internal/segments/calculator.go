package segments

import "unicode"

// The carrier's calculator divides a text into characters by the emoji lists of
// Unicode 10, and a character does not straddle two segments. So what Count
// calls a character differs from what a person sees: after a zero-width joiner
// it goes on with an emoji of a short list only, and a skin tone belongs only
// to the emoji that could have one then. The npm package sms-segments-calculator
// 1.3.0 with grapheme-splitter 1.0.4 is the reference.

const (
	joiner    = '\u200d'
	firstFlag = '\U0001F1E6'
	lastFlag  = '\U0001F1FF'
	firstTone = '\U0001F3FB'
	lastTone  = '\U0001F3FF'
)

// persons are the emoji that take a skin tone and follow a joiner
// (E_Base_GAZ); tinted take a skin tone (E_Base); joined follow a joiner
// (Glue_After_Zwj).
var (
	persons = runeTable(0x1f466, 0x1f469)
	tinted  = runeTable(0x261d, 0x261d, 0x26f9, 0x26f9, 0x270a, 0x270d, 0x1f385, 0x1f385, 0x1f3c2, 0x1f3c4, 0x1f3c7, 0x1f3c7,
		0x1f3ca, 0x1f3cc, 0x1f442, 0x1f443, 0x1f446, 0x1f450, 0x1f46e, 0x1f46e, 0x1f470, 0x1f478, 0x1f47c, 0x1f47c,
		0x1f481, 0x1f483, 0x1f485, 0x1f487, 0x1f4aa, 0x1f4aa, 0x1f574, 0x1f575, 0x1f57a, 0x1f57a, 0x1f590, 0x1f590,
		0x1f595, 0x1f596, 0x1f645, 0x1f647, 0x1f64b, 0x1f64f, 0x1f6a3, 0x1f6a3, 0x1f6b4, 0x1f6b6, 0x1f6c0, 0x1f6c0,
		0x1f6cc, 0x1f6cc, 0x1f918, 0x1f91c, 0x1f91e, 0x1f91f, 0x1f926, 0x1f926, 0x1f930, 0x1f939, 0x1f93d, 0x1f93e, 0x1f9d1, 0x1f9dd)
	joined = runeTable(0x2640, 0x2640, 0x2642, 0x2642, 0x2695, 0x2696, 0x2708, 0x2708, 0x2764, 0x2764, 0x1f308, 0x1f308,
		0x1f33e, 0x1f33e, 0x1f373, 0x1f373, 0x1f393, 0x1f393, 0x1f3a4, 0x1f3a4, 0x1f3a8, 0x1f3a8, 0x1f3eb, 0x1f3eb, 0x1f3ed, 0x1f3ed,
		0x1f48b, 0x1f48b, 0x1f4bb, 0x1f4bc, 0x1f527, 0x1f527, 0x1f52c, 0x1f52c, 0x1f5e8, 0x1f5e8, 0x1f680, 0x1f680, 0x1f692, 0x1f692)
)

// runeTable holds ranges of runes, given as first and last of each.
func runeTable(bounds ...uint32) *unicode.RangeTable {
	var table unicode.RangeTable
	for i := 0; i < len(bounds); i += 2 {
		table.R32 = append(table.R32, unicode.Range32{Lo: bounds[i], Hi: bounds[i+1], Stride: 1})
	}
	return &table
}

// character is what the calculator has read of one of its characters.
type character struct {
	runes int
	// last and before are its last two runes, 0 where there are less.
	last, before rune
	marked       bool // it holds a combining mark
	flag         bool // it begins with the two letters of a flag
}

func (c *character) addRune(r rune) {
	c.runes++
	c.before, c.last = c.last, r
	c.marked = c.marked || isMark(r)
	c.flag = c.flag || c.runes == 2 && isFlagLetter(r) && isFlagLetter(c.before)
}

// endsBefore reports whether the next rune begins another character. whole says
// that a person sees both as one.
func (c *character) endsBefore(next rune, whole bool) bool {
	switch {
	case c.flag && !isFlagLetter(c.last):
		return true // The calculator adds one mark or joiner to a flag.
	case next >= firstTone && next <= lastTone:
		return !c.takesTone()
	case c.last == joiner && (unicode.Is(joined, next) || unicode.Is(persons, next)):
		return false
	case c.last == joiner:
		return next != joiner && !isMark(next)
	}
	return !whole
}

// takesTone reports whether a skin tone belongs to the character: right behind
// its emoji, or with one mark between them, which is its only one.
func (c *character) takesTone() bool {
	base := c.last
	if c.marked {
		if !isMark(c.last) {
			return false
		}
		base = c.before
	}
	return unicode.Is(tinted, base) || unicode.Is(persons, base)
}

func isFlagLetter(r rune) bool { return r >= firstFlag && r <= lastFlag }

// isMark reports whether a rune is Grapheme_Extend, in which Unicode 10 had
// neither joiner nor tones.
func isMark(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Other_Grapheme_Extend)
}
