package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/prompts"
	"coachline/prompts/pages"
)

var both = []pages.Page{
	{Name: "stress", Description: "calm on busy days", Body: "secret of stress"},
	{Name: "sleep-well", Description: "evenings and nights", Body: "secret of sleep"},
}

func TestFocusRequest(t *testing.T) {
	lib, err := prompts.Load("")
	require.NoError(t, err)
	ask := FocusInput{
		Query: "I lie awake", Dialogue: []string{"coach: How are you?"}, Context: "Local time: Monday 08:00", Focuses: both,
		Previous: "sleep-well", Model: "helper",
	}
	got, err := FocusRequest(lib, ask)
	require.NoError(t, err)
	require.Equal(t, "helper", got.Model)
	require.Len(t, got.Messages, 2)
	require.Equal(t, models.ChatMessage{Role: "user", Content: "I lie awake"}, got.Messages[1])
	require.Empty(t, got.Tools)
	system := got.Messages[0].Content
	t.Run("names and descriptions, no texts", func(t *testing.T) {
		require.Contains(t, system, "- stress: calm on busy days\n- sleep-well: evenings and nights\n")
		require.NotContains(t, system, "secret")
		require.Contains(t, system, "coach: How are you?")
		require.Contains(t, system, "Local time: Monday 08:00")
	})
	t.Run("keeps the previous one, else the first", func(t *testing.T) {
		require.Contains(t, system, "keep sleep-well.")
		ask.Previous = ""
		got, err := FocusRequest(lib, ask)
		require.NoError(t, err)
		require.Contains(t, got.Messages[0].Content, "keep the first.")
	})
}

func TestPick(t *testing.T) {
	for _, tt := range []struct {
		name, answer, want string
		ok                 bool
	}{
		{"the name", "sleep-well", "sleep-well", true},
		{"with words around it", "Focus: **Stress**.", "stress", true},
		{"twice the same", "stress - yes, stress", "stress", true},
		{"thought about both", "<think>stress or sleep-well?</think>stress", "stress", true},
		{"two names", "stress, sleep-well", "", false},
		{"unknown", "nutrition", "", false},
		{"a part of a name", "sleep", "", false},
		{"nothing", "", "", false},
		{"thinking cut off", "<think>stress", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := PickFocus(tt.answer, both)
			require.Equal(t, tt.ok, ok)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestFallback(t *testing.T) {
	for _, tt := range []struct{ name, previous, want, how string }{
		{"previous", "sleep-well", "sleep-well", "previous"},
		{"else first", "", "stress", "first"},
		{"a previous one that was taken away", "nutrition", "stress", "first"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			name, how := FocusFallback(tt.previous, both)
			require.Equal(t, tt.want, name)
			require.Equal(t, tt.how, how)
		})
	}
}

func TestNarrow(t *testing.T) {
	specs := []models.ToolSpec{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	for _, tt := range []struct {
		name  string
		tools []string
		want  []models.ToolSpec
	}{
		{"no list", nil, specs},
		{"in the order of the catalogue", []string{"c", "a"}, []models.ToolSpec{{Name: "a"}, {Name: "c"}}},
		{"an empty list", []string{}, []models.ToolSpec{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, NarrowToFocus(specs, pages.Page{Tools: tt.tools}))
		})
	}
	require.Len(t, specs, 3)
	require.Equal(t, "b", specs[1].Name, "the caller's list stays")
}

func FuzzPick(f *testing.F) {
	f.Add("stress")
	f.Fuzz(func(t *testing.T, answer string) {
		name, ok := PickFocus(answer, both)
		require.Equal(t, ok, name == "stress" || name == "sleep-well")
	})
}
