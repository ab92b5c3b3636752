package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// minCard and maxCard are the digits of a card (ISO/IEC 7812).
	minCard, maxCard = 13, 19
	// minLocal and maxPhone are the digits of a phone number, from a local one
	// to the longest of E.164.
	minLocal, maxPhone = 7, 15
	// minNational and maxNational are the digits of a number that is written
	// without its country, with the trunk prefix 0.
	minNational, maxNational = 8, 12
)

// isCard reports whether the digits are a card's: 13 to 19, with a valid check
// digit, grouped like a card's. No bank's cards begin with 0 or 1, but instants
// in milliseconds and many ids do, so those need the groups of four.
func (w window) isCard(digits string) bool {
	if len(digits) < minCard || len(digits) > maxCard || !luhn(digits) || !w.isRegular() || w.isSeries() {
		return false
	}
	return digits[0] > '1' || len(w.groups) > 2
}

// isRegular reports whether the groups are one, fours with a shorter rest, two of
// eight, or American Express' and Diners'. Others are lists: "10 12 14 16".
func (w window) isRegular() bool {
	switch w.shape() {
	case "4-6-5", "4-6-4", "8-8":
		return true
	}
	last := len(w.groups) - 1
	for _, g := range w.groups[:last] {
		if len(g.digits) != 4 {
			return false
		}
	}
	return last == 0 || len(w.groups[last].digits) <= 4
}

func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		n := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return sum%10 == 0 && strings.Trim(digits, "0") != ""
}

// isSSN reports whether the digits have the shape of a US social security
// number: 078-05-1120, or nine digits behind a word that says so.
func (w window) isSSN(digits string) bool {
	if len(digits) != 9 {
		return false
	}
	if w.shape() == "3-2-4" && w.isDashed() && w.isAloneInRun() {
		return true
	}
	return w.first && ssnWord.MatchString(w.before())
}

// isDashed reports whether only single dashes stand between the groups.
func (w window) isDashed() bool {
	for i, g := range w.groups[1:] {
		r, size := utf8.DecodeRuneInString(w.text[w.groups[i].end:])
		if !unicode.Is(unicode.Pd, r) || w.groups[i].end+size != g.start {
			return false
		}
	}
	return true
}

// isAloneInRun reports whether no dash ties another number to this one.
func (w window) isAloneInRun() bool {
	return !strings.HasSuffix(w.before(), "-") && !dashDigits.MatchString(w.after())
}

// dashDigits are digits that a dash ties to the number before.
var dashDigits = compilePattern(`^-[0-9]`)

// hasDate reports whether the first groups are a date in one of two orders, or
// a single group is a date without signs.
func (w window) hasDate() bool {
	if len(w.groups) == 1 {
		d := w.groups[0].digits
		return len(d) == 8 && isCalendarYear(d[:4]) && d[4:6] <= "12" && d[6:] <= "31"
	}
	if len(w.groups) < 3 {
		return false
	}
	first, second, third := w.groups[0].digits, w.groups[1].digits, w.groups[2].digits
	if len(second) > 2 {
		return false
	}
	return len(first) <= 2 && isCalendarYear(third) || isCalendarYear(first) && len(third) <= 2
}

// isDecimal reports whether a single point or comma ties a number to this one.
func (w window) isDecimal() bool {
	before := w.before()
	if n := len(before); n >= 2 && strings.ContainsRune(".,", rune(before[n-1])) && before[n-2] >= '0' && before[n-2] <= '9' {
		return true
	}
	return len(w.groups) == 2 && w.text[w.groups[0].end:w.groups[1].start] == "."
}

// isPartOfName reports whether a dash, slash or sign ties a word to the number:
// "participant-5551234567", "/status/5551234567", "#5551234567".
func (w window) isPartOfName() bool {
	before := w.before()
	last, size := utf8.DecodeLastRuneInString(before)
	switch last {
	case '#', '/', '\\', '@':
		return true
	case '-', '.':
		earlier, _ := utf8.DecodeLastRuneInString(before[:len(before)-size])
		return isWordRune(earlier)
	}
	return false
}
