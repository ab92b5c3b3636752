package recall_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent/recall"
	"coachline/models"
)

func step(i int, arguments, content string) []models.ChatMessage {
	id := fmt.Sprintf("c%d", i)
	return []models.ChatMessage{
		{Role: "assistant", Content: "<think>hm</think>Looking.", ToolCalls: []models.ToolCall{{ID: id, Name: "web", Arguments: arguments}}},
		{Role: "tool", ToolCallID: id, Content: content},
	}
}

func TestActivity(t *testing.T) {
	t.Run("excerpts", func(t *testing.T) {
		messages := append(step(1, `{"q":"`+long(200)+`"}`, long(400)), models.ChatMessage{Role: "user", Content: "[Tool result: web]\n" + long(400)})
		want := "said: Looking.\ncalled web {\"q\":\"" + long(114) + "…\nresult of web: " + long(300) + "…\n[Tool result: web] " + long(181) + "…"
		require.Equal(t, want, recall.TurnActivity(messages))
	})
	t.Run("the newest 2000", func(t *testing.T) {
		var messages []models.ChatMessage
		for i := range 20 {
			messages = append(messages, step(i, fmt.Sprintf(`{"n":%d}`, i), long(280))...)
		}
		got := recall.TurnActivity(messages)
		require.LessOrEqual(t, chars(got), 2000)
		require.Contains(t, got, `{"n":19}`)
		require.NotContains(t, got, `{"n":1}`)
	})
	t.Run("nothing done", func(t *testing.T) {
		require.Empty(t, recall.TurnActivity(nil))
		require.Empty(t, recall.TurnActivity([]models.ChatMessage{{Role: "assistant", Content: " <think>x"}, {Role: "system", Content: "x"}}))
	})
	t.Run("a result without its call", func(t *testing.T) {
		require.Equal(t, "result of a tool: dry", recall.TurnActivity([]models.ChatMessage{{Role: "tool", ToolCallID: "c9", Content: "dry"}}))
	})
}

func TestLimitRequest(t *testing.T) {
	lib := library(t)
	ask := recall.LimitAsk{Query: "¿Va a llover?", Activity: recall.TurnActivity(step(1, "{}", "leeds.example: dry")), Model: "m"}
	req, err := recall.LimitRequest(lib, ask)
	golden(t, "limit_request.golden.txt", system(t, req, err))
	ask.Language = "es"
	req, err = recall.LimitRequest(lib, ask)
	require.Contains(t, system(t, req, err), "the language of the locale es")
}

func TestLimit(t *testing.T) {
	tests := []struct {
		name       string
		answer     recall.DigestAnswer
		candidates []string
		want       string
		ok         bool
	}{
		{"digest", recall.DigestAnswer{Text: "This may be incomplete: dry."}, []string{"x"}, "This may be incomplete: dry.", true},
		{"800 characters", recall.DigestAnswer{Text: long(900)}, nil, long(799) + "…", true},
		{"the last candidate", failed, []string{"first", "last", " <think>x"}, "last", true},
		{"nothing found", recall.DigestAnswer{Text: "NONE"}, []string{"last"}, "last", true},
		{"used up and nothing to say", failed, nil, "", false},
		{"blank candidates", recall.DigestAnswer{Text: " "}, []string{" "}, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := recall.LimitReply(tt.answer, tt.candidates)
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.ok, ok)
			require.LessOrEqual(t, strings.Count(got, "x"), 800)
		})
	}
}
