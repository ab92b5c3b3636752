// Package text reads and cuts texts: what of one can be seen, its normal form, its
// words, truncation, and the thinking in a model's answer. Carriers deliver
// characters without any shape: some are part of writing (the joiners of emoji
// and of Persian), the others only make equal texts look different to a program
// or hide words from people. It is pure.
package text

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'
	emojiForm = '\ufe0f'
)

// Visible is the text without what has no shape: zero-width characters,
// direction marks and overrides, tags, blank fillers and control characters
// other than line breaks and tabs. Joiners stay inside emoji and inside words of
// the scripts that are written with them. Right-to-left text keeps its order,
// which its letters carry themselves. White space at the ends goes too, so a
// text of nothing to see gives "".
func Visible(text string) string {
	// Joiners are judged by what is left beside them.
	runes := slices.DeleteFunc([]rune(text), isHidden)
	out := make([]rune, 0, len(runes))
	for i, r := range runes {
		inside := len(out) > 0 && joins(out[len(out)-1]) && i+1 < len(runes) && joins(runes[i+1])
		if inside || r != joiner && r != nonJoiner {
			out = append(out, r)
		}
	}
	return strings.TrimSpace(string(out))
}

// isHidden reports whether the character has no shape of its own.
func isHidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\r' || r == emojiForm || r == joiner || r == nonJoiner:
		return false
	case unicode.Is(unicode.Cf, r), unicode.IsControl(r), unicode.Is(unicode.Variation_Selector, r):
		return true
	}
	// Fillers and blanks that Unicode counts among letters, marks and symbols.
	return strings.ContainsRune("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0", r)
}

// joins: a joiner beside this character is part of how the word or the emoji is
// written.
func joins(r rune) bool {
	return r == emojiForm || unicode.In(r, unicode.So, unicode.Sk, unicode.Arabic, unicode.Syriac, unicode.Nko,
		unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
		unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar)
}

// Fold is the normal form by which texts are the same to a reader: what is
// visible, in one of the forms that Unicode has for it, in lower case, with one
// space between words. It is "" for a text of nothing to see.
func Fold(text string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(Visible(text)))), " ")
}

// Cut shortens a text to at most limit characters (code points) and says how
// many were left out; it does not end in a joiner. limit must be positive.
func Cut(text string, limit int) (short string, leftOut int) {
	runes := []rune(text)
	if len(runes) <= limit {
		return text, 0
	}
	end := limit
	for end > 0 && (runes[end-1] == joiner || runes[end-1] == nonJoiner) {
		end--
	}
	return string(runes[:end]), len(runes) - end
}

// ReadLimit is how much of one text the coach reads, in characters: a text of
// a phone holds at most 1,600, a picture message far more.
const ReadLimit = 4000

// Reading is a text as the coach and the history show it: what is visible of
// the body, cut at ReadLimit, with a note in brackets for what was left out and
// for media, which cannot be seen here. It is "" for a body of nothing to see
// without media.
func Reading(body string, media int) string {
	text, leftOut := Cut(Visible(body), ReadLimit)
	notes := make([]string, 0, 3)
	if text != "" {
		notes = append(notes, text)
	}
	if leftOut > 0 {
		notes = append(notes, "[the text was longer; its last "+strconv.Itoa(leftOut)+" characters are left out here]")
	}
	switch {
	case media == 1:
		notes = append(notes, "[the person sent 1 picture or file; you cannot see it]")
	case media > 1:
		notes = append(notes, "[the person sent "+strconv.Itoa(media)+" pictures or files; you cannot see them]")
	}
	return strings.Join(notes, "\n")
}
