package text_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/text"
)

func TestSaysYes(t *testing.T) {
	for _, said := range []string{
		"yes", "Yes!", "YES please, delete everything", "yeah do it", "sure", "👍", "👍🏽", "Sí", "sí, bórralo todo", "Ja", "ja bitte", "Klar, lösche alles", "Lösche alles",
		"oui", "Oui, efface tout", "sim", "Sim, pode apagar tudo", "delete everything", "I confirm",
	} {
		require.True(t, text.SaysYes(said), said)
	}
	for _, said := range []string{
		"", "no", "ok", "ok thanks", "what does it mean?", "yes?", "yes, but keep my knee", "not yet", "nein", "ja, aber nicht alles", "non", "não", "wait",
		"yes and then I went to the shops and bought a lot of things for the weekend with my brother", "thanks", "I walked today", "don't delete everything",
	} {
		require.False(t, text.SaysYes(said), said)
	}
}

func TestSaysNo(t *testing.T) {
	for _, said := range []string{"no", "No.", "no, I am Ben", "NOPE", "nein, hier ist Ben", "non", "não, sou o Bruno", "👎"} {
		require.True(t, text.SaysNo(said), said)
	}
	for _, said := range []string{"", "yes", "no, yes it's me", "not yet", "no?", "I said no", "nothing", "sure"} {
		require.False(t, text.SaysNo(said), said)
	}
}

func TestSaysItIsMe(t *testing.T) {
	for _, yes := range []string{"yes it's me", "Yes, this is Ada", "ja ich bin's", "Ja, immer noch ich", "oui c'est toujours moi", "sí, soy yo", "sim, sou eu mesmo", "it’s me, Ada!"} {
		require.True(t, text.SaysItIsMe(yes, "Ada"), yes)
	}
	for _, other := range []string{"", "yes", "is it me?", "yes that works for me", "yes it's Ben", "no it's me", "me too, walked today", "ja, passt"} {
		require.False(t, text.SaysItIsMe(other, "Ada"), other)
	}
}
