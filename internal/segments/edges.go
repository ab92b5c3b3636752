package segments

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// breakKind says how good a place to divide a text is.
type breakKind int

const (
	never  breakKind = iota // inside a URL, before white space
	inWord                  // between two characters of a word
	soft                    // where a line may break without a space: after a hyphen, in Chinese or Japanese
	word
	sentence
	paragraph // at a line break
)

// grapheme is one character as a person sees it, and the place behind it.
type grapheme struct {
	text  string
	end   int // offset behind it
	space bool
	edge  breakKind
}

// urls matches addresses. They end at white space and where a script without
// spaces goes on behind them.
var urls = regexp.MustCompile(`(?i)(?:[a-z][a-z0-9+.-]{1,19}://|www\.)` +
	`[^\s\p{Z}<>"“”\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}，。！？、；：「」（）]+`)

// scanText divides a text into characters and rates the places between them.
func scanText(text string) []grapheme {
	var pieces []grapheme
	for rest, state := text, -1; rest != ""; {
		var cluster string
		var bounds int
		cluster, rest, bounds, state = uniseg.StepString(rest, state)
		end := len(text) - len(rest)
		at := inWord
		if bounds&uniseg.MaskLine != uniseg.LineDontBreak {
			at = soft
		}
		if cluster == "\r\n" {
			pieces = append(pieces, grapheme{text: cluster, end: end, space: true, edge: at})
			continue
		}
		all := splitAtoms(cluster)
		for i, atom := range all {
			end := end - len(strings.Join(all[i+1:], ""))
			pieces = append(pieces, grapheme{text: atom, end: end, space: strings.TrimSpace(atom) == "", edge: at})
		}
	}
	rateEdges(text, pieces)
	return pieces
}

// rateEdges raises the places where words, sentences and lines end, and closes
// those inside a URL.
func rateEdges(text string, pieces []grapheme) {
	run := 0 // where the white space before a place begins
	for i := range pieces[:max(len(pieces)-1, 0)] {
		p := &pieces[i]
		start := p.end - len(p.text)
		if !p.space || i == 0 || !pieces[i-1].space {
			run = start
		}
		next, _ := utf8.DecodeRuneInString(text[p.end:])
		switch {
		case pieces[i+1].space:
			p.edge = never
		case p.space:
			p.edge = betweenWords(text[:run], text[run:p.end], next)
		case p.edge == soft && strings.ContainsAny(p.text, "。！？"):
			p.edge = sentence
		}
	}
	closeURLs(text, pieces)
}

// closeURLs makes the places inside a URL unfit.
func closeURLs(text string, pieces []grapheme) {
	i := 0
	for _, span := range urls.FindAllStringIndex(text, -1) {
		for ; pieces[i].end < span[1]; i++ { // The last ends where the text does.
			if pieces[i].end > span[0] {
				pieces[i].edge = never
			}
		}
	}
}

// betweenWords rates a place behind white space.
func betweenWords(before, space string, next rune) breakKind {
	switch {
	case strings.ContainsAny(space, "\n\r\u2028\u2029"):
		return paragraph
	case strings.Trim(space, "\u00a0\u202f") == "", strings.ContainsRune("!?:;,.)»%", next):
		return soft
	case sentenceEnds(before, next):
		return sentence
	}
	return word
}

// sentenceEnds reports whether a sentence ends with what stands before white
// space. Quotes, brackets and emoji behind its full stop belong to it.
func sentenceEnds(before string, next rune) bool {
	if unicode.IsLower(next) || isPictograph(next) {
		return false
	}
	before = strings.TrimRightFunc(before, func(r rune) bool {
		return unicode.IsSpace(r) || isPictograph(r) || strings.ContainsRune(`)]}"'”’»`, r)
	})
	last, _ := utf8.DecodeLastRuneInString(before)
	switch last {
	case '!', '?', '…', '。', '！', '？':
		return true
	case '.':
		return !isAbbreviation(before)
	}
	return false
}

// isPictograph reports whether a rune is an emoji or what emoji are joined
// with.
func isPictograph(r rune) bool {
	return unicode.Is(unicode.So, r) || unicode.Is(unicode.Sk, r) || r == '\ufe0f' || r == '\u200d'
}

// initials: "a.m.", "e.g.", "U.S.", "J."; ordinal: the marker of a list.
var (
	initials = regexp.MustCompile(`^(?:\p{L}\.)+$`)
	ordinal  = regexp.MustCompile(`^[ \t]*\d{1,3}\.$`)
)

// abbreviations that are followed by a name, a number or more of the sentence.
// A word that is also a whole sentence's end ("no.") costs one place to divide.
var abbreviations = []string{
	"approx.", "apt.", "ave.", "bzw.", "ca.", "cf.", "dept.", "dr.", "ed.", "est.", "etc.", "evtl.", "ext.", "fig.", "hr.", "hrs.",
	"incl.", "jr.", "lic.", "max.", "mins.", "mr.", "mrs.", "ms.", "mt.", "no.", "nr.", "pp.", "prof.", "resp.", "rev.", "sra.", "sr.",
	"st.", "tel.", "usw.", "vol.", "vs.", "jan.", "feb.", "mar.", "apr.", "jun.", "jul.", "aug.", "sep.", "sept.", "oct.", "nov.", "dec.",
}

func isAbbreviation(before string) bool {
	if ordinal.MatchString(before[strings.LastIndexByte(before, '\n')+1:]) {
		return true
	}
	token := before[strings.LastIndexFunc(before, unicode.IsSpace)+1:]
	token = strings.TrimLeft(token, `([{"'“‘«`)
	for _, known := range abbreviations {
		if strings.EqualFold(token, known) {
			return true
		}
	}
	return initials.MatchString(token)
}
