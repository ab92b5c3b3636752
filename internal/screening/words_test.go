package screening

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What an alert quotes are the words of the message that were recognised, as they were
// written.
func TestRecognisedWords(t *testing.T) {
	const long = "Had a long day at work and then the bus was late again. Anyway, "
	for body, want := range map[string]string{
		"I want to KILL myself!":                         "KILL myself!",
		long + "I want to kill myself, sorry":            "kill myself,",
		"Heute möchte ich sterben. Bis morgen":           "möchte ich sterben.",
		"je n'ai plus envie de vivre":                    "plus envie de vivre",
		"went for a walk 🙂 and I don't want to be alive": "don't want to be alive",
	} {
		found := Screen(Message{Body: body})
		assert.Contains(t, found.Words, want, "%s: %q of rule %s", body, found.Words, found.Rule)
		assert.Contains(t, body, found.Words)
		assert.Less(t, len(found.Words), max(len(want)+12, 30), "%q", found.Words)
	}
	assert.Empty(t, Screen(Message{Body: "walked the dog"}).Words)
}

// The words of a score are those of its best window.
func TestRecognisedWordsOfAScore(t *testing.T) {
	s := scanners.Get().(*scanner)
	defer scanners.Put(s)
	body := "l'ami d'hier   isn't here, " + strings.Repeat("and we walked ", 9) + "home"
	s.scanBody(body)
	words := strings.Fields(body)
	for from := range words {
		assert.Equal(t, strings.Join(words[from:from+1], " "), quoteTokens(body, s.tokenAt(from), s.tokenAt(from+1)))
	}
}
