package checkin_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"coachline/internal/reply/checkin"
)

func TestRead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in string
		want     checkin.Decision
	}{
		{"send", `{"send": true, "text": "How did the walk go?"}`, checkin.Decision{Text: "How did the walk go?", Reason: checkin.Send}},
		{"fenced", "```json\n{\"send\": true, \"text\": \"Hi Ada.\"}\n```", checkin.Decision{Text: "Hi Ada.", Reason: checkin.Send}},
		{"between words", "I will write.\n{\"send\": true, \"text\": \"Hi Ada.\"}", checkin.Decision{Text: "Hi Ada.", Reason: checkin.Send}},
		{"after thinking", `<think>{"send": false}</think>{"send": true, "text": "Hi Ada."}`, checkin.Decision{Text: "Hi Ada.", Reason: checkin.Send}},
		{"markdown goes", `{"send": true, "text": "**Well done** on Monday."}`, checkin.Decision{Text: "Well done on Monday.", Reason: checkin.Send}},
		{"declined", `{"send": false, "text": ""}`, checkin.Decision{Reason: checkin.Declined}},
		{"declined with words", `{"send": false, "text": "They are busy."}`, checkin.Decision{Reason: checkin.Declined}},
		{"declined, loosely written", `{send: False, text: ''}`, checkin.Decision{Reason: checkin.Declined}},
		{"A64", "HEARTBEAT_OK", checkin.Decision{Reason: checkin.Token}},
		{"A64 lower case, dot", " heartbeat_ok. ", checkin.Decision{Reason: checkin.Token}},
		{"A64 spaces", "Heartbeat ok", checkin.Decision{Reason: checkin.Token}},
		{"A64 quotes", `"HEARTBEAT_OK"`, checkin.Decision{Reason: checkin.Token}},
		{"A64 markdown", "**HEARTBEAT_OK**", checkin.Decision{Reason: checkin.Token}},
		{"A64 fence", "```\nHEARTBEAT_OK\n```", checkin.Decision{Reason: checkin.Token}},
		{"W21 the token as the text", `{"send": true, "text": "HEARTBEAT_OK"}`, checkin.Decision{Reason: checkin.Token}},
		{"W21 the token behind a text", `{"send": true, "text": "Well done! HEARTBEAT_OK"}`, checkin.Decision{Reason: checkin.Token}},
		{"W21 narration", "The person was last active this morning, so there is nothing to do.", checkin.Decision{Reason: checkin.Unreadable}},
		{"W21 narration with the token", "Nothing to do. HEARTBEAT_OK", checkin.Decision{Reason: checkin.Unreadable}},
		{"a text without a decision", `{"text": "Hi Ada."}`, checkin.Decision{Reason: checkin.Unreadable}},
		{"a decision that is no bool", `{"send": "yes", "text": "Hi Ada."}`, checkin.Decision{Reason: checkin.Unreadable}},
		{"null", `{"send": null, "text": "Hi Ada."}`, checkin.Decision{Reason: checkin.Unreadable}},
		{"two decisions", `{"send": false} {"send": true, "text": "Hi."}`, checkin.Decision{Reason: checkin.Unreadable}},
		{"cut off", `{"send": true, "text": "Hi A`, checkin.Decision{Reason: checkin.Unreadable}},
		{"a list for a text", `{"send": true, "text": ["Hi"]}`, checkin.Decision{Reason: checkin.Unreadable}},
		{"a call for a text", `{"send": true, "text": "<tool_call>{\"name\": \"scheduler\", \"arguments\": {}}</tool_call>"}`, checkin.Decision{Reason: checkin.Unreadable}},
		{"no text", `{"send": true}`, checkin.Decision{Reason: checkin.Empty}},
		{"blank text", `{"send": true, "text": " \n"}`, checkin.Decision{Reason: checkin.Empty}},
		{"nothing", "", checkin.Decision{Reason: checkin.Empty}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, checkin.Read(tt.in))
		})
	}
}

// Whatever a model answers: a text comes from a decision to send and holds no
// token, and everything else is silence with a reason.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", "HEARTBEAT_OK", "heartbeat ok.", `{"send": true, "text": "Hi"}`, `{"send": false}`, "```json\n{\"send\":true,\"text\":\"a\"}\n```",
		`{"send":true,"text":"H E A R T B E A T _ O K"}`, `{"send":true,"text":"<think>x</think>"}`, `{send: True, text: 'it is'}`, "{", `{"arguments":{"send":true},"name":"x"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		got := checkin.Read(answer)
		require.Equal(t, got.Reason == checkin.Send, got.Text != "")
		require.Contains(t, []checkin.Reason{checkin.Send, checkin.Declined, checkin.Token, checkin.Empty, checkin.Unreadable}, got.Reason)
		if got.Reason == checkin.Send {
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
