package main

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/internal/screening"
	"coachline/internal/screening/sheets"
)

func TestExpand(t *testing.T) {
	require.Equal(t, []string{"a line of one wording"}, expandLine("a line of one wording"))
	wordings := expandLine("{i|we} {walked|ran {fast|slowly}} {today|}")
	assert.Equal(t, wordings, expandLine("{i|we} {walked|ran {fast|slowly}} {today|}"), "the same each time")
	assert.Len(t, wordings, maxWordings)
	for i, wording := range wordings {
		assert.NotContains(t, wordings[:i], wording)
		assert.False(t, strings.ContainsAny(wording, "{}|"), wording)
		assert.Equal(t, strings.TrimSpace(wording), wording)
	}
}

// All braces of the texts are closed, and each line has a text in it.
func TestTextsExpand(t *testing.T) {
	for _, language := range screening.Languages() {
		texts, err := sheets.Read(os.DirFS("texts"), language)
		require.NoError(t, err)
		forRequests, err := sheets.Read(os.DirFS("requests"), language)
		require.NoError(t, err)
		for _, text := range slices.Concat(texts, forRequests) {
			require.Equal(t, strings.Count(text.Body, "{"), strings.Count(text.Body, "}"), text.Body)
			for _, wording := range expandLine(text.Body) {
				require.False(t, strings.ContainsAny(wording, "{}"), text.Body)
				require.NotEmpty(t, wording, text.Body)
			}
		}
	}
}

// Nothing is learnt from a text that the scored half has too.
func TestSamplesLeaveScoredTextsOut(t *testing.T) {
	samples, err := readTexts("../testdata/sheets", "texts", "requests")
	require.NoError(t, err)
	for _, language := range screening.Languages() {
		texts, err := sheets.Read(os.DirFS("../testdata/sheets"), language)
		require.NoError(t, err)
		isScored := map[string]bool{}
		for _, text := range texts {
			isScored[text.Plain()] = !text.IsOpen()
		}
		seen := 0
		for _, s := range samples {
			if s.Language == language {
				seen++
				require.False(t, isScored[s.Plain()], "a text of the scored half of %s is learnt", language)
			}
		}
		require.Greater(t, seen, 1000, language)
	}
}

func TestGarbleKeepsMostLetters(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const body = "walking every morning helps, honestly"
	changed := 0
	for range 200 {
		got := garbleText(body, random)
		if got != body {
			changed++
		}
		require.InDelta(t, len(body), len(got), 30, got)
	}
	assert.Greater(t, changed, 150)
}
