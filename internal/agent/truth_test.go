package agent_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/prompts"
)

// TestTruthIsJoinedToTheAnswer: who asks what answers them, also within a longer text, is
// told by rule, before the coach's own answer; others are not.
func TestTruthIsJoinedToTheAnswer(t *testing.T) {
	const answer = "Ten minutes of walking is a fine start. What time suits you?"
	w := newWorld(t)
	truth, err := w.library.Fixed(prompts.Truth, "en", prompts.FixedData{Programme: "Coachline"})
	require.NoError(t, err)
	for text, isAsked := range map[string]bool{
		"are you a bot": true, "walked 10 min today. btw am I texting a real person or a machine?": true, "is this chatgpt": true,
		"bist du ein echter Mensch oder ein Bot?": true, "tu es un robot ou quelqu'un?": true, "eres una persona o una maquina?": true, "vc é uma pessoa ou um robô?": true,
		"walked 10 min today, my machine is broken": false, "who knows, maybe tomorrow": false,
	} {
		w := newWorld(t)
		w.model.on(chat, said{text: answer})
		step := w.addText(text).runStep()
		require.Contains(t, step.Text, answer, text)
		require.Equal(t, isAsked, strings.HasPrefix(step.Text, truth+" "), text)
	}
}

// TestClaimToBeHumanIsAnswered: in place of a claim to be a person stands the fixed text;
// words that say it themselves are left as they are.
func TestClaimToBeHumanIsAnswered(t *testing.T) {
	w := newWorld(t)
	fixed, err := w.library.Fixed(prompts.WhatAreYou, "en", prompts.FixedData{Programme: "Coachline"})
	require.NoError(t, err)
	w.model.on(chat, said{text: "I'm a real person, my name is Sarah."})
	require.Equal(t, strings.TrimSpace(fixed), strings.TrimSpace(w.addText("are you a real person?").runStep().Text))
	for _, unfit := range []string{"Walk Walk Walk Walk Walk Walk Walk Walk Walk Walk Walk Walk", "<html><body>502</body></html>", ""} {
		other := newWorld(t)
		other.model.on(chat, said{text: unfit})
		require.Equal(t, strings.TrimSpace(fixed), strings.TrimSpace(other.addText("are you a real person?").runStep().Text), unfit)
	}
	honest := newWorld(t)
	honest.model.on(chat, said{text: "I'm an automated coach, so no. How was the walk?"})
	require.Equal(t, "I'm an automated coach, so no. How was the walk?", honest.addText("are you a real person?").runStep().Text)
}
