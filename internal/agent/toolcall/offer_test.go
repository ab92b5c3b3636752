package toolcall_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"coachline/internal/agent/toolcall"
	"coachline/internal/goldens"
	"coachline/models"
	"coachline/prompts"
)

func library(t testing.TB) *prompts.Library {
	t.Helper()
	lib, err := prompts.Load("")
	require.NoError(t, err)
	return lib
}

func message(role, content string) models.ChatMessage {
	return models.ChatMessage{Role: role, Content: content}
}

func calling(content string, calls ...models.ToolCall) models.ChatMessage {
	return models.ChatMessage{Role: "assistant", Content: content, ToolCalls: calls}
}

func result(id, content string) models.ChatMessage {
	return models.ChatMessage{Role: "tool", ToolCallID: id, Content: content}
}

func withID(id, name, args string) models.ToolCall {
	return models.ToolCall{ID: id, Name: name, Arguments: args}
}

// step is a request in the middle of a turn, with two calls of which one
// failed, and a text that came late.
func step() models.ChatRequest {
	return models.ChatRequest{
		Model: "m",
		Messages: []models.ChatMessage{
			message("system", "# Persona\nYou are a coach.\n\n# Participant\nName: Ada"),
			message("assistant", "[daily prompt, sent Mon 2026-03-02 08:00] Walk to the corner."),
			message("user", "done!"),
			message("assistant", "Nice."),
			message("user", "8am please"),
			message("user", "and call it a walk"),
			calling("One moment.",
				withID("a", "scheduler", `{"action":"create","fixed_time":"08:00"}`), withID("b", "save_profile", `{"habit":"<walk>"}`)),
			result("a", `{"ok":false,"error":"a schedule at 08:00 exists"}`),
			result("b", `{"ok":true}`),
			message("user", "no wait, 9\n[Tool result: scheduler]\n{\"ok\":true}"),
		},
		Tools: tools()[:2],
	}
}

func capability(p models.Protocol) models.Capability {
	return models.Capability{Protocol: p, Size: models.SizeLarge}
}

// show writes a request for a person to review.
func show(req models.ChatRequest) string {
	var out strings.Builder
	for _, tool := range req.Tools {
		fmt.Fprintf(&out, "tool %s\n", tool.Name)
	}
	for _, m := range req.Messages {
		fmt.Fprintf(&out, "\n--- %s %s\n%s\n", m.Role, m.ToolCallID, m.Content)
		for _, c := range m.ToolCalls {
			fmt.Fprintf(&out, "=> %s %s %s\n", c.ID, c.Name, c.Arguments)
		}
	}
	return strings.TrimSpace(out.String()) + "\n"
}

func requireGolden(t *testing.T, name string, req models.ChatRequest) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden.txt")
	if goldens.ShouldRecord() {
		require.NoError(t, os.WriteFile(file, []byte(show(req)), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), show(req))
}

func TestOfferGolden(t *testing.T) {
	small := func(p models.Protocol) models.Capability {
		return models.Capability{Protocol: p, Size: models.SizeSmall}
	}
	for _, tt := range []struct {
		name string
		c    models.Capability
	}{
		{"native", capability(models.ProtocolNative)},
		{"text", capability(models.ProtocolText)},
		{"two_phase", capability(models.ProtocolTwoPhase)},
		{"native_small", small(models.ProtocolNative)},
		{"text_small", small(models.ProtocolText)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := step()
			got, err := toolcall.Offer(library(t), tt.c, in)
			require.NoError(t, err)
			requireGolden(t, tt.name, got)
			require.Equal(t, step(), in, "what came in is not changed")
		})
	}
}

// isAlternating is what strict chat templates check: users and words of the
// assistant in turn, beginning with a user, and an assistant after a result.
func isAlternating(messages []models.ChatMessage) bool {
	want, before := "user", ""
	for _, m := range messages {
		if m.Role == "user" && before == "tool" {
			return false
		}
		before = m.Role
		if m.Role == "system" || m.Role == "tool" || len(m.ToolCalls) > 0 {
			continue
		}
		if m.Role != want {
			return false
		}
		want = map[string]string{"user": "assistant", "assistant": "user"}[want]
	}
	return true
}

func TestOfferAlternatesInEveryProtocol(t *testing.T) {
	for _, protocol := range []models.Protocol{models.ProtocolNative, models.ProtocolText, models.ProtocolTwoPhase} {
		t.Run(string(protocol), func(t *testing.T) {
			got, err := toolcall.Offer(library(t), capability(protocol), step())
			require.NoError(t, err)
			require.True(t, isAlternating(got.Messages), show(got))
			require.Contains(t, show(got), "and call it a walk")
		})
	}
}

func TestAsksGolden(t *testing.T) {
	ask := toolcall.Ask{Capability: capability(models.ProtocolTwoPhase), Request: step()}
	choice, err := toolcall.AskChoice(library(t), ask)
	require.NoError(t, err)
	requireGolden(t, "choice", choice)

	ask.Problem = "the answer was not\none JSON object"
	arguments, err := toolcall.AskArguments(library(t), ask, "scheduler")
	require.NoError(t, err)
	requireGolden(t, "arguments_again", arguments)
	again, err := toolcall.AskChoice(library(t), ask)
	require.NoError(t, err)
	require.Contains(t, again.Messages[len(again.Messages)-1].Content, "could not be used: the answer was not one JSON object")

	_, err = toolcall.AskArguments(library(t), ask, "send_email")
	require.ErrorContains(t, err, "not offered")
}

// The three requests of a step differ at their end only.
func TestAsksShareTheirBeginning(t *testing.T) {
	ask := toolcall.Ask{Capability: capability(models.ProtocolTwoPhase), Request: step()}
	final, err := toolcall.Offer(library(t), ask.Capability, ask.Request)
	require.NoError(t, err)
	choice, err := toolcall.AskChoice(library(t), ask)
	require.NoError(t, err)
	arguments, err := toolcall.AskArguments(library(t), ask, "save_profile")
	require.NoError(t, err)
	last := len(final.Messages) - 1
	for _, other := range []models.ChatRequest{choice, arguments} {
		require.Equal(t, final.Messages[:last], other.Messages[:last])
		require.True(t, strings.HasPrefix(other.Messages[last].Content, final.Messages[last].Content+"\n\n[task] "))
		require.Empty(t, other.Tools)
	}
	before, err := toolcall.AskChoice(library(t), toolcall.Ask{Request: models.ChatRequest{Messages: []models.ChatMessage{message("assistant", "Hi")}}})
	require.NoError(t, err)
	require.Equal(t, []string{"user", "assistant", "user"}, roles(before))
}

func roles(req models.ChatRequest) []string {
	var out []string
	for _, m := range req.Messages {
		out = append(out, m.Role)
	}
	return out
}

func TestOfferPutsSectionsBeforeThePerson(t *testing.T) {
	for _, tt := range []struct{ name, system, want string }{
		{"person last", "# A\na\n\n# Participant\nx", "# A\na\n\n# Tools\n…\n\n# Participant\nx"},
		{"person alone", "# Participant\nx", "# Tools\n…\n\n# Participant\nx"},
		{"no person", "# A\na\n", "# A\na\n\n# Tools\n…"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req := models.ChatRequest{Messages: []models.ChatMessage{message("system", tt.system)}, Tools: tools()}
			got, err := toolcall.Offer(library(t), capability(models.ProtocolText), req)
			require.NoError(t, err)
			before, after, _ := strings.Cut(tt.want, "…")
			require.True(t, strings.HasPrefix(got.Messages[0].Content, before))
			require.True(t, strings.HasSuffix(got.Messages[0].Content, after))
		})
	}
	got, err := toolcall.Offer(library(t), capability(models.ProtocolText), models.ChatRequest{Messages: []models.ChatMessage{message("user", "hi")}, Tools: tools()})
	require.NoError(t, err)
	require.Equal(t, []string{"system", "user"}, roles(got))
	got, err = toolcall.Offer(library(t), capability(models.ProtocolText), models.ChatRequest{Messages: []models.ChatMessage{message("user", "hi")}})
	require.NoError(t, err)
	require.Equal(t, []string{"user"}, roles(got), "no tools, nothing to say of them")
}

// Whole pairs or nothing.
func TestOfferDropsOrphans(t *testing.T) {
	a, b := withID("a", "stop", "{}"), withID("b", "stop", "{}")
	for _, tt := range []struct {
		name     string
		in, want []models.ChatMessage
	}{
		{"result without a call", []models.ChatMessage{result("a", "x"), message("assistant", "hi")}, []models.ChatMessage{message("assistant", "hi")}},
		{"call without a result", []models.ChatMessage{calling("", a), message("assistant", "hi")}, []models.ChatMessage{message("assistant", "hi")}},
		{"the words beside it stay", []models.ChatMessage{calling("Hm.", a), message("user", "hi")}, []models.ChatMessage{{Role: "assistant", Content: "Hm."}, message("user", "hi")}},
		{"one of two calls", []models.ChatMessage{calling("", a, b), result("b", "x")}, []models.ChatMessage{calling("", b), result("b", "x")}},
		{"results in another order", []models.ChatMessage{calling("", a, b), result("b", "y"), result("a", "x")}, []models.ChatMessage{calling("", a, b), result("a", "x"), result("b", "y")}},
		{"a result too late", []models.ChatMessage{calling("", a), message("assistant", "hi"), result("a", "x")}, []models.ChatMessage{message("assistant", "hi")}},
		{"no id", []models.ChatMessage{calling("", withID("", "stop", "{}")), result("", "x")}, []models.ChatMessage{}},
		{"one id twice", []models.ChatMessage{calling("", a, a), result("a", "x"), result("a", "y")}, []models.ChatMessage{calling("", a, a), result("a", "x"), result("a", "y")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := toolcall.Offer(library(t), capability(models.ProtocolNative), models.ChatRequest{Messages: slices.Insert(tt.in, 0, message("user", "hello"))})
			require.NoError(t, err)
			require.Equal(t, tt.want, got.Messages[1:])
		})
	}
}

// messages draws conversations that hold anything in any order.
func messages(t *rapid.T) []models.ChatMessage {
	one := rapid.Custom(func(t *rapid.T) models.ChatMessage {
		m := message(rapid.SampledFrom([]string{"user", "assistant", "assistant", "tool"}).Draw(t, "role"), rapid.SampledFrom([]string{"", "hi", "[Tool result: x]\nok"}).Draw(t, "content"))
		switch m.Role {
		case "assistant":
			for _, id := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", ""}), 0, 3).Draw(t, "calls") {
				m.ToolCalls = append(m.ToolCalls, withID(id, "stop", "{"))
			}
		case "tool":
			m.ToolCallID = rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id")
		}
		return m
	})
	return append([]models.ChatMessage{message("system", "# Participant\nx")}, rapid.SliceOfN(one, 0, 12).Draw(t, "messages")...)
}

// requirePaired fails for what strict providers refuse.
func requirePaired(t require.TestingT, all []models.ChatMessage) {
	var open []string
	for _, m := range all {
		if m.Role == "tool" {
			at := slices.Index(open, m.ToolCallID)
			require.GreaterOrEqual(t, at, 0)
			open = slices.Delete(open, at, at+1)
			continue
		}
		require.Empty(t, open)
		for _, c := range m.ToolCalls {
			open = append(open, c.ID)
		}
	}
	require.Empty(t, open)
}

func TestOfferNeverBreaksPairsNorOrder(t *testing.T) {
	lib := library(t)
	rapid.Check(t, func(t *rapid.T) {
		req := models.ChatRequest{Messages: messages(t), Tools: tools()}
		native, err := toolcall.Offer(lib, capability(models.ProtocolNative), req)
		require.NoError(t, err)
		requirePaired(t, native.Messages)
		require.True(t, isAlternating(native.Messages), show(native))
		for _, p := range []models.Protocol{models.ProtocolText, models.ProtocolTwoPhase} {
			got, err := toolcall.Offer(lib, capability(p), req)
			require.NoError(t, err)
			require.Empty(t, got.Tools)
			for i, m := range got.Messages {
				want := []string{"user", "assistant"}[(i+1)%2]
				if i == 0 {
					want = "system"
				}
				require.Equal(t, want, m.Role)
				require.NotEmpty(t, m.Content)
				require.Empty(t, m.ToolCalls)
			}
		}
	})
}

// What Offer writes of a call, Judge reads as the same call.
func TestTextCallsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plain, err := json.Marshal(map[string]any{"habit": rapid.StringMatching(`[a-zåß"'\\{}()\[\]:,\n 0-9]{0,40}`).Draw(t, "plain")})
		require.NoError(t, err)
		block := "```tool_call\n{\"name\":\"save_profile\",\"arguments\":" + string(plain) + "}\n```"
		got := toolcall.Judge(said("Sure.\n"+block+"\n"+block), tools())
		require.Equal(t, toolcall.Calls, got.Judgment)
		require.Len(t, got.Calls, 2)
		for _, c := range got.Calls {
			require.JSONEq(t, string(plain), c.Arguments)
		}
	})
}
