package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

func TestFivePeopleWithSixteenTexts(t *testing.T) {
	people, err := loadPeople()
	require.NoError(t, err)
	require.Len(t, people, 5)
	for _, one := range people {
		texts := 0
		for _, step := range one.Steps {
			if step.Text != "" {
				texts++
			}
		}
		require.Equal(t, 16, texts, one.Name)
	}
}

// TestPeopleArePlayed plays one of them, and counts each text once.
func TestPeopleArePlayed(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), invocation{args: []string{"-set", setPeople, "-case", "ben"}, out: &out}))
	require.Regexp(t, `(?m)^texts +16$`, out.String())
	require.Regexp(t, `(?m)^unfit: echo of the person +0$`, out.String())
	require.Contains(t, out.String(), "> does it even help?")
}

func TestUnfitReplies(t *testing.T) {
	for name, tt := range map[string]struct{ text, reply, want string }{
		"fit":         {"did it", "Well done, twice this week. What helped you today?", ""},
		"same":        {"ok", "What helped you start your short walk this morning?", unfitSame},
		"echo":        {"I walked to the bakery and back", "I walked to the bakery and back", unfitEcho},
		"placeholder": {"ok", "Good morning [Name], time for your walk!", unfitPlaceholder},
		"outage":      {"ok", "We have technical difficulties, so please be patient with us.", unfitOutage},
		"self":        {"ok", "My husband and I walk every day too, it is great.", unfitSelf},
		"language":    {"ok", "Muy bien, hoy has caminado mucho y mañana también puedes", unfitLanguage},
		"opt-out":     {"ok", "You have opted out and get no more messages from us.", unfitOptOut},
		"data":        {"ok", `Here is what I have: {"habit": "walk", "time": "08:00"}`, unfitData},
	} {
		t.Run(name, func(t *testing.T) {
			p := handset{locale: "en", unfit: map[string]int{}, said: []string{"What helped you start your short walk this morning?"}}
			var out bytes.Buffer
			p.add(&out, Exchange{Text: tt.text, Guards: []string{"guard words"}, Outcome: string(wire.SourceStep), Sent: []Sent{{Kind: models.KindReply, Body: tt.reply}}})
			require.Equal(t, 1, p.replies)
			if tt.want == "" {
				require.Empty(t, p.unfit)
				return
			}
			require.Equal(t, map[string]int{tt.want: 1}, p.unfit)
			require.Contains(t, out.String(), tt.want+" (guard words)")
		})
	}
}
