package redact

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pattern is a shape that tells a secret without any word beside it. Group is
// the part that is masked, 0 the whole.
type pattern struct {
	kind Kind
	// in, where it is set, is false for a text that re cannot match.
	in    func(textFeatures) bool
	re    expression
	group int
	// certain, where it is set, has the last word on the masked part.
	certain func(string) bool
}

// patterns are the shapes of addresses, keys and tokens. Prefixes of keys come
// from their vendors' documentation: OpenAI and Anthropic (sk-), Stripe,
// GitHub, GitLab, AWS, Google, Slack, SendGrid, Hugging Face, npm, Groq, xAI.
var patterns = []pattern{
	{kind: KindEmail, in: hasAnyOf("@"), re: compilePattern(`[\p{L}\p{M}\p{Nd}_.%+'’-]*[\p{L}\p{M}\p{Nd}_%+-]@[\p{L}\p{M}\p{Nd}][\p{L}\p{M}\p{Nd}.-]*\.[\p{L}\p{M}]{2,}`)},
	{kind: KindEmail, in: hasAnyOf("dot"), re: compilePattern(`(?i)\b[\w.+-]+ ?(?: at |\(at\)|\[at\]) ?[\w-]+(?: ?(?: dot |\(dot\)|\[dot\]) ?[\w-]+)? ?(?: dot |\(dot\)|\[dot\]) ?(?:com|org|net|edu|gov|io|co|uk|us|de|fr|es|it|nl|pt|br|mx|ca|au)\b`)},
	{kind: KindSecret, in: hasAnyOf("://"), re: compilePattern(`[A-Za-z][A-Za-z0-9+.-]*://([^\s/?#@]*:[^\s/?#@]+)@`), group: 1},
	{kind: KindSecret, in: hasAnyOf("sk-"), re: compilePattern(`\bsk-[\w*-]{6,}`)},
	{kind: KindSecret, in: hasAnyOf("_live_", "_test_", "whsec_"), re: compilePattern(`\b(?:sk|pk|rk)_(?:live|test)_\w{6,}|\bwhsec_[\w+/=]{8,}`)},
	{kind: KindSecret, in: hasAnyOf("_", "gl"), re: compilePattern(`\bgh[pousr]_\w{6,}|\bgithub_pat_\w{6,}|\bgl(?:pat|ptt|dt|rt)-[\w-]{8,}`)},
	{kind: KindSecret, in: hasAnyOf("akia", "asia", "abia", "acca"), re: compilePattern(`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}`)},
	{kind: KindSecret, in: hasAnyOf("aiza", "ya29.", "gocspx-"), re: compilePattern(`\bAIza[\w-]{20,}|\bya29\.[\w-]{8,}|\bGOCSPX-[\w-]{8,}`)},
	{kind: KindSecret, in: hasAnyOf("xox", "xapp-", "sg."), re: compilePattern(`\bxox[a-z]-[\w-]{6,}|\bxapp-[\w-]{6,}|\bSG\.[\w-]{8,}\.[\w-]{8,}`)},
	{kind: KindSecret, in: hasAnyOf("hf_", "npm_", "gsk_", "xai-"), re: compilePattern(`\b(?:hf|npm|gsk)_[A-Za-z0-9]{16,}|\bxai-[\w-]{16,}`)},
	{kind: KindSecret, in: hasAnyOf("-----begin "), re: compilePattern(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`)},
	{kind: KindSecret, in: func(g textFeatures) bool { return g.hex >= 32 }, re: compilePattern(`\b[0-9a-fA-F]{32,}\b`)},
	{kind: KindToken, in: hasAnyOf("eyj"), re: compilePattern(`\beyJ[\w-]{4,}(?:\.[\w-]+){0,4}`)},
	{kind: KindToken, in: hasAnyOf("bearer"), re: compilePattern(`(?i)\bbearer[\s:]+["']?([\w.~+/-]{6,}=*)`), group: 1, certain: isRandom},
	{kind: KindToken, in: hasAnyOf("basic"), re: compilePattern(`(?i)\bbasic\s+["']?([a-z0-9+/]{8,}={0,2})`), group: 1, certain: isRandom},
	{kind: KindToken, in: hasAnyOf("authorization"), re: compilePattern(`(?i)\bauthorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token|digest|apikey)\s+)?([^\s"',;\[\]]+)`), group: 1, certain: isNoScheme},
	{kind: KindToken, in: hasAnyOf("="), re: compilePattern(`(?i)\b(?:session[_-]?(?:id|token|key)|phpsessid|jsessionid|sid)["']?\s*=\s*["']?([^\s"',;&\[\]]+)`), group: 1},
}

func findPatterns(g textFeatures) []span {
	var spans []span
	for _, p := range patterns {
		if p.in != nil && !p.in(g) {
			continue
		}
		for _, at := range p.re.FindAllStringSubmatchIndex(g.text, -1) {
			start, end := at[2*p.group], at[2*p.group+1]
			if p.certain == nil || p.certain(g.text[start:end]) {
				spans = append(spans, span{start: start, end: end, kind: p.kind})
			}
		}
	}
	return spans
}

// isNoScheme reports whether a word is not the name of a scheme, which stands
// before what is secret.
func isNoScheme(word string) bool {
	switch strings.ToLower(word) {
	case "bearer", "basic", "token", "digest", "apikey":
		return false
	}
	return true
}

// isRandom reports whether a word looks made by a machine rather than written:
// it holds a digit or "=", or a capital behind a small letter.
func isRandom(word string) bool {
	if strings.ContainsFunc(word, unicode.IsDigit) || strings.Contains(word, "=") {
		return true
	}
	small := false
	for _, r := range word {
		if small && unicode.IsUpper(r) {
			return true
		}
		small = unicode.IsLower(r)
	}
	return false
}

// onRead, where a test has set it, gets the length of each text that a pattern
// reads.
var onRead func(bytes int)

// expression is a compiled pattern that says how much it reads. A whole text is
// read where all matches are wanted or none is found; otherwise it is read up
// to the end of the match.
type expression struct{ re *regexp.Regexp }

// compilePattern compiles a pattern whose reading is counted.
func compilePattern(pattern string) expression { return expression{regexp.MustCompile(pattern)} }

// reportRead gives the length of a text that a pattern reads to onRead.
func reportRead(bytes int) {
	if onRead != nil {
		onRead(bytes)
	}
}

// MatchString reports a match, and counts all of the text as read.
func (e expression) MatchString(s string) bool {
	reportRead(len(s))
	return e.re.MatchString(s)
}

func (e expression) FindString(s string) string {
	reportRead(len(s))
	return e.re.FindString(s)
}

func (e expression) FindStringSubmatchIndex(s string) []int {
	at := e.re.FindStringSubmatchIndex(s)
	if at == nil {
		reportRead(len(s))
	} else {
		reportRead(at[1])
	}
	return at
}

func (e expression) FindAllStringIndex(s string, n int) [][]int {
	reportRead(len(s))
	return e.re.FindAllStringIndex(s, n)
}

func (e expression) FindAllStringSubmatchIndex(s string, n int) [][]int {
	reportRead(len(s))
	return e.re.FindAllStringSubmatchIndex(s, n)
}

func (e expression) Split(s string, n int) []string {
	reportRead(len(s))
	return e.re.Split(s, n)
}

func (e expression) ReplaceAllString(s, with string) string {
	reportRead(len(s))
	return e.re.ReplaceAllString(s, with)
}

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
