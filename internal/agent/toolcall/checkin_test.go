package toolcall_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent/toolcall"
)

func TestReadCheckIn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in string
		want     toolcall.CheckIn
	}{
		{"send", `{"send": true, "text": "How did the walk go?"}`, toolcall.CheckIn{Text: "How did the walk go?", Reason: toolcall.CheckInSend}},
		{"fenced", "```json\n{\"send\": true, \"text\": \"Hi Ada.\"}\n```", toolcall.CheckIn{Text: "Hi Ada.", Reason: toolcall.CheckInSend}},
		{"between words", "I will write.\n{\"send\": true, \"text\": \"Hi Ada.\"}", toolcall.CheckIn{Text: "Hi Ada.", Reason: toolcall.CheckInSend}},
		{"after thinking", `<think>{"send": false}</think>{"send": true, "text": "Hi Ada."}`, toolcall.CheckIn{Text: "Hi Ada.", Reason: toolcall.CheckInSend}},
		{"markdown goes later", `{"send": true, "text": "**Well done** on Monday."}`, toolcall.CheckIn{Text: "**Well done** on Monday.", Reason: toolcall.CheckInSend}},
		{"declined", `{"send": false, "text": ""}`, toolcall.CheckIn{Reason: toolcall.CheckInDeclined}},
		{"declined with words", `{"send": false, "text": "They are busy."}`, toolcall.CheckIn{Reason: toolcall.CheckInDeclined}},
		{"declined, loosely written", `{send: False, text: ''}`, toolcall.CheckIn{Reason: toolcall.CheckInDeclined}},
		{"silent check-in", "HEARTBEAT_OK", toolcall.CheckIn{Reason: toolcall.CheckInToken}},
		{"lower case, dot", " heartbeat_ok. ", toolcall.CheckIn{Reason: toolcall.CheckInToken}},
		{"spaces", "Heartbeat ok", toolcall.CheckIn{Reason: toolcall.CheckInToken}},
		{"quotes", `"HEARTBEAT_OK"`, toolcall.CheckIn{Reason: toolcall.CheckInToken}},
		{"markdown", "**HEARTBEAT_OK**", toolcall.CheckIn{Reason: toolcall.CheckInToken}},
		{"fence", "```\nHEARTBEAT_OK\n```", toolcall.CheckIn{Reason: toolcall.CheckInToken}},
		{"the token as the text", `{"send": true, "text": "HEARTBEAT_OK"}`, toolcall.CheckIn{Reason: toolcall.CheckInToken}},
		{"the token behind a text", `{"send": true, "text": "Well done! HEARTBEAT_OK"}`, toolcall.CheckIn{Reason: toolcall.CheckInToken}},
		{"narration", "The person was last active this morning, so there is nothing to do.", toolcall.CheckIn{Reason: toolcall.CheckInUnreadable}},
		{"narration with the token", "Nothing to do. HEARTBEAT_OK", toolcall.CheckIn{Reason: toolcall.CheckInUnreadable}},
		{"a text without a decision", `{"text": "Hi Ada."}`, toolcall.CheckIn{Reason: toolcall.CheckInUnreadable}},
		{"a decision that is no bool", `{"send": "yes", "text": "Hi Ada."}`, toolcall.CheckIn{Reason: toolcall.CheckInUnreadable}},
		{"null", `{"send": null, "text": "Hi Ada."}`, toolcall.CheckIn{Reason: toolcall.CheckInUnreadable}},
		{"two decisions", `{"send": false} {"send": true, "text": "Hi."}`, toolcall.CheckIn{Reason: toolcall.CheckInUnreadable}},
		{"cut off", `{"send": true, "text": "Hi A`, toolcall.CheckIn{Reason: toolcall.CheckInUnreadable}},
		{"a list for a text", `{"send": true, "text": ["Hi"]}`, toolcall.CheckIn{Reason: toolcall.CheckInUnreadable}},
		{"a call for a text", `{"send": true, "text": "<tool_call>{\"name\": \"scheduler\", \"arguments\": {}}</tool_call>"}`, toolcall.CheckIn{Reason: toolcall.CheckInUnreadable}},
		{"no text", `{"send": true}`, toolcall.CheckIn{Reason: toolcall.CheckInEmpty}},
		{"blank text", `{"send": true, "text": " \n"}`, toolcall.CheckIn{Reason: toolcall.CheckInEmpty}},
		{"nothing", "", toolcall.CheckIn{Reason: toolcall.CheckInEmpty}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, toolcall.ReadCheckIn(tt.in))
		})
	}
}

// For every answer of a model: a text comes from a decision to send and holds
// no token, and everything else is silence with a reason.
func FuzzReadCheckIn(f *testing.F) {
	for _, seed := range []string{
		"", "HEARTBEAT_OK", "heartbeat ok.", `{"send": true, "text": "Hi"}`, `{"send": false}`, "```json\n{\"send\":true,\"text\":\"a\"}\n```",
		`{"send":true,"text":"H E A R T B E A T _ O K"}`, `{"send":true,"text":"<think>x</think>"}`, `{send: True, text: 'it is'}`, "{", `{"arguments":{"send":true},"name":"x"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		got := toolcall.ReadCheckIn(answer)
		require.Equal(t, got.Reason == toolcall.CheckInSend, got.Text != "")
		require.Contains(t, []toolcall.CheckInReason{toolcall.CheckInSend, toolcall.CheckInDeclined, toolcall.CheckInToken, toolcall.CheckInEmpty, toolcall.CheckInUnreadable}, got.Reason)
		if got.Reason == toolcall.CheckInSend {
			require.Contains(t, answer, "{", "only an object can say it")
		}
		letters := strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, got.Text)
		require.NotContains(t, letters, "heartbeatok")
	})
}
