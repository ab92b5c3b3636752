package toolcall_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"coachline/internal/agent/toolcall"
	"coachline/models"
)

// P35, W14.
func TestTokens(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   models.ChatRequest
		want int
	}{
		{"nothing", models.ChatRequest{}, 0},
		{"2.5 characters a token", models.ChatRequest{Messages: []models.ChatMessage{message("user", strings.Repeat("a", 100))}}, 44},
		{"rounded up", models.ChatRequest{Messages: []models.ChatMessage{message("user", "a")}}, 5},
		{"characters, not bytes", models.ChatRequest{Messages: []models.ChatMessage{message("user", strings.Repeat("é", 100))}}, 44},
		{"Japanese", models.ChatRequest{Messages: []models.ChatMessage{message("user", strings.Repeat("歩", 100))}}, 104},
		{"arguments of calls", models.ChatRequest{Messages: []models.ChatMessage{calling("", withID("x", "abcde", strings.Repeat("a", 95)))}}, 48},
		{"tools", models.ChatRequest{Tools: []models.ToolSpec{{Name: "abcde", Description: "abcde", Schema: []byte(`{"a":"bcd"`)}}}, 12},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, toolcall.Tokens(tt.in)) })
	}
}

func TestShorten(t *testing.T) {
	system := message("system", "s")
	a := withID("a", "stop", "{}")
	turn := func(n string) []models.ChatMessage {
		return []models.ChatMessage{message("user", "q"+n), calling("", a), result("a", "r"+n), message("assistant", "a"+n)}
	}
	join := func(parts ...[]models.ChatMessage) (out []models.ChatMessage) {
		for _, part := range parts {
			out = append(out, part...)
		}
		return out
	}
	one := func(m ...models.ChatMessage) []models.ChatMessage { return m }
	current := one(message("user", "now"), message("user", "please"), calling("Hm.", a), result("a", "r"), message("user", "late"))
	for _, tt := range []struct {
		name     string
		in, want []models.ChatMessage
		ok       bool
	}{
		{"nothing", nil, nil, false},
		{"the system message alone", one(system), one(system), false},
		{"the current turn alone", join(one(system), current), join(one(system), current), false},
		{"one turn before", join(one(system), turn("1"), current), join(one(system), current), true},
		{"the older half of three", join(one(system), turn("1"), turn("2"), turn("3"), current), join(one(system), turn("3"), current), true},
		{"what the coach wrote first", join(one(system), one(message("assistant", "hi")), current), join(one(system), current), true},
		{"no system message", join(turn("1"), current), current, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := toolcall.Shorten(models.ChatRequest{Model: "m", Messages: tt.in, Tools: tools()})
			require.Equal(t, tt.ok, ok)
			require.Equal(t, models.ChatRequest{Model: "m", Messages: tt.want, Tools: tools()}, got)
		})
	}
}

func TestShortenKeepsPairsAndTheTextsThatAreAnswered(t *testing.T) {
	lib := library(t)
	rapid.Check(t, func(t *rapid.T) {
		whole, err := toolcall.Offer(lib, capability(models.ProtocolNative), models.ChatRequest{Messages: messages(t)})
		require.NoError(t, err)
		req := whole
		for {
			shorter, ok := toolcall.Shorten(req)
			if !ok {
				break
			}
			require.Less(t, len(shorter.Messages), len(req.Messages))
			req = shorter
			require.Equal(t, whole.Messages[0], req.Messages[0])
			requirePaired(t, req.Messages)
		}
		answered := len(whole.Messages)
		for answered > 1 && whole.Messages[answered-1].Role == "user" {
			answered--
		}
		kept := len(whole.Messages) - answered
		require.Equal(t, whole.Messages[answered:], req.Messages[len(req.Messages)-kept:])
	})
}

func TestFit(t *testing.T) {
	long := strings.Repeat("a", 250)
	req := models.ChatRequest{MaxTokens: 100, Messages: []models.ChatMessage{
		message("system", "s"), message("user", long), message("assistant", long), message("user", long), message("assistant", long), message("user", "now"),
	}}
	for _, tt := range []struct {
		name     string
		context  int
		messages int
		ok       bool
	}{
		{"unknown", 0, 6, true},
		{"room enough", 600, 6, true},
		{"one turn too long", 400, 4, true},
		{"both too long", 150, 2, true},
		{"never", 50, 2, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := toolcall.Fit(req, tt.context)
			require.Equal(t, tt.ok, ok)
			require.Len(t, got.Messages, tt.messages)
		})
	}
	t.Run("room for an answer without a limit", func(t *testing.T) {
		free := req
		free.MaxTokens = 0
		got, ok := toolcall.Fit(free, toolcall.Tokens(free)+100)
		require.True(t, ok)
		require.Less(t, len(got.Messages), len(req.Messages))
	})
	require.Len(t, req.Messages, 6)
}

// TestFitIsExact: a request of many bytes or characters fits where Tokens says
// so, to the token.
func TestFitIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z 一-龥ぁ-ん가-힣⺀⹿😀é\x{FFFD}]{0,40}`),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
		req := models.ChatRequest{
			MaxTokens: 1,
			Messages:  []models.ChatMessage{{Content: text.Draw(t, "content"), ToolCalls: []models.ToolCall{{Name: text.Draw(t, "name"), Arguments: text.Draw(t, "arguments")}}}},
			Tools:     []models.ToolSpec{{Name: text.Draw(t, "tool"), Description: text.Draw(t, "description"), Schema: []byte(text.Draw(t, "schema"))}},
		}
		_, ok := toolcall.Fit(req, toolcall.Tokens(req)+1)
		require.True(t, ok)
		_, ok = toolcall.Fit(req, toolcall.Tokens(req))
		require.False(t, ok)
	})
}
