package screening_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/internal/helplines"
	"coachline/internal/screening"
	"coachline/models"
	"coachline/prompts"
)

// Every word of every fixed text of ours, every two neighbouring ones, and every
// sentence, in all languages, end, pause and page nothing: people repeat them, ask about
// them and answer with them. New texts are in it by themselves.
func TestOurOwnWords(t *testing.T) {
	library, err := prompts.Load("")
	require.NoError(t, err)
	texts := 0
	for _, name := range prompts.Names() {
		for _, locale := range screening.Languages() {
			for n := range 4 {
				data := prompts.FixedData{Programme: "Coachline", Name: "Ada", TeamAlerted: n%2 == 0, Weak: n < 2, Lines: (*helplines.Table)(nil).Find("+12025550123", locale)}
				text, err := library.Fixed(name, locale, data)
				if err != nil {
					continue // no fixed text
				}
				texts++
				for _, part := range partsOf(text) {
					found := screening.Screen(screening.Message{Body: part})
					isAct := found.Tier == models.TierA || found.Intent == models.IntentStop || found.Intent == models.IntentWrongNumber
					assert.False(t, isAct && !isExpected(name, part, found), "%s %s: %q is %s %s %s %s", locale, name, part, found.Intent, found.Tier, found.Danger, found.Rule)
				}
			}
		}
	}
	require.GreaterOrEqual(t, texts, 2*len(screening.Languages()))
}

// isExpected reports whether a part of a text may act. It may where it quotes a keyword
// for stopping, where a text asks whether to stop or whether the number is right, where
// one tells a person that the messages have ended, and where one names emergency numbers.
func isExpected(name prompts.Name, part string, found screening.Result) bool {
	switch {
	case found.Tier == models.TierA:
		return found.Danger == models.DangerEmergency && slices.Contains([]prompts.Name{
			prompts.Crisis, prompts.CrisisAnother, prompts.CrisisViolence, prompts.CrisisMedical, prompts.OptOutDanger, prompts.Help, prompts.Ended, prompts.Minor,
		}, name)
	case found.Intent == models.IntentWrongNumber:
		return name == prompts.AskWrongNumber
	case found.Method == models.MethodKeyword, strings.Contains(part, "STOP"):
		return true
	}
	return slices.Contains([]prompts.Name{
		prompts.AskWrongNumber, prompts.OptOutConfirmation, prompts.OptOutDanger, prompts.UnenrolledNotice, prompts.Ended,
	}, name)
}

// partsOf lists the words of a text, every two neighbours, and its sentences.
func partsOf(text string) []string {
	words := strings.Fields(text)
	parts := strings.SplitAfter(text, ". ")
	for i, word := range words {
		parts = append(parts, strings.Trim(word, ".,:;?!\"'()"))
		if i > 0 {
			parts = append(parts, words[i-1]+" "+word)
		}
	}
	slices.Sort(parts)
	return slices.Compact(parts)
}
