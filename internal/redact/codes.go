package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"coachline/internal/text"
)

const (
	codeWords = `(?:\p{L}*codes?|otp|2fa|mfa|pin|passcode|cvv2?|cvc2?|c[óo]digo|codice|kode|(?-i:TAN))`
	// codeValue is digits, perhaps in two groups or behind a letter ("G-"), or
	// capitals with digits among them.
	codeValue = `((?-i:[A-Z]-)?\p{Nd}{3,4}[ -]\p{Nd}{3,4}|(?-i:[A-Z]{1,3}-)?\p{Nd}{3,10}|(?-i:[A-Z0-9]{4,10}))`
	// codeFiller stands between a number and the word that calls it a code. A
	// capital begins the name of who sent it.
	codeFiller = `(?:(?:your|my|the|our|a|an|this|his|her|tu|su|mi|el|la|un|votre|ton|mon|le|dein|ihr|mein|der|die|seu|sua|meu|o|il|tuo|suo|` +
		`uw|je|jouw|mijn|de|verification|security|confirmation|login|log-in|access|one-time|one|time|temporary|sms|authentication|activation|` +
		`sign-in|single-use|secret|new|verificación|seguridad|acceso|vérification|sécurité|verificação|verifica|` +
		`(?-i:\p{Lu}[\p{L}\p{Nd}]+))[ \t]+){0,6}`
)

// codeBefore is "code is 123456", "my code for the bank is 123456", "PIN 1234":
// word (1), what gives it (2, 3), value (4).
var codeBefore = compilePattern(`(?i)(?:^|[^\p{L}\p{Nd}_])(` + codeWords + `)["”']?(?:[ \t]*([:=#])[ \t]*|` +
	`(?:[ \t]+[^.!?\n\p{Nd}:=]{1,40}?)??(?:[ \t]+(` + says + `)[ \t]*:?[ \t]+|[ \t]*[:=][ \t]*)|[ \t]+)["“'(]*` + codeValue)

// codeAfter is "123456 is your code", "use 123456 as your login code",
// "123456 otp": value (1), word (2).
var codeAfter = compilePattern(`(?i)` + codeValue + `["”')]*[ \t]+(?:(?:is|was|are|as|for|to|=|-|–|:|es|est|ist|é|è|como|para|comme|pour|als|für|` +
	`come|per|voor)[ \t]+)?` + codeFiller + `(` + codeWords + `)(?:[^\p{L}\p{Nd}_]|$)`)

// codeLater is the public rule: six digits, and in the same sentence a word
// that has no other meaning.
var codeLater = compilePattern(`(?i)(\p{Nd}{6})[^.!?\n\p{Nd}]{1,40}?[^\p{L}\p{Nd}](?:otp|2fa|mfa|verification code|security code|one-time (?:code|password))(?:[^\p{L}\p{Nd}_]|$)`)

// otherCodes are codes that are not secret.
var otherCodes = compilePattern(`(?i)(?:zip|postal|post|area|country|dress|colou?r|qr|bar|source|morse|error|status|promo|discount|postale|postleit)[ -]?$`)

// otherCode are such words in one, or that only end like one.
var otherCode = text.WordSet(`zipcode zipcodes postcode postcodes barcode barcodes areacode decode encode sourcecode geocode unicode promocode`)

// countUnit is a unit behind a number, which then is no code and no phone.
var countUnit = compilePattern(`(?i)^[ \t]*(?:steps?|pasos|pas|schritte|passos|passi|stappen|k?cal(?:ories|orías)?|kj|words?|min(?:ute)?s?|hours?|hrs?|` +
	`seconds?|days?|weeks?|months?|years?|times|reps?|laps?|miles?|kms?|m|metres?|meters?|kg|lbs?|g|mg|ml|l|oz|pages?|people|euros?|dollars?|€|%|am|pm|` +
	`minutos|horas|días|dias|minuten|stunden|heures|jours|ore|giorni|uur|dagen|o'clock|uhr)(?:[^\p{L}\p{Nd}]|$)`)

// checkWords name the three or four digits on a card's back.
var checkWords = compilePattern(`(?i)^cv[vc]2?$`)

// codeSigns are parts of codeWords, and of the words of codeLater.
var codeSigns = []string{"code", "otp", "2fa", "mfa", "pin", "cvv", "cvc", "digo", "codice", "kode", "tan", "one-time"}

func findCodes(g textFeatures) []span {
	if g.digits == 0 || !g.hasAny(codeSigns) {
		return nil
	}
	s := g.text
	var spans []span
	add := func(start, end, least int) {
		if isCodeLike(s, start, end, least) {
			spans = append(spans, span{start: start, end: end, kind: KindCode})
		}
	}
	for _, at := range codeBefore.FindAllStringSubmatchIndex(s, -1) {
		word, announced := s[at[2]:at[3]], at[4] >= 0 || at[6] >= 0
		if !isPublicCode(s[:at[2]], word) && (announced || isBareCode(s[at[8]:at[9]])) {
			add(at[8], at[9], leastDigits(word))
		}
	}
	for _, at := range codeAfter.FindAllStringSubmatchIndex(s, -1) {
		if !isPublicCode(s[:at[4]], s[at[4]:at[5]]) {
			add(at[2], at[3], 4)
		}
	}
	for _, at := range codeLater.FindAllStringSubmatchIndex(s, -1) {
		add(at[2], at[3], 6)
	}
	return spans
}

// isBareCode reports whether a value is a code although no sign or verb stands
// before it: not in "code 2024" or "use code SAVE20".
func isBareCode(value string) bool {
	last, _ := utf8.DecodeLastRuneInString(value)
	first, _ := utf8.DecodeRuneInString(value)
	grouped := strings.Contains(value, "-")
	return !isCalendarYear(value) && unicode.IsDigit(last) && (unicode.IsDigit(first) || grouped)
}

// leastDigits returns 3 for the check value on a card's back and 4 for any
// other code.
func leastDigits(word string) int {
	if checkWords.MatchString(word) {
		return 3
	}
	return 4
}

// isPublicCode reports whether the word, or the one before it, makes the code
// one that is not secret.
func isPublicCode(before, word string) bool {
	return otherCode[strings.ToLower(word)] || otherCodes.MatchString(before[max(0, len(before)-24):])
}

// isCodeLike reports whether s[start:end] stands alone, has at least so many
// digits, or capitals with a digit, and counts nothing.
func isCodeLike(s string, start, end, least int) bool {
	value := s[start:end]
	if !isAlone(s, start, end) || countUnit.MatchString(textAfter(s, end)) {
		return false
	}
	digits := 0
	for _, r := range value {
		if unicode.IsDigit(r) {
			digits++
		}
	}
	letters := strings.ContainsFunc(value, unicode.IsLetter)
	return digits >= least || letters && digits >= 1 && len(value) >= 5
}

// isAlone reports whether a number is neither part of a longer word or number
// nor of a date, a time or a decimal.
func isAlone(s string, start, end int) bool {
	before, size := utf8.DecodeLastRuneInString(s[:start])
	if isWordRune(before) {
		return false
	}
	if strings.ContainsRune("-:./,", before) {
		earlier, _ := utf8.DecodeLastRuneInString(s[:start-size])
		if unicode.IsDigit(earlier) {
			return false
		}
	}
	after, size := utf8.DecodeRuneInString(s[end:])
	if isWordRune(after) {
		return false
	}
	if strings.ContainsRune("-:./,", after) {
		later, _ := utf8.DecodeRuneInString(s[end+size:])
		return !unicode.IsDigit(later)
	}
	return true
}

// isWordRune reports whether a character may be part of a word.
func isWordRune(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// isCalendarYear reports whether a value is a year, as in "code 2024 ...".
func isCalendarYear(value string) bool {
	return len(value) == 4 && (strings.HasPrefix(value, "19") || strings.HasPrefix(value, "20"))
}
