package redact

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nyaruka/phonenumbers"
)

// Regions are those whose national numbers are recognised without a plus: the
// countries of the languages that are known here. Numbers with a plus are
// recognised for every country.
var phoneRegions = []string{"US", "GB", "DE", "FR", "ES", "PT", "BR", "MX", "IT", "NL", "AT", "CH", "IN", "AU", "TR", "JP"}

// freePrefix begins numbers that are free of charge in most of the world.
const freePrefix = "0800"

// testArea is the area code that no US number has; examples use it.
const testArea = "555"

// isPhone reports whether the digits are the number of a person: with a plus,
// or as people of one of phoneRegions write theirs, or of any shape behind a
// word that says so. The library's matcher for texts is not written in Go, so
// the candidates are found here, and the library decides whether each is a
// number. Numbers of services are none: they are public, and lists of
// repetitions resemble them.
func (w window) isPhone(digits string) bool {
	if len(digits) > maxPhone || w.isSeries() || w.isProgression() || w.hasDate() || w.isDecimal() || w.clock {
		return false
	}
	return w.isDialled(digits) && !countUnit.MatchString(w.after()) && !currency.MatchString(w.after())
}

func (w window) isDialled(digits string) bool {
	before := w.before()
	if opening := strings.TrimRight(before, "("); strings.HasSuffix(opening, "+") {
		return isGlobal(digits)
	}
	if w.isPartOfName() {
		return false
	}
	if w.first && phoneWord.MatchString(before) {
		return true
	}
	// What costs most comes last.
	if w.tied || w.counts || !isAbroad(digits) && !w.isNational(digits) {
		return false
	}
	isPrice := strings.HasSuffix(strings.TrimRight(before, " "), "$") || priceSign.MatchString(before)
	isZip := w.first && zipWord.MatchString(before)
	return !isPrice && !isZip
}

// isGlobal reports whether the digits are a number behind a plus.
func isGlobal(digits string) bool {
	number, err := phonenumbers.Parse("+"+digits, "")
	return err == nil && phonenumbers.IsPossibleNumberWithReason(number) == phonenumbers.IS_POSSIBLE
}

// isAbroad reports whether the digits are a number behind 00.
func isAbroad(digits string) bool {
	rest, ok := strings.CutPrefix(digits, "00")
	return ok && len(rest) >= minNational && isGlobal(rest)
}

// isNational reports whether the digits are a person's number of one of
// phoneRegions, in groups as they are written there. With a trunk prefix any
// groups will do, since people divide those as they like.
func (w window) isNational(digits string) bool {
	if len(digits) < minNational || len(digits) > maxNational || strings.HasPrefix(digits, freePrefix) {
		return false
	}
	trunk := digits[0] == '0' && len(w.groups[0].digits) > 1 && len(w.groups) <= maxTrunkGroups
	if (!trunk || w.hasPairs()) && !w.whole && len(w.groups) > 1 {
		return false
	}
	if w.isAmerican(digits) {
		return true
	}
	anyGroups := trunk && !w.hasPairs() || w.shape() == "3-3-3"
	return slices.ContainsFunc(phoneRegions, func(region string) bool {
		written := writtenIn(digits, region)
		return written != nil && (anyGroups || w.hasGroups(written))
	})
}

// writtenIn returns how a person's number of a region is divided there; nil
// when the digits are no such number.
func writtenIn(digits, region string) []string {
	number, err := phonenumbers.Parse(digits, region)
	if err != nil || !phonenumbers.IsValidNumberForRegion(number, region) || !isPersonal(number) {
		return nil
	}
	written := nonDigits.Split(strings.Trim(phonenumbers.Format(number, phonenumbers.NATIONAL), "()"), -1)
	written = slices.DeleteFunc(written, func(part string) bool { return part == "" })
	if strings.Join(written, "") != digits {
		return nil
	}
	return written
}

// hasGroups reports whether the window is divided as written is.
func (w window) hasGroups(written []string) bool {
	return len(w.groups) > 1 && slices.EqualFunc(w.groups, written, func(g digitGroup, part string) bool { return g.digits == part })
}

// maxTrunkGroups is how many groups a number with a trunk prefix has at most:
// the five pairs of France.
const maxTrunkGroups = 5

var nonDigits = compilePattern(`[^0-9]+`)

// isAmerican reports whether the digits are three, three and four, perhaps
// behind a 1, in groups or in one.
func (w window) isAmerican(digits string) bool {
	grouped := slices.Contains([]string{"3-3-4", "1-3-3-4"}, w.shape()) && w.whole
	if !grouped && len(w.groups) > 1 {
		return false
	}
	if len(digits) == 11 && digits[0] == '1' {
		digits = digits[1:]
	}
	if len(digits) != 10 {
		return false
	}
	if strings.HasPrefix(digits, testArea) {
		return true
	}
	number, err := phonenumbers.Parse(digits, "US")
	return err == nil && isPersonal(number)
}

// isPersonal reports whether a number is valid and may be that of a person.
func isPersonal(number *phonenumbers.PhoneNumber) bool {
	switch phonenumbers.GetNumberType(number) {
	case phonenumbers.FIXED_LINE, phonenumbers.MOBILE, phonenumbers.FIXED_LINE_OR_MOBILE, phonenumbers.VOIP,
		phonenumbers.PERSONAL_NUMBER, phonenumbers.PAGER, phonenumbers.VOICEMAIL:
		return true
	case phonenumbers.TOLL_FREE, phonenumbers.PREMIUM_RATE, phonenumbers.SHARED_COST, phonenumbers.UAN, phonenumbers.UNKNOWN:
	}
	return false
}

// countWord ends the text before numbers that count something, zipWord before
// those that say where.
var (
	countWord = compilePattern(`(?i)(?:^|[^\p{L}])(?:reps?|sets?|steps|weights?|kcal|cal|calories|laps|intervals?|splits?|scores?|points|pages?|rounds|series|` +
		`repeticiones|pasos|calorías|puntos|páginas|répétitions|pas|points|séries|wdh|wiederholungen|sätze|schritte|punkte|seiten|gewichte|` +
		`repetições|passos|pontos|páginas|ripetizioni|passi|herhalingen|stappen)[ \t]*(?:were|was|are|of|on|:|=|-)?[ \t]*$`)
	zipWord = compilePattern(`(?:(?:^|[^\p{L}])(?i:zip|zip code|postal|postal code|postcode|plz|postleitzahl|cep|cap|cp|c\.p\.|código postal|code postal|pin ?code)[ \t]*(?i:is|ist|es|est|é|:|=)?[ \t]*|,?[ \t][A-Z]{2}[ \t]+)$`)
	// priceSign stands before a price, currency behind one.
	priceSign = compilePattern(`(?:[€£¥₹]|R\$|(?:^|[^\p{L}])(?i:usd|eur|gbp|brl|mxn|chf|inr))[ \t]*$`)
	currency  = compilePattern(`(?i)^[ \t]*(?:[€£¥₹$]|(?:usd|eur|gbp|brl|mxn|chf|inr|reais|pesos|rupees|francs|franken)(?:[^\p{L}]|$))`)
)

// hasPairs reports whether every group has two digits at most, as lists of
// numbers have too.
func (w window) hasPairs() bool {
	return len(w.groups) > 2 && !slices.ContainsFunc(w.groups, func(g digitGroup) bool { return len(g.digits) > 2 })
}

// isProgression reports whether the groups go up or down by the same step, as
// repetitions do.
func (w window) isProgression() bool {
	const least = 4
	if len(w.groups) < least {
		return false
	}
	var values []int
	for _, g := range w.groups {
		if len(g.digits) > 3 {
			return false
		}
		n := 0
		for _, r := range g.digits {
			n = 10*n + int(r-'0')
		}
		values = append(values, n)
	}
	for i := range len(values) - 2 {
		if values[i+1]-values[i] != values[i+2]-values[i+1] {
			return false
		}
	}
	return true
}

// isJoint reports whether nothing but a dash or a slash stands between two
// groups.
func isJoint(s string, a, b digitGroup) bool {
	between := s[a.end:b.start]
	r, size := utf8.DecodeRuneInString(between)
	return size == len(between) && (r == '/' || unicode.Is(unicode.Pd, r))
}

// clockGroups marks the groups of a run that are dates and times: groups that
// one sign joins and that read as such as a whole. A run with a plus before it
// holds none.
func clockGroups(s string, groups []digitGroup) []bool {
	marked := make([]bool, len(groups))
	if len(groups) == 0 || strings.HasSuffix(s[:groups[0].start], "+") {
		return marked
	}
	for start := 0; start < len(groups); {
		end := start + 1
		for end < len(groups) && joinSign(s, groups[start], groups[start+1]) != 0 && joinSign(s, groups[end-1], groups[end]) == joinSign(s, groups[start], groups[start+1]) {
			end++
		}
		if isClock(groups[start:end], joinSign(s, groups[start], groups[min(start+1, len(groups)-1)])) {
			for i := start; i < end; i++ {
				marked[i] = true
			}
		}
		start = end
	}
	return withRanges(groups, marked)
}

// joinSign returns the one sign between two groups, 0 for more than one or a
// blank.
func joinSign(s string, a, b digitGroup) rune {
	if a.end >= b.start {
		return 0
	}
	r, size := utf8.DecodeRuneInString(s[a.end:b.start])
	if size != b.start-a.end || unicode.IsSpace(r) {
		return 0
	}
	return r
}

// isClock reports whether joined groups are a time or a date, in either order.
func isClock(groups []digitGroup, sign rune) bool {
	switch len(groups) {
	case 2:
		isTime := sign == '.' && isBelow(groups[0], 24) && len(groups[1].digits) == 2 && isBelow(groups[1], 59)
		return isTime || sign == '/' && isBelow(groups[0], 31) && isBelow(groups[1], 31)
	case 3:
		return isDate(groups[0], groups[1], groups[2])
	}
	return false
}

// isDate reports whether three groups are a year, a month and a day, in one of
// the three usual orders.
func isDate(first, second, third digitGroup) bool {
	if isCalendarYear(first.digits) {
		return isBelow(second, 12) && isBelow(third, 31)
	}
	year := len(third.digits) == 2 || isCalendarYear(third.digits)
	return year && (isBelow(first, 31) && isBelow(second, 12) || isBelow(first, 12) && isBelow(second, 31))
}

// isBelow reports whether a group is a number of one or two digits up to most.
func isBelow(g digitGroup, most int) bool {
	if len(g.digits) > 2 {
		return false
	}
	n := 0
	for _, r := range g.digits {
		n = 10*n + int(r-'0')
	}
	return n <= most
}

// withRanges also marks four digits that are a time beside another one, as in
// "0730 0800 1930", and hours beside a time, as in "08.30 - 9".
func withRanges(groups []digitGroup, marked []bool) []bool {
	for i, g := range groups {
		next := i+1 < len(groups) && (marked[i+1] || isMilitary(groups[i+1]))
		last := i > 0 && (marked[i-1] || isMilitary(groups[i-1]))
		if isMilitary(g) && (next || last) && !strings.HasPrefix(g.digits, "09") || (next || last) && marked[max(i-1, 0)] && isBelow(g, 24) {
			marked[i] = true
		}
	}
	return marked
}

// isMilitary reports whether a group is a time without a sign: "0730".
func isMilitary(g digitGroup) bool {
	return len(g.digits) == 4 && g.digits[:2] <= "23" && g.digits[2:] <= "59"
}
