package proof_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"coachline/internal/stems/proof"
)

func TestException(t *testing.T) {
	for _, tt := range []struct {
		name, pattern string
		stems         []string
		want          string
		found         bool
	}{
		{"needed", `(?:kill|hurt) myself`, []string{" myself"}, "", false},
		{"one way is forgotten", `(?:kill|hurt) myself`, []string{"kill"}, "hurt myself", true},
		{"what may be left out is not needed", `so (?:very )?sad`, []string{"very"}, "so sad", true},
		{"a stem across two parts", `a(?:b|c)d`, []string{"abd", "cd"}, "", false},
		{"a stem that begins anew", `aa*b`, []string{"aab"}, "ab", true},
		{"a stem within a longer beginning", `xaab`, []string{"aaa", "ab"}, "", false},
		{"a class reaches past the stems", `[a-c]x`, []string{"ax", "bx"}, "cx", true},
		{"either case", `(?i:a)b`, []string{"ab"}, "Ab", true},
		{"either case, three ways to write it", `(?i:k)`, []string{"k", "K"}, "\u212a", true},
		{"any character", `.b`, []string{"b"}, "", false},
		{"nothing is read", `^$`, []string{"a"}, "", true},
		{"nothing matches", `[^\x00-\x{10FFFF}]`, nil, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, found := proof.Exception(tt.pattern, tt.stems)
			assert.Equal(t, tt.found, found)
			assert.Equal(t, tt.want, text)
		})
	}
}
