package text_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/internal/text"
)

// TestTapbacksOfAWriter reads a sheet of a writer who had not seen the forms; their
// author had.
func TestTapbacksOfAWriter(t *testing.T) {
	raw, err := os.ReadFile("testdata/tapbacks.tsv")
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")[1:]
	require.Len(t, lines, 150)
	for _, line := range lines {
		row := strings.SplitN(line, "\t", 3)
		_, ok := text.ReadReaction(row[2])
		assert.Equal(t, row[1] != "no", ok, line)
	}
}

func TestReactionsQuoteAMessage(t *testing.T) {
	for body, want := range map[string]string{
		`Liked “See you tomorrow”`:                 "see you tomorrow",
		`Loved "Walk 10 minutes after lunch and…"`: "walk 10 minutes after lunch and",
		`Laughed at “He said “no” twice”`:          `he said "no" twice`,
		"\u200b👍\u200b to “ Walk done?\u00a0” ":    "walk done?",
		"Removed a like from “Ok”":                 "ok",
		"Laughed at an image":                      "",
	} {
		got, ok := text.ReadReaction(body)
		assert.True(t, ok, body)
		assert.Equal(t, want, got.Quoted, body)
	}
}
