package screening

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/models"
)

// A common word is no misspelling of a word of danger or of a request.
func TestCommonWordsAreOrdinary(t *testing.T) {
	common := commonWords()
	require.Greater(t, len(common), 5000)
	for word := range common {
		found := Screen(Message{Body: word})
		assert.Equal(t, models.DangerNone, found.Danger, "%s: %s", word, found.Rule)
		assert.Empty(t, found.Intent, word)
	}
	for _, body := range []string{
		"Schritt geschafft", "Der Schritt war gut", "Schritt am Morgen gemacht", "im Schnitt drei Mal", "schuhe an der tür", "tive sorte hoje",
	} {
		assert.Equal(t, Result{Score: Screen(Message{Body: body}).Score}, Screen(Message{Body: body}), body)
	}
	// What is no common word still is one.
	for _, body := range []string{"ich will mich umbrigen", "i want to kil mysefl", "quiero morrir", "je veux mourrir", "quero morer"} {
		assert.NotEqual(t, models.DangerNone, Screen(Message{Body: body}).Danger, body)
	}
}
