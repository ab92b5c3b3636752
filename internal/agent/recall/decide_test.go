package recall_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"coachline/internal/agent/recall"
	"coachline/models"
)

func pollen() []models.Message {
	return []models.Message{
		user("pollen count Leeds today"), call(`{"place":"Manchester knee"}`), result("Leeds pollen today high grass, moderate tree"),
	}
}

func TestDecide(t *testing.T) {
	talk := []models.Message{user("pollen count Leeds today"), coach("Leeds pollen today high grass, moderate tree")}
	tests := []struct {
		name   string
		query  string
		window []models.Message
		want   string
	}{
		{"three of three", "is the grass pollen high?", pollen(), "gate skip 1.00"},
		{"three of four", "tree pollen allergens in Leeds", pollen(), "gate skip 0.75"},
		{"without a tool row", "tree pollen tomorrow in Leeds", talk, "gate recall no tool row"},
		{"one of three", "how to run outside in Leeds", pollen(), "gate recall 0.33"},
		{"half counts", "Leeds run", pollen(), "gate skip 0.50"},
		{"false skip", "pollen knee", pollen(), "gate skip 0.50"},
		{"what is it", "what is it", pollen(), "gate recall no words"},
		{"ok", "ok", pollen(), "gate recall no words"},
		{"digits", "5 10", pollen(), "gate recall no words"},
		{"long digits", "2024 12345", pollen(), "gate recall no words"},
		{"no spaces in the script", "今日の花粉はどうですか", pollen(), "gate recall 0.00"},
		{"arguments do not count", "Manchester", pollen(), "gate recall 0.00"},
		{"the text being answered does not count", "knee hurts", append(pollen(), user("knee hurts")), "gate recall 0.00"},
		{"accents and case", "CAFÉ?", []models.Message{result("un café"), coach("x")}, "gate skip 1.00"},
		{"an unreadable row", "Leeds run", []models.Message{{Role: models.RoleTool, Kind: models.KindToolResult, Text: "{"}, coach("x")}, "gate recall error"},
		{"an empty window", "Leeds run", nil, "gate recall no tool row"},
		{"what was said beside the tool's result does not count", "my sister Petra", []models.Message{user("my sister Petra"), result(`{"ok":true}`), coach("my sister Petra")}, "gate recall 0.00"},
		{"a result by its role", "grass pollen", []models.Message{{Role: models.RoleTool, Text: result("grass pollen").Text}, coach("x")}, "gate skip 1.00"},
		{"a result by its kind", "grass pollen", []models.Message{{Role: models.RoleAssistant, Kind: models.KindToolResult, Text: result("grass pollen").Text}, coach("x")}, "gate skip 1.00"},
		{"debug texts do not count", "secret plan", []models.Message{result("nothing"), {Role: models.RoleAssistant, Kind: models.KindDebug, Text: "secret plan"}}, "gate recall 0.00"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := recall.Decide(recall.Question{Query: "my " + tt.query + "?", Window: tt.window, Ruling: recall.RulingOpen})
			require.Equal(t, tt.want, got.Code())
			require.Equal(t, strings.HasPrefix(tt.want, "gate recall"), got.Recall)
		})
	}
}

func TestDecideWithoutCheck(t *testing.T) {
	tests := []struct {
		name string
		in   recall.Question
		want string
	}{
		{"the plan asks for memory", recall.Question{Query: "grass pollen", Window: pollen(), Ruling: recall.RulingWanted}, "gate recall plan"},
		{"the plan does without", recall.Question{Query: "my knee", Ruling: recall.RulingUnwanted}, "gate skip plan"},
		{"forbidden by mode or channel", recall.Question{Query: "my knee", Ruling: recall.RulingWanted, Forbidden: true}, "gate skip forbidden"},
		{"no plan", recall.Question{Query: "my knee?", Ruling: recall.RulingOpen}, "gate recall no tool row"},
		{"an unset ruling is no plan", recall.Question{Query: "my knee?"}, "gate recall no tool row"},
		{"what was found needs no search", recall.Question{Query: "my knee?", Found: true}, "gate skip found"},
		{"but where the plan asks for it", recall.Question{Query: "my knee", Found: true, Ruling: recall.RulingWanted}, "gate recall plan"},
		{"what asks nothing", recall.Question{Query: "walked for 20 minutes, felt good"}, "gate skip no question"},
		{"a question without its mark", recall.Question{Query: "ok. so what was my plan"}, "gate recall no tool row"},
		{"a question for advice", recall.Question{Query: "should I go twice tomorrow?"}, "gate skip no question"},
		{"a question of anybody's", recall.Question{Query: "done, is half of it enough?"}, "gate skip not theirs"},
		{"a report beside a question of anybody's", recall.Question{Query: "I did it after my dinner, how long does it take?"}, "gate skip not theirs"},
		{"a question of two words", recall.Question{Query: "and then?"}, "gate skip not theirs"},
		{"what would be", recall.Question{Query: "no. and what if I skip my walk?"}, "gate skip not theirs"},
		{"a question about the programme", recall.Question{Query: "wann kommt die nächste SMS?"}, "gate skip not theirs"},
		{"a question about what was", recall.Question{Query: "what was the plan?"}, "gate recall no tool row"},
		{"a report", recall.Question{Query: "did it, ten minutes after breakfast"}, "gate skip no question"},
		{"a wish to be told", recall.Question{Query: "Tell me of my sports"}, "gate recall no tool row"},
		{"in another language", recall.Question{Query: "Wann war mein Termin"}, "gate recall no tool row"},
		{"of another script", recall.Question{Query: "今日の花粉は？"}, "gate recall no tool row"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, recall.Decide(tt.in).Code()) })
	}
}

func TestWords(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"order and repetition", "Leeds, leeds and pollen", []string{"leeds", "pollen"}},
		{"contractions", "don't isn’t I've we'll", nil},
		{"digits inside a word", "7am 5km 12", []string{"7am", "5km"}},
		{"marks belong to the word", "हिन्दी में", []string{"हिन्दी", "में"}},
		{"signs only", "?! … 👍🏽", nil},
		{"not valid", "knee\xff hurts", []string{"knee", "hurts"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, recall.Words(tt.in)) })
	}
}

func TestDecideProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		query, text := "what was "+rapid.String().Draw(t, "query"), rapid.String().Draw(t, "text")
		words := recall.Words(query)
		for _, word := range words {
			require.GreaterOrEqual(t, utf8.RuneCountInString(word), 3)
			require.True(t, strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsDigit(r) }))
		}
		open := recall.Question{Query: query + "?", Window: []models.Message{coach(text)}}
		require.True(t, recall.Decide(open).Recall, "without a tool row it recalls")
		open.Window = []models.Message{result(query + " " + text), coach("x")}
		require.Equal(t, len(words) == 0, recall.Decide(open).Recall, "a window that holds the query suffices")
	})
}
