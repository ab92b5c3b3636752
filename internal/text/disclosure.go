package text

import (
	"regexp"
	"strings"
)

// disclosure matches words that say that a program writes, in five languages: those of our
// fixed texts, and what a model says of itself.
var disclosure = regexp.MustCompile(`(?i)\b(?:` + strings.Join([]string{
	`automat\p{L}+ (?:(?:habit|gewohnheits)[- ])?(?:coach|sms|msgs|texts|messages|mensa(?:jes|gens))`, `(?:coach|sms|mensajes|mensagens)(?: (?:de|d')? ?(?:\p{L}+ ){0,2}?\p{L}*)? automat\p{L}+`,
	`(?:ai|ki|ia)[- ]coach`, `coach (?:de |con )?ia`, `(?:i'm|i am) an? (?:ai|automated|program)`, `(?:bin|ich) (?:ein programm|eine ki)`, `soy un programa`, `je suis un programme`, `sou um programa`,
}, "|") + `)\b`)

// clauses divide a text at its marks.
var clauses = regexp.MustCompile(`[^.!?:;,()\n]+`)

// FindDisclosure returns the clause of a text that says that a program or an AI writes;
// empty where none does.
func FindDisclosure(body string) string {
	if !disclosure.MatchString(body) {
		return ""
	}
	for _, clause := range clauses.FindAllString(body, -1) {
		if disclosure.MatchString(clause) {
			return strings.TrimSpace(clause)
		}
	}
	return ""
}
