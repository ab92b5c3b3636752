package redact

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGlance: what a pattern without regard to case matches is never passed
// over, with letters of any script.
func TestGlance(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"capitals", "CLÉ: abc123xyz", "CLÉ: [REDACTED_SECRET]"},
		{"long s", "ſecret: abc123xyz", "ſecret: [REDACTED_SECRET]"},
		{"Kelvin", "to\u212Aen: abc123xyz", "to\u212Aen: [REDACTED_SECRET]"},
		{"long s in a scheme", "baſic aGVsbG86d29ybGQ=", "baſic [REDACTED_TOKEN]"},
		{"digits of another script", "PIN: ١٢٣٤", "PIN: [REDACTED_CODE]"},
		{"hexadecimal in capitals", "0123456789ABCDEF0123456789abcdef", "[REDACTED_SECRET]"},
		{"blanks of another kind", "a\u00a0\u00a0b\tc", "a b c"},
		{"one of them", "a\u00a0b", "a\u00a0b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, Text(tt.in, 0).Text) })
	}
}
