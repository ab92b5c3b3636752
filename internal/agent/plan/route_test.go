package plan

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
)

// sampleTools is a small catalogue with clear descriptions.
func sampleTools() []models.ToolSpec {
	return []models.ToolSpec{
		{Name: "scheduler", Description: "Manage daily prompts and reminders: create, list, delete.", Keywords: []string{"recordatorio", "rappel", "каждый", "毎朝"}},
		{Name: "saveProfile", Description: "Keep what the person told about the habit.", Keywords: []string{"hábito"}},
		{Name: "weather", Description: "The forecast of a town."},
		{Name: "search_web", Description: "Look things up on the web."},
	}
}

func names(tools []models.ToolSpec) []string { return toolNames(tools) }

func TestSettle(t *testing.T) {
	tests := []struct {
		name  string
		in    Strategy
		tools int
		want  Strategy
	}{
		{"small catalogue", StrategyAuto, 9, StrategyKeyword},
		{"larger catalogue", StrategyAuto, 10, StrategyModel},
		{"none set", "", 3, StrategyKeyword},
		{"unknown", "magic", 10, StrategyModel},
		{"set wins", StrategyEmbedding, 2, StrategyEmbedding},
		{"all", StrategyAll, 20, StrategyAll},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, tt.in.Settle(tt.tools)) })
	}
}

func TestByWords(t *testing.T) {
	tests := []struct {
		name, in string
		want     Selection
	}{
		{"by description", "can you delete my reminder", Selection{Names: []string{"scheduler"}, By: StrategyKeyword}},
		{"another ending", "remind me please", Selection{Names: []string{"scheduler"}, By: StrategyKeyword}},
		{"a longer word", "what are the forecasts", Selection{Names: []string{"weather"}, By: StrategyKeyword}},
		{"by the words of a name", "save that", Selection{Names: []string{"saveProfile"}, By: StrategyKeyword}},
		{"two tools, in order", "look at the forecast", Selection{Names: []string{"weather", "search_web"}, By: StrategyKeyword}},
		{"Spanish keyword", "Un RECORDATORIO, por favor", Selection{Names: []string{"scheduler"}, By: StrategyKeyword}},
		{"Russian keyword", "каждый день", Selection{Names: []string{"scheduler"}, By: StrategyKeyword}},
		{"accents count", "mi hábito", Selection{Names: []string{"saveProfile"}, By: StrategyKeyword}},
		{"no hit in German gives all", "Wie war gestern?", Selection{Names: names(sampleTools()), By: StrategyAll}},
		{"no hit in Japanese gives all", "明日の天気は", Selection{Names: names(sampleTools()), By: StrategyAll}},
		{"one word among empty ones", "what about the one that you told", Selection{Names: []string{"saveProfile"}, By: StrategyKeyword}},
		{"only empty words give all", "and what about you", Selection{Names: names(sampleTools()), By: StrategyAll}},
		{"nothing said gives all", "", Selection{Names: names(sampleTools()), By: StrategyAll}},
		{"short words do not match", "on up", Selection{Names: names(sampleTools()), By: StrategyAll}},
		{"a name in the middle of a word does not match", "bewebbed", Selection{Names: names(sampleTools()), By: StrategyAll}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, SelectTools(StrategyKeyword, RouteInput{tt.in, sampleTools()}, RouteEvidence{}))
		})
	}
	t.Run("a word that most tools share tells nothing", func(t *testing.T) {
		catalogue := []models.ToolSpec{{Name: "a", Description: "person walk"}, {Name: "b", Description: "person run"}, {Name: "c", Description: "person swim"}}
		require.Equal(t, []string{"b"}, SelectTools(StrategyKeyword, RouteInput{"does a person run", catalogue}, RouteEvidence{}).Names)
	})
	t.Run("a word that half of the tools share tells something", func(t *testing.T) {
		catalogue := []models.ToolSpec{{Name: "a", Description: "walk far"}, {Name: "b", Description: "walk near"}, {Name: "c", Description: "swim"}, {Name: "d", Description: "ride"}}
		require.Equal(t, []string{"a", "b"}, SelectTools(StrategyKeyword, RouteInput{"walk", catalogue}, RouteEvidence{}).Names)
		require.Equal(t, []string{"a", "b"}, SelectTools(StrategyKeyword, RouteInput{"walk", catalogue[:2]}, RouteEvidence{}).Names, "of two, each tells")
		require.Equal(t, StrategyKeyword, SelectTools(StrategyKeyword, RouteInput{"walk", catalogue[:2]}, RouteEvidence{}).By)
	})
	t.Run("only the first words of a long text count", func(t *testing.T) {
		var words []string
		for i := range maxWords {
			words = append(words, fmt.Sprintf("word%d", i))
		}
		long := strings.Join(words, " ")
		require.Equal(t, StrategyKeyword, SelectTools(StrategyKeyword, RouteInput{"forecast " + long, sampleTools()}, RouteEvidence{}).By)
		require.Equal(t, StrategyAll, SelectTools(StrategyKeyword, RouteInput{long + " forecast", sampleTools()}, RouteEvidence{}).By)
	})
	t.Run("no tools", func(t *testing.T) {
		require.Equal(t, Selection{Names: []string{}, By: StrategyAll}, SelectTools(StrategyKeyword, RouteInput{Query: "hi"}, RouteEvidence{}))
	})
}

func TestPicks(t *testing.T) {
	many := []models.ToolSpec{{Name: "a1"}, {Name: "a2"}, {Name: "a3"}, {Name: "a4"}, {Name: "a5"}, {Name: "a6"}}
	tests := []struct {
		name, in string
		tools    []models.ToolSpec
		want     []string
		ok       bool
	}{
		{"one name", "weather", sampleTools(), []string{"weather"}, true},
		{"catalogue's order", "weather, scheduler", sampleTools(), []string{"scheduler", "weather"}, true},
		{"list with bullets", "- `weather`\n- **search_web**", sampleTools(), []string{"weather", "search_web"}, true},
		{"numbered, other case", "1. Weather.\n2. SAVEPROFILE", sampleTools(), []string{"saveProfile", "weather"}, true},
		{"JSON list", `["weather","nothing_known"]`, sampleTools(), []string{"weather"}, true},
		{"fenced", "```\nscheduler\n```", sampleTools(), []string{"scheduler"}, true},
		{"none", "None.", sampleTools(), nil, true},
		{"five at most", "a6 a5 a4 a3 a2 a1", many, []string{"a2", "a3", "a4", "a5", "a6"}, true},
		{"thinking is not the answer", "<think>weather? scheduler?</think>search_web", sampleTools(), []string{"search_web"}, true},
		{"thinking without an end", "<think>weather", sampleTools(), nil, false},
		{"unknown names fail", "calendar, mail", sampleTools(), nil, false},
		{"prose without a name fails", "I would need to know more about it.", sampleTools(), nil, false},
		{"empty fails", "", sampleTools(), nil, false},
		{"no catalogue", "weather", nil, nil, false},
		{"repeats count once", "weather weather", sampleTools(), []string{"weather"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := PickTools(tt.in, tt.tools)
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.ok, ok)
		})
	}
}

func TestSelectFallsBack(t *testing.T) {
	near := map[string][]float32{"scheduler": {1, 0}, "weather": {0.8, 0.6}, "search_web": {0, 1}, "saveProfile": {1, 0, 0}}
	tests := []struct {
		name     string
		strategy Strategy
		query    string
		found    RouteEvidence
		want     Selection
	}{
		{"all", StrategyAll, "x", RouteEvidence{}, Selection{Names: names(sampleTools()), By: StrategyAll}},
		{"model answered", StrategyModel, "x", RouteEvidence{Answer: "weather"}, Selection{Names: []string{"weather"}, By: StrategyModel}},
		{"none picks nothing", StrategyModel, "remind me", RouteEvidence{Answer: "none"}, Selection{By: StrategyModel}},
		{"model failed, words", StrategyModel, "remind me", RouteEvidence{}, Selection{Names: []string{"scheduler"}, By: StrategyKeyword, Fallback: true}},
		{"model failed, no word, all", StrategyModel, "hm", RouteEvidence{Answer: "?"}, Selection{Names: names(sampleTools()), By: StrategyAll, Fallback: true}},
		{"near enough", StrategyEmbedding, "x", RouteEvidence{Query: []float32{1, 0}, Vectors: near, MinScore: 0.5},
			Selection{Names: []string{"scheduler", "weather"}, By: StrategyEmbedding}},
		{"as near as is asked", StrategyEmbedding, "x", RouteEvidence{Query: []float32{1, 0}, Vectors: near, MinScore: 1},
			Selection{Names: []string{"scheduler"}, By: StrategyEmbedding}},
		{"none near", StrategyEmbedding, "remind me", RouteEvidence{Query: []float32{-1, 0}, Vectors: near, MinScore: 0.5},
			Selection{Names: []string{"scheduler"}, By: StrategyKeyword, Fallback: true}},
		{"no vector of the text", StrategyEmbedding, "hm", RouteEvidence{Vectors: near}, Selection{Names: names(sampleTools()), By: StrategyAll, Fallback: true}},
		{"auto", StrategyAuto, "the forecast", RouteEvidence{}, Selection{Names: []string{"weather"}, By: StrategyKeyword}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, SelectTools(tt.strategy, RouteInput{tt.query, sampleTools()}, tt.found))
		})
	}
}

func TestCosine(t *testing.T) {
	inf := float32(math.Inf(1))
	tests := []struct {
		name string
		a, b []float32
		want float64
		ok   bool
	}{
		{"equal", []float32{3, 4}, []float32{6, 8}, 1, true},
		{"across", []float32{1, 0}, []float32{0, 5}, 0, true},
		{"opposite", []float32{1, 0}, []float32{-2, 0}, -1, true},
		{"other length", []float32{1}, []float32{1, 0}, 0, false},
		{"none", nil, nil, 0, false},
		{"no direction", []float32{0, 0}, []float32{1, 0}, 0, false},
		{"no number", []float32{inf, 0}, []float32{1, 0}, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := cosine(tt.a, tt.b)
			require.Equal(t, tt.ok, ok)
			require.InDelta(t, tt.want, got, 1e-9)
		})
	}
	t.Run("five at most, the nearest", func(t *testing.T) {
		var catalogue []models.ToolSpec
		vectors := map[string][]float32{}
		for i, name := range []string{"t0", "t1", "t2", "t3", "t4", "t5", "t6"} {
			catalogue = append(catalogue, models.ToolSpec{Name: name})
			vectors[name] = []float32{1, float32(6-i) / 10}
		}
		got, ok := byVector(RouteEvidence{Query: []float32{1, 0}, Vectors: vectors}, catalogue)
		require.True(t, ok)
		require.Equal(t, []string{"t2", "t3", "t4", "t5", "t6"}, got)
	})
}

func TestPermitted(t *testing.T) {
	require.Equal(t, sampleTools(), PermittedTools(sampleTools(), nil), "O13: no list permits all")
	require.Equal(t, []string{"weather", "search_web"}, names(PermittedTools(sampleTools(), []string{"search_web", "weather", "gone"})))
	require.Empty(t, PermittedTools(sampleTools(), []string{}))
}

func TestRequest(t *testing.T) {
	registry, err := tools.New()
	require.NoError(t, err)
	catalogue := PermittedTools(withKeywords(registry.For(wire.ModeIntake), "scheduler", "recordatorio"), []string{"save_user_profile", "scheduler", "list_memories"})
	require.Equal(t, []string{"recordatorio"}, catalogue[1].Keywords)
	ask := RouterInput{
		RouteInput: RouteInput{"8am please", catalogue},
		Dialogue:   []string{"user: I want to walk", "coach: When should I write to you?"},
		Context:    "Local time: Tuesday 2026-11-24 08:00 (America/New_York); UTC: 2026-11-24T13:00:00Z", Model: "small",
	}
	request, err := RouterRequest(library(t), ask)
	require.NoError(t, err)
	require.Equal(t, "small", request.Model)
	require.Len(t, request.Messages, 2, "J59: one system message")
	require.Equal(t, models.ChatMessage{Role: "user", Content: "8am please"}, request.Messages[1])
	golden(t, "router_request", request.Messages[0].Content)
}

func FuzzPicks(f *testing.F) {
	for _, seed := range []string{"weather", "none", "<think>", "```json\n[\"weather\"]\n```", "- 1. scheduler:", "\xff,\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		got, ok := PickTools(answer, sampleTools())
		require.LessOrEqual(t, len(got), maxPicks)
		require.Subset(t, names(sampleTools()), got)
		require.True(t, ok || len(got) == 0)
		require.NotEmpty(t, SelectTools(StrategyKeyword, RouteInput{answer, sampleTools()}, RouteEvidence{}).Names)
		require.Subset(t, names(sampleTools()), FoundTools(answer, sampleTools()))
		require.Subset(t, names(sampleTools()), FoundTools(SearchTools(answer, sampleTools()), sampleTools()))
	})
}

// withKeywords gives one of the tools keywords.
func withKeywords(specs []models.ToolSpec, name string, keywords ...string) []models.ToolSpec {
	for i := range specs {
		if specs[i].Name == name {
			specs[i].Keywords = keywords
		}
	}
	return specs
}
