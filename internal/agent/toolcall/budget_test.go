package toolcall_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"coachline/internal/agent/toolcall"
	"coachline/models"
)

func TestTokens(t *testing.T) {
	for _, tt := range []struct {
		name     string
		in       models.ChatRequest
		perToken float64
		want     int
	}{
		{"nothing", models.ChatRequest{}, 0, 0},
		{"characters a token", models.ChatRequest{Messages: []models.ChatMessage{message("user", strings.Repeat("a", 140))}}, 0, 44},
		{"as measured", models.ChatRequest{Messages: []models.ChatMessage{message("user", strings.Repeat("a", 140))}}, 2, 74},
		{"rounded up", models.ChatRequest{Messages: []models.ChatMessage{message("user", "a")}}, 0, 5},
		{"characters, not bytes", models.ChatRequest{Messages: []models.ChatMessage{message("user", strings.Repeat("é", 140))}}, 0, 44},
		{"Cyrillic takes twice as many", models.ChatRequest{Messages: []models.ChatMessage{message("user", strings.Repeat("ж", 70))}}, 0, 44},
		{"Japanese", models.ChatRequest{Messages: []models.ChatMessage{message("user", strings.Repeat("歩", 100))}}, 0, 104},
		{"arguments of calls", models.ChatRequest{Messages: []models.ChatMessage{calling("", withID("x", "abcde", strings.Repeat("a", 135)))}}, 0, 48},
		{"tools", models.ChatRequest{Tools: []models.ToolSpec{{Name: "abcde", Description: "abcde", Schema: []byte(`{"a":"bcd"`)}}}, 0, 10},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, toolcall.Tokens(tt.in, tt.perToken)) })
	}
}

// What a server counts tells how long its tokens are, and then they are counted so.
func TestCharactersPerToken(t *testing.T) {
	req := models.ChatRequest{Messages: []models.ChatMessage{message("system", strings.Repeat("abcde ", 500)), message("user", "歩く")}}
	perToken := toolcall.CharactersPerToken(req, 1010)
	require.InDelta(t, 3.0, perToken, 0.01)
	require.InDelta(t, 1010, toolcall.Tokens(req, perToken), 1)
	require.Zero(t, toolcall.CharactersPerToken(req, 0), "not counted")
	require.Zero(t, toolcall.CharactersPerToken(req, 100), "a count that makes no sense")
	require.Zero(t, toolcall.CharactersPerToken(req, 300), "no token has ten characters")
	require.Zero(t, toolcall.CharactersPerToken(req, 4000), "nor less than one")
	require.Zero(t, toolcall.CharactersPerToken(models.ChatRequest{Messages: []models.ChatMessage{message("user", "hi")}}, 9), "too short to tell")
	short := models.ChatRequest{Messages: []models.ChatMessage{message("user", strings.Repeat("abcde ", 100))}}
	require.Zero(t, toolcall.CharactersPerToken(short, 199), "too short to tell, though it makes sense")
	require.Positive(t, toolcall.CharactersPerToken(short, 200))
}

// Where a request is made again, the newest replies are left out of it, and neither calls
// nor what the person wrote.
func TestEndingLeavesRepliesOut(t *testing.T) {
	req := models.ChatRequest{MaxTokens: 100, Temperature: 0.2, Messages: []models.ChatMessage{
		message("system", "be kind"), message("user", "hi"), message("assistant", "one"), calling("", withID("x", "scheduler", "{}")), message("user", "and?"), message("assistant", "two"),
	}}
	before := slices.Clone(req.Messages)
	again := toolcall.Ending{WithoutReplies: 1, Task: "go on", Room: 50, Temperature: 0.7}.Apply(req)
	require.Equal(t, append(before[:5:5], models.ChatMessage{Role: "user", Content: "[task] go on"}), again.Messages)
	require.Equal(t, 100, again.MaxTokens, "the room that there was")
	require.InDelta(t, 0.7, again.Temperature, 0)
	again = toolcall.Ending{WithoutReplies: 5}.Apply(req)
	require.InDelta(t, 0.2, again.Temperature, 0)
	require.Equal(t, []models.ChatMessage{before[0], before[1], before[3], before[4]}, again.Messages)
	require.Equal(t, before, req.Messages, "the request itself stays")
	first := toolcall.Ending{WithoutReplies: 1}.Apply(models.ChatRequest{Messages: []models.ChatMessage{message("assistant", "hi"), message("user", "and?")}})
	require.Equal(t, []models.ChatMessage{message("user", "and?")}, first.Messages, "also where the coach began")
}

func TestTokensPerSecond(t *testing.T) {
	require.InDelta(t, 62.5, toolcall.TokensPerSecond(models.Usage{Prompt: 2400, Completion: 20}, 40*time.Second), 0.01)
	require.InDelta(t, 60, toolcall.TokensPerSecond(models.Usage{Prompt: 2400, Cached: 1900, Completion: 20}, 10*time.Second), 0.01)
	require.Zero(t, toolcall.TokensPerSecond(models.Usage{Prompt: 2400, Cached: 2300, Completion: 20}, time.Second), "too short to tell")
}

func TestDropOldest(t *testing.T) {
	system := message("system", "s")
	a := withID("a", "stop", "{}")
	turn := func(n string) []models.ChatMessage {
		return []models.ChatMessage{message("user", "q"+n), calling("", a), result("a", "r"+n), message("assistant", "a"+n)}
	}
	join := func(parts ...[]models.ChatMessage) (out []models.ChatMessage) { return slices.Concat(parts...) }
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
		{"the last four entries stay", join(one(system), turn("1"), current), join(one(system), turn("1"), current), false},
		{"the oldest of three", join(one(system), turn("1"), turn("2"), turn("3"), current), join(one(system), turn("2"), turn("3"), current), true},
		{"what the coach wrote first", join(one(system), one(message("assistant", "hi")), turn("1"), current), join(one(system), turn("1"), current), true},
		{"exactly four entries are left", join(one(system), turn("1"), turn("2"), one(message("user", "now"), message("user", "please"))), join(one(system), turn("2"), one(message("user", "now"), message("user", "please"))), true},
		{"no system message", join(turn("1"), turn("2"), current), join(turn("2"), current), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := toolcall.DropOldest(models.ChatRequest{Model: "m", Messages: tt.in, Tools: tools()})
			require.Equal(t, tt.ok, ok)
			require.Equal(t, models.ChatRequest{Model: "m", Messages: tt.want, Tools: tools()}, got)
		})
	}
}

func TestDropOldestKeepsPairsAndTheTextsThatAreAnswered(t *testing.T) {
	lib := library(t)
	rapid.Check(t, func(t *rapid.T) {
		whole, err := toolcall.Offer(lib, capability(models.ProtocolNative), models.ChatRequest{Messages: messages(t)})
		require.NoError(t, err)
		req := whole
		for {
			shorter, ok := toolcall.DropOldest(req)
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
	long := strings.Repeat("a", 350)
	req := models.ChatRequest{MaxTokens: 100, Messages: []models.ChatMessage{
		message("system", "s"), message("user", long), message("assistant", long), message("user", long), message("assistant", long), message("user", long), message("assistant", "well?"), message("user", "now"),
	}}
	for _, tt := range []struct {
		name     string
		context  int
		messages int
		ok       bool
	}{
		{"unknown", 0, 8, true},
		{"room enough", 800, 8, true},
		{"one turn too long", 460, 6, true},
		{"never less than four entries", 200, 6, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := models.Capability{ContextTokens: tt.context}
			got := toolcall.Fit(req, func(r models.ChatRequest) bool { return toolcall.Holds(r, c) })
			require.Equal(t, tt.ok, toolcall.Holds(got, c))
			require.Len(t, got.Messages, tt.messages)
		})
	}
	require.Len(t, req.Messages, 8)
}

// TestHoldsIsExact: a request of many bytes or characters fits where Tokens says
// so, to the token.
func TestHoldsIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z 一-龥ぁ-ん가-힣⺀⹿😀é\x{FFFD}]{0,40}`),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
		req := models.ChatRequest{
			MaxTokens: 1,
			Messages:  []models.ChatMessage{{Content: text.Draw(t, "content"), ToolCalls: []models.ToolCall{{Name: text.Draw(t, "name"), Arguments: text.Draw(t, "arguments")}}}},
			Tools:     []models.ToolSpec{{Name: text.Draw(t, "tool"), Description: text.Draw(t, "description"), Schema: []byte(text.Draw(t, "schema"))}},
		}
		c := models.Capability{ContextTokens: toolcall.Tokens(req, 0) + 1}
		require.True(t, toolcall.Holds(req, c))
		c.ContextTokens--
		require.False(t, toolcall.Holds(req, c))
	})
}
