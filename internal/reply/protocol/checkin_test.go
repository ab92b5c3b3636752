package protocol_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"coachline/internal/reply/protocol"
)

func TestReadCheckIn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in string
		want     protocol.CheckIn
	}{
		{"send", `{"send": true, "text": "How did the walk go?"}`, protocol.CheckIn{Text: "How did the walk go?", Reason: protocol.CheckInSend}},
		{"fenced", "```json\n{\"send\": true, \"text\": \"Hi Ada.\"}\n```", protocol.CheckIn{Text: "Hi Ada.", Reason: protocol.CheckInSend}},
		{"between words", "I will write.\n{\"send\": true, \"text\": \"Hi Ada.\"}", protocol.CheckIn{Text: "Hi Ada.", Reason: protocol.CheckInSend}},
		{"after thinking", `<think>{"send": false}</think>{"send": true, "text": "Hi Ada."}`, protocol.CheckIn{Text: "Hi Ada.", Reason: protocol.CheckInSend}},
		{"markdown goes later", `{"send": true, "text": "**Well done** on Monday."}`, protocol.CheckIn{Text: "**Well done** on Monday.", Reason: protocol.CheckInSend}},
		{"declined", `{"send": false, "text": ""}`, protocol.CheckIn{Reason: protocol.CheckInDeclined}},
		{"declined with words", `{"send": false, "text": "They are busy."}`, protocol.CheckIn{Reason: protocol.CheckInDeclined}},
		{"declined, loosely written", `{send: False, text: ''}`, protocol.CheckIn{Reason: protocol.CheckInDeclined}},
		{"A64", "HEARTBEAT_OK", protocol.CheckIn{Reason: protocol.CheckInToken}},
		{"A64 lower case, dot", " heartbeat_ok. ", protocol.CheckIn{Reason: protocol.CheckInToken}},
		{"A64 spaces", "Heartbeat ok", protocol.CheckIn{Reason: protocol.CheckInToken}},
		{"A64 quotes", `"HEARTBEAT_OK"`, protocol.CheckIn{Reason: protocol.CheckInToken}},
		{"A64 markdown", "**HEARTBEAT_OK**", protocol.CheckIn{Reason: protocol.CheckInToken}},
		{"A64 fence", "```\nHEARTBEAT_OK\n```", protocol.CheckIn{Reason: protocol.CheckInToken}},
		{"W21 the token as the text", `{"send": true, "text": "HEARTBEAT_OK"}`, protocol.CheckIn{Reason: protocol.CheckInToken}},
		{"W21 the token behind a text", `{"send": true, "text": "Well done! HEARTBEAT_OK"}`, protocol.CheckIn{Reason: protocol.CheckInToken}},
		{"W21 narration", "The person was last active this morning, so there is nothing to do.", protocol.CheckIn{Reason: protocol.CheckInUnreadable}},
		{"W21 narration with the token", "Nothing to do. HEARTBEAT_OK", protocol.CheckIn{Reason: protocol.CheckInUnreadable}},
		{"a text without a decision", `{"text": "Hi Ada."}`, protocol.CheckIn{Reason: protocol.CheckInUnreadable}},
		{"a decision that is no bool", `{"send": "yes", "text": "Hi Ada."}`, protocol.CheckIn{Reason: protocol.CheckInUnreadable}},
		{"null", `{"send": null, "text": "Hi Ada."}`, protocol.CheckIn{Reason: protocol.CheckInUnreadable}},
		{"two decisions", `{"send": false} {"send": true, "text": "Hi."}`, protocol.CheckIn{Reason: protocol.CheckInUnreadable}},
		{"cut off", `{"send": true, "text": "Hi A`, protocol.CheckIn{Reason: protocol.CheckInUnreadable}},
		{"a list for a text", `{"send": true, "text": ["Hi"]}`, protocol.CheckIn{Reason: protocol.CheckInUnreadable}},
		{"a call for a text", `{"send": true, "text": "<tool_call>{\"name\": \"scheduler\", \"arguments\": {}}</tool_call>"}`, protocol.CheckIn{Reason: protocol.CheckInUnreadable}},
		{"no text", `{"send": true}`, protocol.CheckIn{Reason: protocol.CheckInEmpty}},
		{"blank text", `{"send": true, "text": " \n"}`, protocol.CheckIn{Reason: protocol.CheckInEmpty}},
		{"nothing", "", protocol.CheckIn{Reason: protocol.CheckInEmpty}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, protocol.ReadCheckIn(tt.in))
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
		got := protocol.ReadCheckIn(answer)
		require.Equal(t, got.Reason == protocol.CheckInSend, got.Text != "")
		require.Contains(t, []protocol.CheckInReason{protocol.CheckInSend, protocol.CheckInDeclined, protocol.CheckInToken, protocol.CheckInEmpty, protocol.CheckInUnreadable}, got.Reason)
		if got.Reason == protocol.CheckInSend {
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
