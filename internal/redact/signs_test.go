package redact

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// What a pattern matches, in any case that it matches in, passes the search in
// front of it.
func TestGlanceLetsEveryMatchThrough(t *testing.T) {
	worded := []pattern{
		{re: secretGiven, in: hasAnyOf(credentialSigns...)}, {re: passPhrase, in: hasAnyOf(credentialSigns...)},
		{re: codeBefore, in: hasAnyOf(codeSigns...)}, {re: codeAfter, in: hasAnyOf(codeSigns...)}, {re: codeLater, in: hasAnyOf(codeSigns...)},
	}
	for _, p := range append(worded, patterns...) {
		t.Run(p.re.re.String()[:min(30, len(p.re.re.String()))], func(t *testing.T) {
			matching := rapid.StringMatching(p.re.re.String())
			rapid.Check(t, func(t *rapid.T) {
				match := matching.Draw(t, "match")
				for _, text := range []string{match, strings.ToUpper(match), strings.ToLower(match)} {
					if p.re.MatchString(text) {
						require.True(t, p.in(glanceAt("so "+text+" and on")), text)
					}
				}
			})
		})
	}
}
