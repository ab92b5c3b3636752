package outgoing

import (
	"encoding/base64"
	"regexp"
	"strings"
	"unicode/utf8"

	"coachline/internal/text"
)

var (
	// spelled is a word of which each letter stands alone: "S T O P", "s.s.n.".
	spelled = regexp.MustCompile(`(?:^|[^\p{L}\d])(?:[\p{L}\d][ .'’-]{1,3}){2,}[\p{L}\d](?:$|[^\p{L}\d])`)
	// hyphened is a word that is cut in two.
	hyphened = regexp.MustCompile(`(\p{Ll})-(\p{Ll})`)
	// zeroed is a nought in the place of the letter.
	zeroed = regexp.MustCompile(`(\p{L})0|0(\p{L})`)
	// block is a stretch that may be base64.
	block = regexp.MustCompile(`[A-Za-z0-9+/]{24,}={0,2}`)
)

// unmask writes a text as it is read aloud: without marks, in small letters, spelled-out
// words joined.
func unmask(words string) string {
	plain := text.Fold(words)
	plain = spelled.ReplaceAllStringFunc(plain, func(s string) string {
		return " " + strings.Map(func(r rune) rune {
			if strings.ContainsRune(" .'’-", r) {
				return -1
			}
			return r
		}, s) + " "
	})
	plain = zeroed.ReplaceAllString(plain, "${1}o${2}")
	return hyphened.ReplaceAllString(plain, "$1$2")
}

// digits are the words of digits in five languages.
var digits = func() map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(`zero oh one two three four five six seven eight nine double hundred null eins zwei drei vier fünf sechs sieben acht neun hundert
		cero uno dos tres cuatro cinco seis siete ocho nueve zéro un deux trois quatre cinq sept huit neuf dix nonante vingt cent um dois três quatro sete oito nove novecentos meia`) {
		out[word] = true
	}
	return out
}()

const (
	// spokenDigits is how many words of digits in a row are a number.
	spokenDigits = 5
	// phoneDigits is how many digits a number to call has, which nobody gave.
	phoneDigits = 9
)

// date is a day and a time as tools write them.
var date = regexp.MustCompile(`\d{4}-\d\d-\d\d(?: \d\d:\d\d)?`)

// figures keeps the figures of a text.
func figures(words string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, words)
}

var number = regexp.MustCompile(`\+?\d(?:[ ./()-]{0,2}\d){7,}`)

// findNumber finds a number to call, in figures or in words.
func findNumber(plain string) string {
	plain = date.ReplaceAllString(plain, "")
	for _, found := range number.FindAllString(plain, -1) {
		if len(figures(found)) >= phoneDigits {
			return found
		}
	}
	spelledOut, count := "", 0
	for _, word := range strings.FieldsFunc(plain, func(r rune) bool { return strings.ContainsRune(" ,;-.:\n", r) }) {
		n := countDigits(word)
		if n == 0 {
			spelledOut, count = "", 0
			continue
		}
		spelledOut, count = spelledOut+" "+word, count+n
		if count >= spokenDigits && strings.Trim(spelledOut, "0123456789 ") != "" {
			return spelledOut
		}
	}
	return ""
}

// figure begins with figures.
var figure = regexp.MustCompile(`^\d+`)

// countDigits returns of how many words of digits and figures a word is made; 0 where it
// has others too.
func countDigits(word string) int {
	count := 0
	for word != "" {
		next := figure.FindString(word)
		for end := len(word); next == "" && end > 0; end-- {
			if digits[word[:end]] {
				next = word[:end]
			}
		}
		if next == "" {
			return 0
		}
		word, count = word[len(next):], count+1
	}
	return count
}

// findEncoded finds words that are written so that no person reads them.
func findEncoded(words string) string {
	for _, found := range block.FindAllString(words, -1) {
		raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(found, "="))
		if err == nil && utf8.Valid(raw) && strings.ContainsRune(string(raw), ' ') {
			return found
		}
	}
	return ""
}
