package recall_test

import (
	"fmt"
	"math"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent/recall"
	"coachline/models"
)

func at(text string) *time.Time {
	out, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return &out
}

func TestExtractRequest(t *testing.T) {
	var dialogue []string
	for i := range 8 {
		dialogue = append(dialogue, fmt.Sprintf("user: line%d %s", i, long(300)))
	}
	ask := recall.Ask{Query: "How was my knee?", Topic: "knee\npain", Dialogue: dialogue, Context: "Local time: Monday", Model: "m"}
	req, err := recall.ExtractRequest(library(t), ask)
	require.NoError(t, err)
	text := onlySystemAndUser(t, req)
	t.Run("topic goes to the extractor", func(t *testing.T) { require.Equal(t, "How was my knee?\nTopic: knee pain", req.Messages[1].Content) })
	t.Run("what the extractor is told of now", func(t *testing.T) {
		require.Contains(t, text, "Local time: Monday")
		require.NotContains(t, text, "line1 ")
		require.Contains(t, text, "line2 ")
		require.Contains(t, text, "user: line7 "+long(187)+"…\n", "200 characters of a line")
	})
	t.Run("a short dialogue is whole", func(t *testing.T) {
		req, err := recall.ExtractRequest(library(t), recall.Ask{Query: "q", Dialogue: []string{"user: first", "coach: " + long(193)}})
		require.NoError(t, err)
		require.Contains(t, req.Messages[0].Content, "user: first\ncoach: "+long(193)+"\n", "200 characters are not cut")
	})
	t.Run("the extractor's answer is cached", func(t *testing.T) {
		require.NotEqual(t, ask.Key(), recall.Ask{Query: ask.Query}.Key())
		require.Equal(t, ask.Key(), recall.Ask{Query: ask.Query, Topic: ask.Topic, Context: "other"}.Key())
	})
}

func TestParseExtract(t *testing.T) {
	ask := recall.Ask{Query: "How was my left knee in October?"}
	tests := []struct {
		name, in string
		want     recall.Extract
		bad      bool
	}{
		{name: "complete", in: `{"keywords":["knee","pain","run"],"from":"2026-10-01T00:00:00Z","to":"2026-10-31T23:00:00+01:00","questions":["Which knee?"]}`,
			want: recall.Extract{Keywords: []string{"knee", "pain", "run"}, From: at("2026-10-01T00:00:00Z"), To: at("2026-10-31T22:00:00Z"), Questions: []string{"Which knee?"}}},
		{name: "swapped, the end is a whole day", in: "<think>{}</think> Sure:\n```json\n{\"keywords\":[\"a1b\",\"b2c\",\"c3d\"],\"from\":\"2026-10-31\",\"to\":\"2026-10-01\"}\n```",
			want: recall.Extract{Keywords: []string{"a1b", "b2c", "c3d"}, From: at("2026-10-01T00:00:00Z"), To: at("2026-10-31T23:59:59.999999999Z")}},
		{name: "bad instants are left out", in: `{"keywords":["a1b","b2c","c3d"],"from":"yesterday","to":"9999-12-31T00:00:00Z"}`,
			want: recall.Extract{Keywords: []string{"a1b", "b2c", "c3d"}}},
		{name: "too many", in: `{"keywords":["k1x","k2x","k3x","k4x","k5x","k6x"],"questions":["q1?","q2?","q2?","q3?","q4?"]}`,
			want: recall.Extract{Keywords: []string{"k1x", "k2x", "k3x", "k4x", "k5x"}, Questions: []string{"q1?", "q2?", "q3?"}}},
		{name: "too few are filled up from the query", in: `{"keywords":"Knee, ","questions":null}`,
			want: recall.Extract{Keywords: []string{"Knee", "left", "october"}}},
		{name: "other types are left out", in: `{"keywords":[1,null,{"a":2},"knee"],"from":5,"to":{},"questions":"Which one?"}`,
			want: recall.Extract{Keywords: []string{"knee", "left", "october"}, Questions: []string{"Which one?"}}},
		{name: "a beginning alone", in: `{"keywords":["a1b","b2c","c3d"],"from":" 2026-10-01 "}`,
			want: recall.Extract{Keywords: []string{"a1b", "b2c", "c3d"}, From: at("2026-10-01T00:00:00Z")}},
		{name: "an end alone", in: `{"keywords":["a1b","b2c","c3d"],"to":"2026-10-01T08:00"}`,
			want: recall.Extract{Keywords: []string{"a1b", "b2c", "c3d"}, To: at("2026-10-01T08:00:00Z")}},
		{name: "the years that are believed", in: `{"keywords":["a1b","b2c","c3d"],"from":"1970-01-01","to":"2199-12-31"}`,
			want: recall.Extract{Keywords: []string{"a1b", "b2c", "c3d"}, From: at("1970-01-01T00:00:00Z"), To: at("2199-12-31T23:59:59.999999999Z")}},
		{name: "the years that are not", in: `{"keywords":["a1b","b2c","c3d"],"from":"1969-12-31","to":"2200-01-01"}`,
			want: recall.Extract{Keywords: []string{"a1b", "b2c", "c3d"}}},
		{name: "braces before the object", in: `The {placeholders} are: {"keywords":["a1b","b2c","c3d"]}`, want: recall.Extract{Keywords: []string{"a1b", "b2c", "c3d"}}},
		{name: "a brace too many", in: `{{"keywords":["a1b","b2c","c3d"]}}`, want: recall.Extract{Keywords: []string{"a1b", "b2c", "c3d"}}},
		{name: "60 characters of a keyword, 200 of a question", in: `{"keywords":["` + long(60) + `","b2c` + long(58) + `","c3d"],"questions":["` + long(200) + `","q` + long(200) + `"]}`,
			want: recall.Extract{Keywords: []string{long(60), "b2c" + long(56) + "…", "c3d"}, Questions: []string{long(200), "q" + long(198) + "…"}}},
		{name: "prose", in: "I would look for knees.", bad: true},
		{name: "an open brace", in: `{"keywords":["a"`, bad: true},
		{name: "empty", bad: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := recall.ParseExtract(tt.in, ask)
			require.Equal(t, !tt.bad, ok)
			require.Equal(t, tt.want, got)
		})
	}
}

func FuzzParseExtract(f *testing.F) {
	f.Add(`{"keywords":["knee"],"from":"2026-10-01","to":"2026-09-01"}`)
	f.Add(`{{"keywords":[[]]}`)
	f.Add(`<think>{"keywords":1}`)
	f.Fuzz(func(t *testing.T, answer string) {
		got, ok := recall.ParseExtract(answer, recall.Ask{Query: "when did my knee hurt", Topic: answer})
		if !ok {
			require.Equal(t, recall.Extract{}, got)
		}
		require.LessOrEqual(t, len(got.Keywords), 5)
		require.LessOrEqual(t, len(got.Questions), 3)
		for _, text := range append(got.Keywords, got.Questions...) {
			require.NotEmpty(t, text)
			require.LessOrEqual(t, utf8.RuneCountInString(text), 200)
			require.NotContains(t, text, "\n")
		}
		if got.From != nil && got.To != nil {
			require.False(t, got.To.Before(*got.From))
		}
	})
}

func TestSearches(t *testing.T) {
	s := recall.Search{ParticipantID: "p1", Query: "Did my left knee hurt after running on Sunday morning?", Vector: []float32{1}}
	t.Run("search with the redacted text", func(t *testing.T) {
		require.Equal(t, models.FactQuery{ParticipantID: "p1", Vector: []float32{1}, Limit: 3, Diary: true,
			Words: []string{"left", "knee", "hurt", "running", "sunday", "morning"}}, recall.Top(s))
		long := s
		long.Query = "red ten cars and four blue bicycles near some old factory gates by train and lorry"
		require.Equal(t, []string{"red", "cars", "blue", "bicycles", "factory", "gates", "train", "lorry"}, recall.Top(long).Words, "the longest first")
	})
	t.Run("search by words and vectors, of one person", func(t *testing.T) {
		from := at("2026-10-01T00:00:00Z")
		got := recall.Deep(s, recall.Extract{Keywords: []string{"knee pain", "Knee", "grass", "tree", "run", "bike"}, From: from})
		require.Equal(t, []string{"knee", "pain", "grass", "tree", "run"}, got.Words)
		require.Equal(t, from, got.From)
		require.Nil(t, got.To)
		require.Equal(t, "p1", got.ParticipantID)
		require.Equal(t, 3, got.Limit)
	})
	t.Run("one keyword", func(t *testing.T) {
		require.Equal(t, []string{"grass"}, recall.Deep(s, recall.Extract{Keywords: []string{"grass"}}).Words)
	})
	t.Run("empty extract", func(t *testing.T) { require.Equal(t, recall.Top(s), recall.Deep(s, recall.Extract{})) })
	t.Run("lasting facts that answer questions", func(t *testing.T) {
		got, ok := recall.Answers(s, recall.Extract{Questions: []string{"Which knee hurts?", "What is it?"}})
		require.True(t, ok)
		require.Equal(t, []string{"knee", "hurts"}, got.Words)
		require.Equal(t, 5, got.Limit)
		require.Nil(t, got.Vector)
		for _, questions := range [][]string{nil, {"What is it?"}, {"Which knee?"}} {
			_, ok = recall.Answers(s, recall.Extract{Questions: questions})
			require.False(t, ok)
		}
		event := models.FoundFact{Fact: fact("f1", models.FactEvent, "ran", 0)}
		goal := models.FoundFact{Fact: fact("f2", models.FactGoal, "runs", 0)}
		require.Equal(t, []models.FoundFact{goal}, recall.Lasting([]models.FoundFact{event, goal}))
	})
}

func TestMerge(t *testing.T) {
	hit := func(id string, score float64, age int) models.FoundFact {
		return models.FoundFact{Fact: fact(id, models.FactGoal, "walks", age), Score: score}
	}
	byWords := hit("f9", 0, 9)
	byWords.ByWords = true
	foreign := hit("f3", 0.9, 0)
	foreign.Fact.ParticipantID = "p2"
	gone := hit("f4", 0.9, 0)
	gone.Fact.DeletedAt = &day
	newer := hit("f1", 0.4, 1)
	newer.Fact.Version, newer.Fact.Text = 2, "walks later"
	blank := hit("f6", 0.9, 0)
	blank.Fact.Text = " "
	tests := []struct {
		name  string
		found []models.FoundFact
		in    recall.Bounds
		want  []string
	}{
		{"newest first", []models.FoundFact{hit("f1", 0.9, 5), hit("f2", 0.5, 1)}, recall.Bounds{}, []string{"f2", "f1"}},
		{"no score is too low", []models.FoundFact{byWords}, recall.Bounds{}, []string{"f9"}},
		{"nobody else's", []models.FoundFact{foreign, hit("f1", 0.9, 1)}, recall.Bounds{}, []string{"f1"}},
		{"forgotten", []models.FoundFact{gone, blank}, recall.Bounds{}, []string{}},
		{"shown before", []models.FoundFact{hit("f1", 0.9, 1), hit("f2", 0.9, 2)}, recall.Bounds{Shown: []string{"f1"}}, []string{"f2"}},
		{"the best three", []models.FoundFact{hit("f1", 0.4, 1), hit("f2", 0.9, 4), hit("f3", 0.8, 3), hit("f4", 0.7, 2)}, recall.Bounds{Most: 3}, []string{"f4", "f3", "f2"}},
		{"the best one, whatever found it last", []models.FoundFact{hit("f9", 0.9, 9), byWords, hit("f2", 0.5, 1)}, recall.Bounds{Most: 1}, []string{"f9"}},
		{"a score that is no number", []models.FoundFact{hit("f1", math.NaN(), 1)}, recall.Bounds{}, []string{}},
		{"one instant", []models.FoundFact{hit("f2", 0.9, 1), hit("f10", 0.9, 1)}, recall.Bounds{}, []string{"f10", "f2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.in.ParticipantID = "p1"
			ids := []string{}
			for _, fact := range recall.Merge(tt.found, tt.in) {
				ids = append(ids, fact.ID)
			}
			require.Equal(t, tt.want, ids)
		})
	}
	t.Run("one fact once, newest version", func(t *testing.T) {
		for _, found := range [][]models.FoundFact{{hit("f1", 0.9, 5), newer}, {newer, hit("f1", 0.9, 5)}} {
			got := recall.Merge(found, recall.Bounds{ParticipantID: "p1"})
			require.Len(t, got, 1)
			require.Equal(t, "walks later", got[0].Text)
		}
	})
}
