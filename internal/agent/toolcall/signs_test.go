package toolcall

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// What a pattern matches holds one of its signs.
func TestEveryMatchHasASign(t *testing.T) {
	for _, p := range []signPattern{
		bareStart, marker, templateMark, ownLine, ownLines, protocolWord, callLiteral,
		unusedMark, toolTag, dataLine, dataStart, programCall, namedCall,
	} {
		matching := rapid.StringMatching(p.String())
		rapid.Check(t, func(t *rapid.T) {
			match := matching.Draw(t, "match")
			require.True(t, p.hasSign(match), "%q matches %s", match, p.Regexp)
		})
	}
}
