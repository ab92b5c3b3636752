package text_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/text"
)

func TestFindDisclosure(t *testing.T) {
	for body, want := range map[string]string{
		"Hi Ada, this is Steps, your automated habit coach. Up to 2 texts a day.": "your automated habit coach", "Steps: automatisierte SMS, bis zu 2 am Tag.": "automatisierte SMS",
		"(AI coach, not a person) Morning!": "AI coach", "Well, I'm an AI, so no.": "I'm an AI", "Ich bin ein Programm, und kein Mensch.": "Ich bin ein Programm",
		"Put the pills on automatic refill.": "", "An automated reminder in your calendar may help.": "", "Frag einen Coach im Verein.": "", "A coach once told me to rest.": "", "": "",
	} {
		require.Equal(t, want, text.FindDisclosure(body), body)
	}
}
