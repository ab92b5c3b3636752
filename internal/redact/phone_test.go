package redact

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func corpus(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	var lines []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// Times, dates, ranges, repetitions, prices, postal codes and order numbers of
// ten countries come through as they are.
func TestNumbersThatAreNoPhones(t *testing.T) {
	for _, line := range corpus(t, "numbers.txt") {
		t.Run(line, func(t *testing.T) {
			require.Equal(t, line, Scrub(line))
			require.Equal(t, "on "+line+" ok", Scrub("on "+line+" ok"))
		})
	}
}

// Phone numbers of ten countries are masked whole, also within a sentence.
func TestPhonesOfTenCountries(t *testing.T) {
	for _, line := range corpus(t, "phones.txt") {
		t.Run(line, func(t *testing.T) {
			require.Equal(t, "[REDACTED_PHONE]", Scrub(line))
			require.Equal(t, "Tom has [REDACTED_PHONE], at 8:00.", Scrub("Tom has "+line+", at 8:00."))
		})
	}
}
