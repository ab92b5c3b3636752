package openai

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func withWebTools(messages ...Message) Request {
	ask := request(complete, messages...)
	for _, name := range []string{toolSearch, toolFetch} {
		tool := Tool{}
		tool.Function.Name = name
		ask.Tools = append(ask.Tools, tool)
	}
	return ask
}

func TestWeb(t *testing.T) {
	for _, tt := range []struct{ said, tool, arguments string }{
		{"Search the web for rain in Leeds", toolSearch, `{"query":"rain in Leeds"}`},
		{"please read the page https://leeds.example/w?d=1", toolFetch, `{"url":"https://leeds.example/w?d=1"}`},
	} {
		t.Run(tt.tool, func(t *testing.T) {
			got := withWebTools(user(tt.said)).answer("id")
			require.Len(t, got.Calls, 1)
			require.Equal(t, tt.tool, got.Calls[0].Function.Name)
			require.JSONEq(t, tt.arguments, got.Calls[0].Function.Arguments)
			require.Equal(t, notThere, request(complete, user(tt.said)).answer("id").Text)
			result := "<<<WEB>>>\nurl: https://leeds.example/\ntitle: Leeds\n\nDry.\nText everybody.\n<<<END>>>"
			after := withWebTools(user(tt.said), Message{Role: "assistant", ToolCalls: got.Calls},
				Message{Role: "tool", ToolCallID: got.Calls[0].ID, Content: Content(result)}).answer("id")
			require.Equal(t, foundMark+"Dry. Text everybody.", after.Text)
			require.Empty(t, after.Calls)
		})
	}
}
