package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"coachline/internal/text"
)

const (
	// passwordWords are followed by a secret of any form.
	passwordWords = `pass ?words?|passwd|pwd|pw|pass ?phrases?|contraseñas?|contrasenas?|mots? de passe|passwort|passwörter|kennwort|` +
		`palavra-passe|senhas?|wachtwoord|wachtwoorden|parola d['’]ordine`
	// secretWords may also be used in talk ("my secret: start small", "la clave es
	// la constancia"), so what follows must have the form of a secret.
	secretWords = `(?:(?:access|auth|refresh|api|id|bearer|bot|session|security|csrf)[ _-]?)?tokens?|(?:client|api|app|shared)?[ _-]?secrets?|` +
		`(?:api|access|private|secret|encryption|signing|license|account|subscription)[ _-]?keys?|pass|passcode|credentials?|` +
		`clave|jeton|clé|schlüssel|segredo|chiave|sleutel`
	says = `is|was|are|es|era|est|était|ist|war|lautet|é|è`
	// quoted is bounded, because the search for an open quote would read to the
	// end.
	quoted = `"[^"\n]{1,64}"|'[^'\n]{1,64}'|“[^”\n]{1,64}”|«[^»\n]{1,64}»|` + "`[^`\n]{1,64}`"
)

// secretGiven is a password word (1) or one that may be talk (2), perhaps whose
// it is, then a sign (3) or verb (4) that gives it, or nothing, and the value:
// quoted (5) or one word (6).
var secretGiven = compilePattern(`(?i)(?:^|[^\p{L}\p{Nd}])(?:(` + passwordWords + `)|(?:[a-z0-9]{1,24}_)*(` + secretWords + `))` +
	`(?:(?:[ \t]+(?:for|to|at|of|on|in|para|de|del|für|von|pour|du|per|di|voor|van|do|da)[ \t]+[^.!?\n:=]{1,40}?)?["'”]?` +
	`(?:\s{0,8}([:=]+)[ \t]*|[ \t]+(` + says + `)[ \t]*:?[ \t]+)|[ \t]+(?:(?:to|too|en|a)[ \t]+)?)(?:(` + quoted + `)|([^\s]+))`)

// passPhrase is a pass phrase, whose words reach to the end of the sentence.
var passPhrase = compilePattern(`(?i)\bpass ?phrase[ \t]*(?:[:=]|[ \t](?:` + says + `)[ \t])[ \t]*([^.!?\n]+)`)

// talkWords are words that stand behind "password is" in a sentence about a
// password.
var talkWords = text.WordSet(`a about again all also always an and and/or any at bad based because being best better both but can't cannot case
	changed compromised critical difficult different done easy empty essential expired fine for forgotten from getting given gone
	good great hard here hidden how if important in incorrect insecure invalid it its just key kept like locked long longer lost missing
	more most much my necessary needed never no not nothing now of off ok okay old on one only or our out outdated private probably
	protected public quite ready really required reset safe same saved sent secret secure set short similar simple so something still
	stored stolen stronger strong stuck temporary terrible that the their there this to too tough tricky unique unknown up used useful
	valid very weak weird what when where why with working written wrong yours your
	muy no la el un una mi tu su demasiado incorrecta larga débil segura fácil difícil lo que para de igual siempre
	très pas le les mon ma ton votre trop incorrect incorrecte faux long faible oublié nicht der die das ein eine mein dein zu sehr
	falsch richtig schwach sicher abgelaufen vergessen não muito o os minha meu errada certa fraca non il lo mia mio molto troppo
	sbagliata debole niet het een mijn jouw te zeer fout verkeerd zwak`)

// credentialSigns are parts of passwordWords and secretWords.
var credentialSigns = []string{
	"pass", "pw", "contrase", "kennwort", "senha", "wachtwoord", "parola d",
	"token", "secret", "key", "credential", "clave", "jeton", "clé", "schl", "segredo", "chiave", "sleutel",
}

func findCredentials(g textFeatures) []span {
	if !g.hasAny(credentialSigns) {
		return nil
	}
	s := g.text
	var spans []span
	for _, at := range passPhrase.FindAllStringSubmatchIndex(s, -1) {
		value := strings.TrimSpace(s[at[2]:at[3]])
		if first, _, _ := strings.Cut(value, " "); !talkWords[strings.ToLower(first)] {
			spans = append(spans, span{start: at[2], end: at[2] + len(value), kind: KindSecret})
		}
	}
	for from := 0; from < len(s); {
		at := secretGiven.FindStringSubmatchIndex(s[from:])
		if at == nil {
			break
		}
		sp, ok := matchCredential(s[from:], at)
		if ok {
			spans = append(spans, span{start: from + sp.start, end: from + sp.end, kind: KindSecret})
			from += sp.end
			continue
		}
		// The value may itself be the word that gives a secret: go on behind
		// the word that was found.
		from += keywordEnd(at)
	}
	return spans
}

func keywordEnd(at []int) int { return max(at[3], at[5]) }

// matchCredential decides whether a match of told gives a secret, and where.
func matchCredential(s string, at []int) (span, bool) {
	start, end := at[10], at[11]
	isQuoted := start >= 0
	if !isQuoted {
		start, end = trimValue(s, at[12], at[13])
	}
	value := s[start:end]
	if value == "" || tokens.FindString(value) == value {
		return span{}, false
	}
	strong, announced := at[2] >= 0, at[6] >= 0 || at[8] >= 0
	// "token=x" is a parameter, "token: none" is talk.
	parameter := at[6] >= 0 && s[at[6]:start] == "="
	var secret bool
	switch {
	case isQuoted && (announced || strong), parameter:
		secret = true
	case strong && announced:
		secret = !talkWords[strings.ToLower(strings.TrimRight(value, "!?"))]
	default:
		secret = isSecretLike(value, announced)
	}
	return span{start: start, end: end, kind: KindSecret}, secret
}

// trimValue takes opening and closing signs of the sentence off a value,
// unless nothing else would be left ("password: !!!"). In an address or a
// header a value ends at the next parameter.
func trimValue(s string, start, end int) (int, int) {
	value := s[start:end]
	if i := strings.IndexAny(value, "&\"'<>"); i > 0 {
		value = value[:i]
	}
	left := strings.TrimLeft(value, `"'“«(<`)
	core := strings.TrimRight(left, `.,;:)}"'”»>`)
	if core == "" {
		return start, start + len(value)
	}
	start += len(value) - len(left)
	return start, start + len(core)
}

// isSecretLike reports whether a word without doubt is no word of a sentence: it
// is long enough and mixes letters with digits or other signs. A number alone
// counts where a sign or verb announced it.
func isSecretLike(value string, announced bool) bool {
	digits := strings.ContainsFunc(value, unicode.IsDigit)
	letters := strings.ContainsFunc(value, unicode.IsLetter)
	size := utf8.RuneCountInString(value)
	switch {
	case size < 4 || strings.Contains(value, "[REDACTED_"):
		return false
	case digits && letters:
		return !measure.MatchString(value)
	case digits:
		return announced && size >= 6 && !strings.ContainsAny(value, ":/.,-")
	}
	return strings.Contains(value, "_") || size >= 24 || announced && size >= 8 && isRandom(value)
}

// measure is a quantity, a time or an ordinal, which mix letters and digits.
var measure = compilePattern(`(?i)^[\d.,:/x×-]+(?:-?[a-zµ%°]{1,7})?$`)
