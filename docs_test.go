package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// decisionWords is the most words of an entry of docs/decisions.md.
const decisionWords = 60

func TestDecisionsAreShort(t *testing.T) {
	text, err := os.ReadFile("docs/decisions.md")
	require.NoError(t, err)
	entries := strings.Split(string(text), "\n## ")
	require.Greater(t, len(entries), 1)
	dated := regexp.MustCompile(`^20\d\d-\d\d-\d\d \S`)
	titles := map[string]bool{}
	last := ""
	for _, entry := range entries[1:] {
		title, body, _ := strings.Cut(entry, "\n")
		require.Regexp(t, dated, title)
		words := len(strings.Fields(body))
		assert.True(t, 0 < words && words <= decisionWords, "%q has %d words of %d", title, words, decisionWords)
		assert.False(t, titles[title], "%q is there twice", title)
		titles[title] = true
		date, _, _ := strings.Cut(title, " ")
		assert.LessOrEqual(t, last, date, "%q stands after a newer entry", title)
		last = date
	}
}
