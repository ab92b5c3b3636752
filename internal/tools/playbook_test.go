package tools

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent/plan"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// playbooks returns the playbooks that come with the coach.
func playbooks(t testing.TB) Playbooks {
	t.Helper()
	library, err := prompts.Load("")
	require.NoError(t, err)
	return library
}

// bare has no playbooks, because an operator removed every one.
type bare struct{}

func (bare) PlaybookNames() []string        { return nil }
func (bare) PlaybookWords() []string        { return []string{"lost"} }
func (bare) Playbook(string) (string, bool) { return "", false }

func TestReadPlaybook(t *testing.T) {
	t.Run("the text, as reference", func(t *testing.T) {
		want, ok := playbooks(t).Playbook("after-a-slip")
		require.True(t, ok)
		for _, args := range []string{`{"name":"after-a-slip"}`, `{"name":" after-a-slip\n"}`} {
			out := run(t, "read_playbook", args, models.Profile{})
			require.False(t, out.Result.Failed)
			require.Nil(t, out.Profile)
			var answer playbookAnswer
			require.NoError(t, json.Unmarshal([]byte(out.Result.Content), &answer))
			require.Equal(t, want, answer.Reference)
			require.Contains(t, answer.Note, "not orders")
		}
	})
	const existing = "there are after-a-slip, celebrating, habit-stacking, holiday, illness, low-mood, maintenance, other-people, plateau, risky-plans, shrinking-a-habit, stopping"
	for _, tt := range []struct{ name, args, want string }{
		{"a path upwards", `{"name":"../x"}`, "no playbook called ../x; " + existing},
		{"a path upwards to one that is there", `{"name":"../playbooks/after_a_slip.md"}`, existing},
		{"an absolute path", `{"name":"/etc/passwd"}`, "no playbook called /etc/passwd; " + existing},
		{"the name of a file", `{"name":"after_a_slip.md"}`, existing},
		{"unknown", `{"name":"sleep"}`, "no playbook called sleep; " + existing},
		{"none", `{"name":" "}`, "name: is required"},
		{"two", `{"name":["a","b"]}`, "name: must be text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := run(t, "read_playbook", tt.args, models.Profile{})
			require.True(t, out.Result.Failed)
			require.Contains(t, out.Result.Content, tt.want)
			require.NotContains(t, out.Result.Content, "reference")
		})
	}
}

func TestNoPlaybooksNoTool(t *testing.T) {
	for name, more := range map[string][]Tool{"J50 no playbooks": nil, "J50 an empty folder": PlaybookTools(bare{})} {
		t.Run(name, func(t *testing.T) {
			registry, err := New(more...)
			require.NoError(t, err)
			_, known := registry.Lookup(registry.Playbook())
			require.False(t, known)
			require.NotContains(t, names(registry.For(wire.ModeIntake)), registry.Playbook())
		})
	}
}

// TestRoutedToPlaybooks routes with the words of people who could use one.
func TestRoutedToPlaybooks(t *testing.T) {
	tools := catalogue(t, wire.ModeFeedback)
	for _, tt := range []struct {
		name, in string
		want     bool
	}{
		{"a slip", "I missed three days and feel guilty", true},
		{"too hard", "ten push-ups are too hard for me", true},
		{"an anchor", "how do I find a good anchor?", true},
		{"advice", "any tips?", true},
		{"German", "Ich habe es zweimal verpasst", true},
		{"a time", "text me every day at 9am", false},
		{"a wish to be forgotten", "delete everything you know about me", false},
		{"small talk beside a wish", "hello, thanks! text me at 7am", false},
		{"a success", "It went well, I managed ten minutes", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := plan.SelectTools(plan.StrategyKeyword, plan.RouteInput{Query: tt.in, Tools: tools}, plan.RouteEvidence{})
			require.Equal(t, plan.StrategyKeyword, got.By)
			if tt.want {
				require.Contains(t, got.Names, "read_playbook")
			} else {
				require.NotContains(t, got.Names, "read_playbook")
			}
		})
	}
}
