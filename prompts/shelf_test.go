package prompts_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"coachline/prompts"
	"coachline/prompts/pages"
)

// shelved writes one page below a fresh folder of prompts and returns that.
func shelved(t *testing.T, file, text string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, filepath.FromSlash(file))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return dir
}

func page(name, more, body string) string {
	return "---\nname: " + name + "\ndescription: about " + name + "\n" + more + "---\n" + body
}

func TestBuiltInPlaybooks(t *testing.T) {
	lib := load(t, "")
	require.Empty(t, lib.Focuses(), "J8 none is built in")
	require.Equal(t, []string{"after-a-slip", "celebrating", "habit-stacking", "holiday", "illness", "low-mood", "maintenance", "other-people", "plateau", "risky-plans", "shrinking-a-habit", "stopping"}, lib.PlaybookNames())
	for _, name := range lib.PlaybookNames() {
		text, ok := lib.Playbook(name)
		require.True(t, ok)
		require.Less(t, len(strings.Fields(text)), 200, name)
		for _, word := range []string{"doctor", "medic", "disease", "therapy", "diagnos", "cure"} {
			require.NotContains(t, strings.ToLower(text), word, "%s makes no medical claim", name)
		}
	}
	section, err := lib.PlaybookSection()
	require.NoError(t, err)
	t.Run("names and descriptions, no texts", func(t *testing.T) {
		require.Contains(t, section, "- after-a-slip: missed days\n")
		require.NotContains(t, section, "Guilt")
		require.Less(t, utf8.RuneCountInString(section), 500, "every request holds it")
	})
}

func TestOwnPlaybooks(t *testing.T) {
	base := load(t, "")
	for _, tt := range []struct {
		name, file, text string
		want             []string
	}{
		{"one more", "playbooks/b_sleep.md", page("sleep", "keywords: [Bed, ir a dormir]\n", "Dim the lights."),
			[]string{"after-a-slip", "sleep", "celebrating", "habit-stacking", "holiday", "illness", "low-mood", "maintenance", "other-people", "plateau", "risky-plans", "shrinking-a-habit", "stopping"}},
		{"in place of one", "playbooks/after_a_slip.md", page("slips", "", "Go on."), []string{"slips", "celebrating", "habit-stacking", "holiday", "illness", "low-mood", "maintenance", "other-people", "plateau", "risky-plans", "shrinking-a-habit", "stopping"}},
		{"taken away", "playbooks/after_a_slip.md", "", []string{"celebrating", "habit-stacking", "holiday", "illness", "low-mood", "maintenance", "other-people", "plateau", "risky-plans", "shrinking-a-habit", "stopping"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lib := load(t, shelved(t, tt.file, tt.text))
			require.Equal(t, tt.want, lib.PlaybookNames())
			require.NotEqual(t, base.Version(), lib.Version())
		})
	}
	words := load(t, shelved(t, "playbooks/b_sleep.md", page("sleep", "keywords: [Bed, ir a dormir]\n", "x"))).PlaybookWords()
	for _, word := range []string{"bed", "ir", "dormir", "slip"} {
		require.Contains(t, words, word)
	}
	t.Run("none left", func(t *testing.T) {
		dir := shelved(t, "playbooks/after_a_slip.md", "")
		for _, name := range base.PlaybookNames() {
			file := strings.ReplaceAll(name, "-", "_") + ".md"
			require.NoError(t, os.WriteFile(filepath.Join(dir, "playbooks", file), nil, 0o600))
		}
		lib := load(t, dir)
		require.Empty(t, lib.PlaybookNames())
		section, err := lib.PlaybookSection()
		require.NoError(t, err)
		require.Empty(t, section)
		require.NoError(t, lib.CheckTools(offers(t)))
	})
}

func TestPlaybookNamesAreNoPaths(t *testing.T) {
	dir := shelved(t, "playbooks/own.md", page("own", "", "x"))
	lib := load(t, dir)
	for _, name := range []string{"../x", "../playbooks/own", "own.md", "playbooks/own", filepath.Join(dir, "playbooks", "own.md"), "/etc/passwd", ".", ""} {
		t.Run("H18 "+name, func(t *testing.T) {
			_, ok := lib.Playbook(name)
			require.False(t, ok)
		})
	}
}

func TestFocuses(t *testing.T) {
	base := load(t, "")
	dir := shelved(t, "focuses/20_sleep.md", page("sleep", "tools: [scheduler]\n", "Talk of evenings.\n# Now\nUse `scheduler`."))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "focuses", "10_stress.md"), []byte(page("stress", "", "Talk of breath.")), 0o600))
	lib := load(t, dir)
	require.NoError(t, lib.CheckTools(offers(t)))
	t.Run("in the order of their files", func(t *testing.T) {
		var names []string
		for _, focus := range lib.Focuses() {
			names = append(names, focus.Name)
		}
		require.Equal(t, []string{"stress", "sleep"}, names)
		require.NotEqual(t, base.Version(), lib.Version())
		require.Equal(t, lib.Version(), load(t, dir).Version())
	})
	sleep, ok := lib.Focus("sleep")
	require.True(t, ok)
	require.Equal(t, []string{"scheduler"}, sleep.Tools)
	require.Equal(t, "Talk of evenings.\n## Now\nUse `scheduler`.", sleep.Body)
	_, ok = lib.Focus("../sleep")
	require.False(t, ok)
	lines := prompts.PageLines(lib.Focuses())
	require.Equal(t, prompts.ToolLine{Name: "stress", Description: "about stress"}, lines[0])
}

func TestPagesThatStopTheProgram(t *testing.T) {
	for _, tt := range []struct{ name, file, text, want string }{
		{"no description", "playbooks/own.md", "---\nname: own\n---\nx", "reading playbooks: own.md has no description"},
		{"too long", "playbooks/own.md", page("own", "", strings.Repeat("x", pages.MaxFile)), "own.md has 80"},
		{"no text and nothing to take away", "focuses/own.md", page("own", "", ""), "reading focuses: own.md has no text"},
		{"tools of a playbook", "playbooks/own.md", page("own", "tools: [scheduler]\n", "x"), "playbooks/own.md has tools"},
		{"keywords of a focus", "focuses/own.md", page("own", "keywords: [x]\n", "x"), "focuses/own.md has keywords"},
		{"the name of a built-in one", "playbooks/own.md", page("after-a-slip", "", "x"), "own.md has the name after-a-slip, and so has after_a_slip.md"},
		{"a file that cannot be read", "playbooks/own.md/x", "", "own.md is no text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := prompts.Load(shelved(t, tt.file, tt.text))
			require.ErrorContains(t, err, tt.want)
		})
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "focuses"), []byte("x"), 0o600))
	_, err := prompts.Load(dir)
	require.ErrorContains(t, err, "focuses")
}

func TestCheckToolsLooksAtFocuses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"unknown tool", page("own", "tools: [scheduler, web_search]\n", "x"), `focuses/own.md lets through "web_search", which is no tool; tools are ask_for_person,`},
		{"a tool it keeps out", page("own", "tools: [scheduler]\n", "Call search_memory first."), `focuses/own.md names "search_memory"`},
		{"an invented tool", page("own", "", "Call `delete_memory` first."), `focuses/own.md names "delete_memory"`},
		{"words of the tools", page("own", "", "Save `last_barrier` with `save_user_profile`."), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := load(t, shelved(t, "focuses/own.md", tt.text)).CheckTools(offers(t))
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// TestShippedFocuses: they are there where they are wanted, and an operator replaces or
// leaves them out.
func TestShippedFocuses(t *testing.T) {
	names := func(library *prompts.Library) (out []string) {
		for _, focus := range library.Focuses() {
			out = append(out, focus.Name)
		}
		return out
	}
	require.Empty(t, load(t, "").Focuses())
	library, err := prompts.LoadWith("", true)
	require.NoError(t, err)
	require.Equal(t, []string{"habit", "setback"}, names(library))
	require.NoError(t, library.CheckTools(offers(t)))
	require.NotEqual(t, load(t, "").Version(), library.Version())
	dir := shelved(t, "focuses/setback.md", page("sleep", "", "Talk of evenings."))
	library, err = prompts.LoadWith(dir, true)
	require.NoError(t, err)
	require.Equal(t, []string{"habit", "sleep"}, names(library))
	library, err = prompts.LoadWith(shelved(t, "focuses/setback.md", ""), true)
	require.NoError(t, err)
	require.Equal(t, []string{"habit"}, names(library))
}
