package redact

import (
	"strings"
	"unicode"
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
