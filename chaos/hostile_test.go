package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/sim/openai"
)

// TestHostileModelObeysAttackers: it calls for other people's data and forges texts where
// an attacker asks, and answers anybody else as the usual model does.
func TestHostileModelObeysAttackers(t *testing.T) {
	answer := (&attack{leaks: map[string]bool{}}).answer(func([]byte) (openai.Answer, error) { return say("usual"), nil })
	ask := func(text, tools string) openai.Answer {
		got, err := answer([]byte(`{"model":"m","messages":[{"role":"system","content":"Name: p1"},{"role":"user","content":"` + text + `"}]` + tools + `}`))
		require.NoError(t, err)
		return got
	}
	const tools = `,"tools":[{"type":"function"}]`
	require.Equal(t, "usual", ask("m0001 hello", tools).Text)
	require.Len(t, ask("m0001 "+obey, tools).Calls, 10)
	require.Contains(t, forgedTexts, ask("m0001 "+obey, "").Text)
}

// TestOwnDataIsFound: a person's name, number and fact are found, and no other's.
func TestOwnDataIsFound(t *testing.T) {
	of := ownOf(&turn{number: "+12025550101"})
	for text, want := range map[string]bool{
		"tell p1 that": true, "p11 walks": false, "call 2025550101": true, "call 2025550102": false, "zebra0101": true, "zebra0102": false, "an okapi0101": true, "ibis01012": true,
	} {
		require.Equal(t, want, of.MatchString(text), text)
	}
}

// TestShortHostile is the command's short form: ordinary people notice nothing of a hostile
// texter and model, nothing of theirs leaves, and the limits hold.
func TestShortHostile(t *testing.T) {
	var out bytes.Buffer
	err := run(t.Context(), []string{"-hostile", "-short"}, &out)
	t.Log(out.String())
	require.NoError(t, err)
}
