package agent

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"coachline/models"
	"coachline/models/wire"
)

func TestClean(t *testing.T) {
	tests := []struct {
		name, in, want string
	}{
		{"plain", "Nice walk.", "Nice walk."},
		{"trimmed", " \n hi\t\n", "hi"},
		{"empty", "", ""},
		{"blank", " \n\t ", ""},
		{"only invisible", "\u200b\u200d\ufeff\u0000", ""},
		{"control characters", "a\x00b\x1b[0m\r\nc", "ab[0m\nc"},
		{"zero width", "wa\u200blk\ufeff\u2060\u202e", "walk"},
		{"joined emoji", "👩\u200d👧 ❤\ufe0f\u200d🔥", "👩\u200d👧 ❤\ufe0f\u200d🔥"},
		{"Persian joiner", "می\u200cخواهم", "می\u200cخواهم"},
		{"loose joiner", "a \u200d b\u200d", "a  b"},
		{"blank lines", "a\n\n\n \n\nb\n\nc", "a\n\nb\n\nc"},
		{"quotes stay", `"After coffee, walk."`, `"After coffee, walk."`},
		{"thinking", "<think>what to say\n</think>\nHi", "Hi"},
		{"thinking cut off", "<think>what to", ""},
		{"thinking without a start", "what to say</think> Hi", "Hi"},
		{"copied label", "[daily prompt, sent Tue 2026-11-24 08:00] Walk now.", "Walk now."},
		{"copied label of a text that did not arrive", "[reply, not delivered: the person never got this message] Walk now.", "Walk now."},
		{"copied marks", "[hint] [message from the team, sent Tue] Hi", "Hi"},
		{"brackets of its own", "[optional] Walk now.", "[optional] Walk now."},
		{"broken bytes", "a\xffb", "ab"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, Clean(tt.in))
		})
	}
}

func TestCleanTwiceIsCleanOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{
			"a", "\n", " ", "\u200d", "👩", "\x00", "[hint] ", "[reminder, sent x]", "\xff", "\r", "é",
		})).Draw(rt, "parts")
		once := Clean(strings.Join(parts, ""))
		require.True(rt, utf8.ValidString(once))
		require.Equal(rt, once, Clean(once))
		require.NotContains(rt, once, "\n\n\n")
	})
}

func TestHabitFallback(t *testing.T) {
	tests := []struct {
		name string
		p    models.Profile
		want string
	}{
		{"nothing known", models.Profile{}, "Today, take two minutes for your habit; every small step counts."},
		{
			"all known", fullProfile(),
			"After your morning coffee, take two minutes for your habit (a short walk); your why: more energy for your kids.",
		},
		{
			"anchor as a noun", models.Profile{HabitTexts: models.HabitTexts{PromptAnchor: "breakfast.", HabitDomain: "stretch"}},
			"After breakfast, take two minutes for your habit (stretch); every small step counts.",
		},
		{
			"anchor as a moment", models.Profile{HabitTexts: models.HabitTexts{PromptAnchor: "When I get home, before I sit"}},
			"When you get home, before you sit, take two minutes for your habit; every small step counts.",
		},
		{
			"long answers", models.Profile{HabitTexts: models.HabitTexts{PromptAnchor: "the moment that comes right when all of the children have left", HabitDomain: "going for a very long and slow walk. Maybe with the dog", MotivationalFrame: "I want to be there for my family when they are grown"}},
			"After the moment that comes right, take two minutes for your habit (going for a very long); your why: you want to be there.",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, HabitFallback(tt.p))
		})
	}
}

func TestHabitFallbackIsOneShortSentence(t *testing.T) {
	text := rapid.StringMatching(`[A-Za-zé .,!?\n;:-]{0,500}`)
	rapid.Check(t, func(rt *rapid.T) {
		got := HabitFallback(models.Profile{HabitTexts: models.HabitTexts{PromptAnchor: text.Draw(rt, "anchor"), HabitDomain: text.Draw(rt, "habit"), MotivationalFrame: text.Draw(rt, "why")}})
		require.Less(rt, len(strings.Fields(got)), 30)
		require.LessOrEqual(rt, utf8.RuneCountInString(got), 300)
		require.NotContains(rt, got, "\n")
		require.Equal(rt, len(got)-1, strings.IndexAny(got, ".!?"), "one sentence: %s", got)
	})
}

func TestDebugText(t *testing.T) {
	in := DebugInput{
		Mode: wire.ModeFeedback, Profile: models.Profile{HabitTexts: models.HabitTexts{HabitDomain: "walk", LastBarrier: "ann@example.org called"}, SuccessCount: 2, TotalPrompts: 5},
		Runs: []models.ToolRun{{Name: "scheduler"}, {Name: "save_user_profile", Failed: true}},
	}
	require.Equal(t, "🐛 DEBUG: mode FEEDBACK\nhabit_domain: walk\nlast_barrier: [REDACTED_EMAIL] called\nmissing: motivational_frame, preferred_time, prompt_anchor\n"+
		"successes 2 of 5 prompts\ntools: scheduler ok, save_user_profile failed", DebugText(in))
	require.Equal(t, "🐛 DEBUG: mode INTAKE\nprofile: empty\nmissing: habit_domain, motivational_frame, preferred_time, prompt_anchor\n"+
		"successes 0 of 0 prompts\ntools: none", DebugText(DebugInput{Mode: wire.ModeIntake}))
}
