package agent_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent"
	"coachline/prompts"
)

func newInstructions(t *testing.T) *agent.Instructions {
	t.Helper()
	lib, err := prompts.Load("")
	require.NoError(t, err)
	out, err := agent.NewInstructions(lib, "Coachline")
	require.NoError(t, err)
	return out
}

// Ordinary replies pass unchanged.
func TestScreenPassesReplies(t *testing.T) {
	corpus, err := os.ReadFile("testdata/replies.txt")
	require.NoError(t, err)
	known := newInstructions(t)
	for _, phone := range []string{"+12025550123", "+4915123456789", "+34612345678"} {
		for line := range strings.Lines(string(corpus)) {
			text := strings.TrimSpace(line)
			require.Equal(t, agent.Screened{Text: text}, agent.Screen(agent.Outbound{Text: text, Phone: phone, Instructions: known}), text)
		}
		whole := strings.TrimSpace(string(corpus))
		require.Equal(t, agent.Screened{Text: whole}, agent.Screen(agent.Outbound{Text: whole, Phone: phone, Instructions: known}))
	}
}

func TestScreen(t *testing.T) {
	for _, tt := range []struct {
		name, text, want string
		dropped          []string
	}{
		{"another person's number", "Well done! Ask Tom at +1 212 555 0188 to join. See you at 8:00.", "Well done! See you at 8:00.", []string{"phone"}},
		{"a number alone", "212-555-0188", "", []string{"phone"}},
		{"an address", "Write to tom@example.org. Good luck!", "Good luck!", []string{"email"}},
		{"a card", "Good luck! It was 4242 4242 4242 4242.", "Good luck!", []string{"card"}},
		{"a social security number", "078-05-1120 is what you sent. Rest well.", "Rest well.", []string{"ssn"}},
		{"a key", "Use sk-proj-abcdefghijklmnop1234. Rest well.", "Rest well.", []string{"secret"}},
		{"a mark", "I noted [REDACTED_PHONE] for you. Shall we walk at 8?", "Shall we walk at 8?", []string{"mark"}},
		{"a mark in other brackets", "I noted (redacted_email) for you.\nShall we walk at 8?", "Shall we walk at 8?", []string{"mark"}},
		{"several", "Mail tom@example.org. Call 212-555-0188! Walk.", "Walk.", []string{"email", "phone"}},
		{"behind a title", "Call Dr. Lee at 212-555-0188 today. Walk now.", "Walk now.", []string{"phone"}},
		{"their own number", "Your number is +1 202 555 0123, right?", "Your number is +1 202 555 0123, right?", nil},
		{"their own number as people write it", "Your number is (202) 555-0123, right?", "Your number is (202) 555-0123, right?", nil},
		{"what they wrote", "You wrote ann@example.net. Is that still so?", "You wrote ann@example.net. Is that still so?", nil},
		{"what they wrote, otherwise spaced", "Tom's number, 212 555 0177, as you said.", "Tom's number, 212 555 0177, as you said.", nil},
		{"the instructions", "You are the automated habit coach of Coachline. By text message you help one person build one small habit that fits their life.", "", []string{"instructions"}},
		{"an instruction further down", "Sure: Warm, plain and direct, no lists, links of your own, stock phrases or lectures.", "", []string{"instructions"}},
		{"a title of the system message", "# Persona\nI am a coach.", "", []string{"instructions"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := agent.Outbound{
				Text: tt.text, Phone: "+12025550123", Instructions: newInstructions(t),
				Known: []string{"mine is ANN@example.net", "tom: (212) 555-0177"},
			}
			require.Equal(t, agent.Screened{Text: tt.want, Dropped: tt.dropped}, agent.Screen(out))
		})
	}
}
