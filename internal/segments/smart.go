package segments

import "strings"

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
	if p.leftOut != other.leftOut {
		return p.leftOut < other.leftOut
	}
	return p.segments < other.segments
}
