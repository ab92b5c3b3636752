package plan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

func TestAllow(t *testing.T) {
	picked := Selection{Names: []string{"weather"}, By: StrategyKeyword}
	tests := []struct {
		name string
		in   AllowInput
		want Allowed
	}{
		{"picks alone", AllowInput{Selection: picked}, Allowed{[]string{"weather"}, "keyword"}},
		{"carry-over", AllowInput{Selection: picked, Failed: []string{"scheduler"}}, Allowed{[]string{"scheduler", "weather"}, "keyword+carryover"}},
		{"plan and carry-over", AllowInput{Selection: picked, Failed: []string{"scheduler"}, Planned: []string{"search_web"}},
			Allowed{[]string{"scheduler", "weather", "search_web"}, "keyword+plan+carryover"}},
		{"plan names what is picked", AllowInput{Selection: picked, Planned: []string{"weather"}}, Allowed{[]string{"weather"}, "keyword"}},
		{"found", AllowInput{Selection: Selection{By: StrategyModel}, Found: []string{"search_web"}}, Allowed{[]string{"search_web"}, "model+search"}},
		{"on offer before", AllowInput{Selection: picked, Kept: []string{"search_web", "exec"}}, Allowed{[]string{"weather", "search_web"}, "keyword+kept"}},
		{"on offer before, picked too", AllowInput{Selection: picked, Kept: []string{"weather"}}, Allowed{[]string{"weather"}, "keyword"}},
		{"always", AllowInput{Selection: picked, Always: []string{"stop", "tool_search"}}, Allowed{[]string{"weather", "stop", "tool_search"}, "keyword"}},
		{"always, picked too", AllowInput{Selection: picked, Always: []string{"weather"}}, Allowed{[]string{"weather"}, "keyword"}},
		{"forbidden names stay out", AllowInput{Selection: Selection{Names: []string{"exec"}, By: StrategyAll}, Planned: []string{"exec"}, Failed: []string{"exec"}, Found: []string{"exec"}},
			Allowed{nil, "all"}},
		{"found, forbidden in this mode", AllowInput{Selection: picked, Found: []string{"exec"}}, Allowed{[]string{"weather"}, "keyword"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.in.Catalogue = sampleTools()
			require.Equal(t, tt.want, AllowTools(tt.in))
		})
	}
	t.Run("what is cached has no carried name", func(t *testing.T) {
		selection := Selection{Names: []string{"weather"}, By: StrategyKeyword}
		AllowTools(AllowInput{Selection: selection, Failed: []string{"scheduler"}, Catalogue: sampleTools()})
		require.Equal(t, []string{"weather"}, selection.Names)
	})
}

func TestCache(t *testing.T) {
	key := CacheKey{
		Query: "8am please", Strategy: StrategyModel, Tools: []string{"b", "a"}, Mode: wire.ModeIntake,
		Channel: wire.ChannelSMS, Focus: "sleep", Locale: "en-US",
	}
	base := key.Hash()
	require.Equal(t, []string{"b", "a"}, key.Tools, "the caller's list stays")
	require.NotContains(t, base, "8am")
	same := key
	same.Tools = []string{"a", "b"}
	require.Equal(t, base, same.Hash())
	tests := []struct {
		name   string
		change func(*CacheKey)
	}{
		{"query", func(k *CacheKey) { k.Query = "9am please" }},
		{"strategy", func(k *CacheKey) { k.Strategy = StrategyKeyword }},
		{"tools", func(k *CacheKey) { k.Tools = []string{"a"} }},
		{"names do not run together", func(k *CacheKey) { k.Tools = []string{"ab"} }},
		{"fields do not run together", func(k *CacheKey) { k.Focus, k.Locale = "sleepen", "-US" }},
		{"mode", func(k *CacheKey) { k.Mode = wire.ModeFeedback }},
		{"channel", func(k *CacheKey) { k.Channel = wire.ChannelTerminal }},
		{"focus", func(k *CacheKey) { k.Focus = "" }},
		{"locale", func(k *CacheKey) { k.Locale = "de" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			other := key
			tt.change(&other)
			require.NotEqual(t, base, other.Hash())
		})
	}
	t.Run("the whole catalogue is not cached", func(t *testing.T) {
		answer := RouteEvidence{Answer: "search_web, weather, saveProfile, scheduler"}
		require.False(t, SelectTools(StrategyModel, RouteInput{"q", sampleTools()}, answer).Cacheable(sampleTools()))
		require.False(t, SelectTools(StrategyAll, RouteInput{"q", sampleTools()}, answer).Cacheable(sampleTools()))
	})
	t.Run("a part is cached, none too", func(t *testing.T) {
		require.True(t, SelectTools(StrategyModel, RouteInput{"q", sampleTools()}, RouteEvidence{Answer: "weather"}).Cacheable(sampleTools()))
		require.True(t, SelectTools(StrategyModel, RouteInput{"q", sampleTools()}, RouteEvidence{Answer: "none"}).Cacheable(sampleTools()))
	})
	t.Run("a fallback is not cached", func(t *testing.T) {
		require.False(t, SelectTools(StrategyModel, RouteInput{"remind me", sampleTools()}, RouteEvidence{}).Cacheable(sampleTools()))
	})
}

func TestSearch(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"lines", "delete a daily reminder", "scheduler: Manage daily prompts and reminders: create, list, delete."},
		{"best first", "daily reminders, and the web", "scheduler: Manage daily prompts and reminders: create, list, delete.\nsearch_web: Look things up on the web."},
		{"best first, whatever the catalogue's order", "look things up on the web, or a reminder", "search_web: Look things up on the web.\nscheduler: Manage daily prompts and reminders: create, list, delete."},
		{"nothing", "xyzzy", nothingFound},
		{"empty", "", nothingFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, SearchTools(tt.in, sampleTools())) })
	}
	t.Run("five at most, on one line each", func(t *testing.T) {
		var catalogue []models.ToolSpec
		for _, name := range []string{"t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9", "ta", "tb", "tc"} {
			catalogue = append(catalogue, models.ToolSpec{Name: name, Description: "reading\n" + strings.Repeat("long ", 40), Keywords: []string{"only" + name}})
		}
		require.Equal(t, nothingFound, SearchTools("reading", catalogue), "a word of every tool tells nothing")
		got := SearchTools("onlyt0 onlyt1 onlyt2 onlyt3 onlyt4 onlyt5", catalogue)
		require.Len(t, strings.Split(got, "\n"), maxPicks)
	})
}

func TestFound(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"names", "search_web: Look.\nweather: The forecast.", []string{"weather", "search_web"}},
		{"bullets", "- weather: The forecast.", []string{"weather"}},
		{"a sentence", "You could use the weather tool or search_web for that.", nil},
		{"the answer without a hit", nothingFound, nil},
		{"a tool that is not permitted", "exec: Run a command.", nil},
		{"empty", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, FoundTools(tt.in, sampleTools())) })
	}
}
