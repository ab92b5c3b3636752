package screening

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// gapKind is what stands between a word and the word before it.
type gapKind uint8

const (
	gapNone   gapKind = iota // a space or a hyphen
	gapClause                // a comma, a symbol, an ellipsis
	gapSentence
)

// span is one word of a text as bytes of a buffer. isGlued says that only an
// apostrophe stands before it, isName that it has a capital letter at its
// beginning alone and does not begin a sentence.
type span struct {
	start, end int32
	before     gapKind
	isGlued    bool
	isName     bool
	isAsked    bool // a question mark stands behind it
}

// letterCase says which letters of a word are capitals.
type letterCase uint8

const (
	lowerCase letterCase = iota
	capitalFirst
	capitalsMore
)

// tokens cuts a text into words in lower case and in one form of the many that
// Unicode has for them: without accents, styles and invisible characters. Emoji
// that have a meaning here become words such as ":gun:".
type tokens struct {
	buf   []byte
	spans []span

	start   int // of the word that is being read, or -1
	pending gapKind
	isGlued bool
	dots    int
	last    string // the emoji read last; repeats are dropped
	capital letterCase
}

func (t *tokens) textAt(i int) []byte { return t.buf[t.spans[i].start:t.spans[i].end] }

func (t *tokens) reset() {
	*t = tokens{buf: t.buf[:0], spans: t.spans[:0], start: -1}
}

// readBody cuts the text. It takes time in proportion to the length of the
// text.
func (t *tokens) readBody(body string) {
	t.reset()
	// An acute accent that stands alone is typed for an apostrophe, and
	// decomposition would turn it into a space.
	text := norm.NFKD.String(strings.ReplaceAll(body, "\u00b4", "'"))
	for len(text) > 0 {
		r, width := utf8.DecodeRuneInString(text)
		text = text[width:]
		next, _ := utf8.DecodeRuneInString(text)
		t.addRune(r, next)
	}
	t.endWord()
}

func (t *tokens) addRune(r, next rune) {
	inWord := t.start >= 0
	switch {
	case isFiller(r), r >= utf8.RuneSelf && isInvisible(r):
	case unicode.IsLetter(r), unicode.IsDigit(r):
		t.noteCase(r)
		t.addLetter(unicode.ToLower(asLatin(r)))
	case isApostrophe(r):
		if inWord && unicode.IsLetter(next) {
			t.endWord()
			t.isGlued = true
		}
	case unicode.IsLetter(next) && (r == '$' || inWord && standIns[r] != 0):
		t.addLetter(standIns[r])
	case inWord && isDecimalPoint(rune(t.buf[len(t.buf)-1]), r, next):
		t.endWord()
	default:
		t.addSeparator(r)
	}
}

func (t *tokens) noteCase(r rune) {
	switch {
	case !unicode.IsUpper(r):
		if t.start < 0 {
			t.capital = lowerCase
		}
	case t.start < 0:
		t.capital = capitalFirst
	default:
		t.capital = capitalsMore
	}
}

func isDecimalPoint(before, r, next rune) bool {
	return (r == '.' || r == ',') && unicode.IsDigit(before) && unicode.IsDigit(next)
}

func (t *tokens) addLetter(r rune) {
	if t.start < 0 {
		t.start = len(t.buf)
		t.endDots()
	}
	t.last = ""
	if pair, ok := ligatures[r]; ok {
		t.buf = append(t.buf, pair...)
		return
	}
	t.buf = utf8.AppendRune(t.buf, r)
}

// ligatures are letters that no decomposition takes apart.
var ligatures = map[rune]string{'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ı': "i", 'ł': "l"}

func (t *tokens) endDots() {
	switch {
	case t.dots == 1:
		t.widenGap(gapSentence)
	case t.dots > 1:
		t.widenGap(gapClause)
	}
	t.dots = 0
}

func (t *tokens) widenGap(g gapKind) { t.pending = max(t.pending, g) }

func (t *tokens) addSeparator(r rune) {
	t.endWord()
	t.isGlued = false
	switch r {
	case '.', '\u2026':
		t.dots++
		if r != '.' {
			t.dots++
		}
		return
	case '?':
		if len(t.spans) > 0 {
			t.spans[len(t.spans)-1].isAsked = true
		}
		t.widenGap(gapSentence)
		return
	case '!', ';', '\n', '\u00a1', '\u00bf':
		t.widenGap(gapSentence)
		return
	case '-', '_', '/', '*', '~':
		return
	}
	if name, ok := emoji[r]; ok {
		t.emojiWord(name)
		return
	}
	if !unicode.IsSpace(r) && !unicode.IsControl(r) {
		t.widenGap(gapClause)
	}
}

func (t *tokens) emojiWord(name string) {
	if t.last == name {
		return
	}
	t.endDots()
	t.start = len(t.buf)
	t.buf = append(t.buf, name...)
	t.widenGap(gapClause)
	t.endWord()
	t.pending, t.last = gapClause, name
}

func (t *tokens) endWord() {
	if t.start < 0 {
		return
	}
	isName := t.capital == capitalFirst && len(t.spans) > 0 && t.pending != gapSentence && len(t.buf)-t.start > 2
	t.spans = append(t.spans, span{int32(t.start), int32(len(t.buf)), t.pending, t.isGlued && t.pending == gapNone, isName, false})
	t.start, t.pending, t.isGlued = -1, gapNone, false
}

func isInvisible(r rune) bool {
	return unicode.Is(unicode.M, r) || unicode.Is(unicode.Cf, r) || r >= 0x1f3fb && r <= 0x1f3ff
}

func isApostrophe(r rune) bool { return strings.ContainsRune("'`\u2018\u2019\u02bc", r) }

// standIns are symbols that stand for a letter within a word; a star may stand
// for any letter.
var standIns = map[rune]rune{'*': '*', '@': 'a', '$': 's', '!': 'i', '|': 'l', '+': 't'}

// emoji are the symbols that rules and classifier know.
var emoji = emojiOf(map[string]string{
	":gun:":     "🔫",
	":knife:":   "🔪🗡⚔🪓✂🪒",
	":blood:":   "🩸",
	":pills:":   "💊",
	":syringe:": "💉",
	":skull:":   "💀☠",
	":grave:":   "🪦⚰⚱",
	":rope:":    "🪢",
	":bridge:":  "🌉",
	":train:":   "🚂🚆🚇🚄🚅🚈🚉🚊🛤",
	":wave:":    "👋",
	":dove:":    "🕊",
	":angel:":   "👼😇",
	":world:":   "🌍🌎🌏",
	":wine:":    "🍷🥃🍺🍾",
	":cry:":     "😭😢😿",
	":broken:":  "💔🥀",
	":down:":    "⬇👇🕳",
	":laugh:":   "😂🤣😆😹",
	":hurt:":    "🤕😵",
	":bomb:":    "💣",
	":fist:":    "👊🤜🤛",
	":medic:":   "🚑🆘",
})

func emojiOf(names map[string]string) map[rune]string {
	known := map[rune]string{}
	for name, symbols := range names {
		for _, r := range symbols {
			if known[r] == "" || known[r] > name {
				known[r] = name
			}
		}
	}
	return known
}
