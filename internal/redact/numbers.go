package redact

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// runs are digits of any script in groups, with at most three signs between
// two groups: blanks, dashes, dots, slashes and brackets, also invisible ones.
var runs = compilePattern(`\p{Nd}+(?:[\t\p{Zs}\p{Pd}./()\x{00AD}\x{200B}-\x{200D}\x{2060}]{1,3}\p{Nd}+)*`)

// uuids are ids of workflows and requests; digits in them mean nothing.
var uuids = compilePattern(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)

// idWord ends the text before a number that is an id: "id 1700000000000",
// "order no. 4242424242424242".
var idWord = compilePattern(`(?i)(?:(?:^|[^\p{L}])(?:ids?|order|orders|tracking|track|ticket|invoice|ref|reference|booking|reservation|case|parcel|shipment|` +
	`package|serial|isbn|ean|imei|sku|barcode|timestamp|unix|epoch|member|membership|customer|policy|steps|pedido|factura|reserva|commande|facture|bestellung|` +
	`bestellnummer|rechnung|rechnungsnummer|ordine|fattura|bestelling|ordernummer|encomenda|fatura|sendungsnummer)|_id|_at|_no|(?-i:[a-z]Id))` +
	`["']?[ \t]*(?:number|num|nr|no|n|id|de|del|is|was|es|est|ist|é|è|numéro|número|nummer|#|:|=|\.|"|'|º|°|[ \t]){0,6}$`)

// phoneWord ends the text before a number at which a person can be reached.
var phoneWord = compilePattern(`(?i)(?:^|[^\p{L}])(?:phone|phones|telephone|tel|mobile|cell|cellphone|call|ring|dial|text|whatsapp|sms|fax|reach|contact|` +
	`(?:my|her|his|their|our|new|old|work|home)[ \t]+(?:number|nr|no)|(?:mi|su|tu|meu|seu|il mio|mon|son|mein|meine|ihre|seine|mijn|haar|zijn)[ \t]+(?:número|numero|numéro|nummer)|` +
	`tel[ée]fono|teléfonos|m[óo]vil|celular|llama|llámame|telefon|telefonnummer|handy|handynummer|ruf|t[ée]l[ée]phone|portable|appelle|` +
	`telefone|telem[óo]vel|ligue|cellulare|chiama|chiamami|telefoon|telefoonnummer|mobiel|bel|06-nummer)` +
	`[^\p{Nd}\n.!?]{0,20}[.:]?[ \t+(]*$`)

// ssnWord ends the text before a social security number without dashes.
var ssnWord = compilePattern(`(?i)(?:^|[^\p{L}])(?:ssn|social security|social)[^\p{Nd}\n.!?]{0,16}[.:]?[ \t]*$`)

// sight is how far before and after a number words count, in bytes.
const sight = 48

// digitGroup is one group of digits, at these bytes.
type digitGroup struct {
	start, end int
	digits     string
}

// window is some neighbouring groups of a run.
type window struct {
	text   string
	groups []digitGroup
	// first is set where the window begins its run: words before the run are
	// about its first number. Whole is set where it is all of the run.
	first, whole bool
	// tied is set where a dash or slash joins more digits of the run; clock
	// where a group belongs to a date or a time.
	tied, clock bool
	// counts is set where a word before the run says that its numbers count.
	counts bool
}

func findNumbers(g textFeatures) []span {
	if g.digits < minLocal {
		return nil
	}
	s := g.text
	var spans []span
	ids := uuids.FindAllStringIndex(s, -1)
	for _, at := range runs.FindAllStringIndex(s, -1) {
		if at[1]-at[0] < 7 {
			continue
		}
		for len(ids) > 0 && ids[0][1] <= at[0] {
			ids = ids[1:]
		}
		if len(ids) > 0 && at[0] < ids[0][1] && ids[0][0] < at[1] {
			continue
		}
		spans = append(spans, runSpans(s, groupsOf(s, at[0], at[1]))...)
	}
	return spans
}

// groupsOf splits a run into its groups. One that touches a letter belongs to
// a word ("10km", "conv_42").
func groupsOf(s string, start, end int) []digitGroup {
	var groups []digitGroup
	for i := start; i < end; {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsDigit(r) {
			i += size
			continue
		}
		g := digitGroup{start: i}
		var digits strings.Builder
		for i < end && unicode.IsDigit(r) {
			digits.WriteByte(digitOf(r))
			i += size
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		g.end, g.digits = i, digits.String()
		groups = append(groups, g)
	}
	if r, _ := utf8.DecodeLastRuneInString(s[:start]); isWordRune(r) {
		groups = groups[1:]
	}
	if r, _ := utf8.DecodeRuneInString(s[end:]); len(groups) > 0 && isWordRune(r) {
		groups = groups[:len(groups)-1]
	}
	return groups
}

// digitOf returns the ASCII digit of a decimal digit of any script: Unicode
// keeps the ten of a script together, zero first, and lists them in ranges of
// ten or a multiple.
func digitOf(r rune) byte {
	if r <= '9' {
		return byte(r)
	}
	for _, list := range unicode.Nd.R16 {
		if rune(list.Lo) <= r && r <= rune(list.Hi) {
			return '0' + byte((r-rune(list.Lo))%10)
		}
	}
	for _, list := range unicode.Nd.R32 {
		if rune(list.Lo) <= r && r <= rune(list.Hi) {
			return '0' + byte((r-rune(list.Lo))%10)
		}
	}
	return '0'
}

// runSpans masks the longest number that begins at each group. A number has at
// most 19 digits, so the work for a group is bounded.
func runSpans(s string, groups []digitGroup) []span {
	var spans []span
	if len(groups) == 0 {
		return nil
	}
	clock := clockGroups(s, groups)
	counts := countWord.MatchString(s[max(0, groups[0].start-sight):groups[0].start])
	for i := 0; i < len(groups); {
		taken := 0
		for n := countGroups(groups[i:]); n > 0 && taken == 0; n-- {
			w := window{text: s, groups: groups[i : i+n], first: i == 0, whole: n == len(groups)}
			w.tied = i > 0 && isJoint(s, groups[i-1], groups[i]) || i+n < len(groups) && isJoint(s, groups[i+n-1], groups[i+n])
			w.clock, w.counts = slices.Contains(clock[i:i+n], true), counts
			if kind, ok := w.findKind(); ok {
				spans = append(spans, w.spanOf(kind))
				taken = n
			}
		}
		i += max(taken, 1)
	}
	return spans
}

// countGroups returns how many groups have no more digits than a card.
func countGroups(groups []digitGroup) int {
	total := 0
	for i, g := range groups {
		if total += len(g.digits); total > maxCard {
			return i
		}
	}
	return len(groups)
}

// findKind returns what the window is, if it is to be masked. It reads the
// words before the window last, because that costs most.
func (w window) findKind() (Kind, bool) {
	var kind Kind
	switch digits := w.joinDigits(); {
	case len(digits) < minLocal:
		return "", false
	case w.isCard(digits):
		kind = KindCard
	case w.isSSN(digits):
		kind = KindSSN
	case w.isPhone(digits):
		kind = KindPhone
	default:
		return "", false
	}
	return kind, !w.first || !idWord.MatchString(w.before())
}

func (w window) joinDigits() string {
	var b strings.Builder
	for _, g := range w.groups {
		b.WriteString(g.digits)
	}
	return b.String()
}

func (w window) start() int { return w.groups[0].start }

func (w window) end() int { return w.groups[len(w.groups)-1].end }

func (w window) before() string { return w.text[max(0, w.start()-sight):w.start()] }

func (w window) after() string { return textAfter(w.text, w.end()) }

// textAfter returns the part of a text that is in sight behind a number.
func textAfter(s string, end int) string { return s[end:min(len(s), end+sight)] }

// spanOf takes the plus and the opened bracket of a phone number with it.
func (w window) spanOf(kind Kind) span {
	start := w.start()
	if kind == KindPhone {
		inside := w.text[start:w.end()]
		if strings.HasSuffix(w.text[:start], "(") && strings.Contains(inside, ")") {
			start--
		}
		if strings.HasSuffix(w.text[:start], "+") {
			start--
		}
	}
	return span{start: start, end: w.end(), kind: kind}
}

// shape returns the lengths of the groups: "3-3-4".
func (w window) shape() string {
	var b strings.Builder
	for i, g := range w.groups {
		if i > 0 {
			b.WriteByte('-')
		}
		b.WriteString(strconv.Itoa(len(g.digits)))
	}
	return b.String()
}

// isSeries reports whether the groups are round numbers side by side, such as a
// week's steps, rather than parts of one.
func (w window) isSeries() bool {
	for _, g := range w.groups {
		if len(g.digits) < 2 || !strings.HasSuffix(g.digits, "00") && !strings.HasSuffix(g.digits, "50") {
			return false
		}
	}
	return len(w.groups) > 1
}
