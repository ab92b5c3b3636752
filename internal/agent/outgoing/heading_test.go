package outgoing_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent/outgoing"
)

// Small models write the heading of the request before, or in place of, an answer.
func TestHeadingsOfTheRequestAreRefused(t *testing.T) {
	for _, body := range []string{
		"Your answer: What small habit would you like to start with?", "What helps you? Your answer Your answer is not possible.", "Here is the answer: walk more.", "Deine Antwort: Geh spazieren.", "Ta réponse : marche un peu.",
		"What is your habit? Your answer is: a walk.",
	} {
		require.Equal(t, outgoing.Wrapper, refuse(answer{"", "en", body}), body)
	}
	require.Equal(t, outgoing.Internals, refuse(answer{"", "en", "What helps you? You can use the tool for it first, then answer."}))
	for _, body := range []string{"Your answer helps me. What gets in the way?", "Gute Antwort! Was hilft dir?", "Thanks for your answer. When will you walk?"} {
		require.Empty(t, refuse(answer{"", "en", body}), body)
	}
}
