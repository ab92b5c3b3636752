package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"coachline/models"
)

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// entries stand a second apart, the last one at noon.
func entries(list ...models.Message) []models.Message {
	for i := range list {
		list[i].ID = int64(i + 1)
		list[i].At = noon.Add(time.Duration(i+1-len(list)) * time.Second)
	}
	return list
}

func said(text string) models.Message {
	return models.Message{Role: models.RoleUser, Kind: models.KindMessage, Text: text}
}

func replied(text string) models.Message {
	return models.Message{Role: models.RoleAssistant, Kind: models.KindReply, Text: text}
}

func asJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func called(calls ...models.ToolCall) models.Message {
	return models.Message{Role: models.RoleAssistant, Kind: models.KindToolCall, Text: asJSON(calls)}
}

func returned(result models.ToolResult) models.Message {
	return models.Message{Role: models.RoleTool, Kind: models.KindToolResult, Text: asJSON(result)}
}

func call(id, name string) models.ToolCall {
	return models.ToolCall{ID: id, Name: name, Arguments: "{}"}
}

func ok(id, name string) models.Message {
	return returned(models.ToolResult{CallID: id, Name: name, Content: "fine"})
}

func failed(id, name string) models.Message {
	return returned(models.ToolResult{CallID: id, Name: name, Content: `{"ok":false}`, Failed: true})
}

// asUser stores a result as a text protocol would.
func asUser(m models.Message) models.Message {
	m.Role = models.RoleUser
	return m
}

func TestCarry(t *testing.T) {
	friendly := returned(models.ToolResult{CallID: "1", Name: "scheduler", Content: "Sure, happy to help!", Failed: true})
	unfriendly := returned(models.ToolResult{CallID: "1", Name: "scheduler", Content: "Error: nothing there"})
	tests := []struct {
		name string
		in   []models.Message
		want Carried
	}{
		{"the schedule failed, then 8am please",
			entries(said("remind me"), called(call("1", "scheduler")), failed("1", "scheduler"), replied("When?"), said("8am please")),
			Carried{Failed: []string{"scheduler"}}},
		{"two texts being answered",
			entries(said("remind me"), called(call("1", "scheduler")), failed("1", "scheduler"), replied("When?"), said("8am"), said("please")),
			Carried{Failed: []string{"scheduler"}}},
		{"two calls, one failed",
			entries(said("a"), called(call("1", "scheduler"), call("2", "weather")), ok("1", "scheduler"), failed("2", "weather"), said("b")),
			Carried{Failed: []string{"weather"}}},
		{"results in another order",
			entries(said("a"), called(call("1", "scheduler"), call("2", "weather")), failed("2", "weather"), ok("1", "scheduler"), said("b")),
			Carried{Failed: []string{"weather"}}},
		{"a result is its call's by id, whatever name it bears",
			entries(said("a"), called(call("1", "scheduler"), call("2", "weather")), ok("1", "weather"), failed("2", "scheduler"), said("b")),
			Carried{Failed: []string{"weather"}}},
		{"a result without a name",
			entries(said("a"), called(call("1", "scheduler")), failed("1", ""), said("b")), Carried{Failed: []string{"scheduler"}}},
		{"a call without a result",
			entries(said("a"), called(call("1", "scheduler")), replied("hm"), said("b")),
			Carried{Orphans: []string{"scheduler"}}},
		{"a text protocol", entries(said("a"), called(call("", "scheduler")), asUser(failed("", "scheduler")), replied("hm"), said("b")),
			Carried{Failed: []string{"scheduler"}}},
		{"direct execution: the name matches, the id does not",
			entries(said("a"), called(call("1", "scheduler")), asUser(failed("", "scheduler")), replied("hm"), said("b")),
			Carried{Failed: []string{"scheduler"}}},
		{"a stale name", entries(said("a"), called(call("1", "gone")), failed("1", "gone"), said("b")), Carried{}},
		{"failed with friendly words", entries(said("a"), called(call("1", "scheduler")), friendly, said("b")), Carried{Failed: []string{"scheduler"}}},
		{"fine with unfriendly words", entries(said("a"), called(call("1", "scheduler")), unfriendly, said("b")), Carried{}},
		{"stops at the person's words",
			entries(said("a"), called(call("1", "scheduler")), failed("1", "scheduler"), replied("no"), said("b"), replied("fine"), said("c")), Carried{}},
		{"goes on behind texts that the coach sent unasked",
			entries(said("a"), called(call("1", "weather")), failed("1", "weather"), replied("no"),
				models.Message{Role: models.RoleAssistant, Kind: models.KindPrompt, Text: "Walk!"}, said("b")),
			Carried{Failed: []string{"weather"}}},
		{"no text is being answered", entries(said("a"), called(call("1", "weather")), failed("1", "weather"), replied("no")), Carried{Failed: []string{"weather"}}},
		{"rows that cannot be read",
			entries(said("a"), models.Message{Role: models.RoleAssistant, Kind: models.KindToolCall, Text: "{"}, models.Message{Role: models.RoleTool, Kind: models.KindToolResult, Text: "["}, said("b")),
			Carried{}},
		{"the first text ever", entries(said("a")), Carried{Fresh: true}},
		{"nothing at all", nil, Carried{Fresh: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, CarryOver(CarryOverInput{Entries: tt.in, Catalogue: sampleTools(), Now: noon, Hot: 5 * time.Minute}))
		})
	}
}

func TestCarryHotWindow(t *testing.T) {
	conversation := func(age time.Duration) []models.Message {
		list := entries(said("remind me"), called(call("1", "scheduler")), failed("1", "scheduler"), replied("When?"), said("8am please"))
		for i := range list[:4] {
			list[i].At = noon.Add(-age)
		}
		return list
	}
	tests := []struct {
		name string
		age  time.Duration
		want Carried
	}{
		{"301 seconds ago", 301 * time.Second, Carried{Fresh: true}},
		{"300 seconds ago", 300 * time.Second, Carried{Failed: []string{"scheduler"}}},
		{"just now", time.Second, Carried{Failed: []string{"scheduler"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, CarryOver(CarryOverInput{Entries: conversation(tt.age), Catalogue: sampleTools(), Now: noon, Hot: 300 * time.Second}))
		})
	}
	t.Run("the age of a tool row is irrelevant", func(t *testing.T) {
		list := conversation(time.Hour)
		list[3].At = noon.Add(-time.Minute)
		require.Equal(t, []string{"scheduler"}, CarryOver(CarryOverInput{Entries: list, Catalogue: sampleTools(), Now: noon, Hot: 300 * time.Second}).Failed)
	})
	t.Run("debug texts are no conversation", func(t *testing.T) {
		list := append(conversation(time.Hour)[:4], models.Message{Role: models.RoleAssistant, Kind: models.KindDebug, Text: "x", At: noon}, said("b"))
		require.True(t, CarryOver(CarryOverInput{Entries: list, Catalogue: sampleTools(), Now: noon, Hot: 300 * time.Second}).Fresh)
	})
}

func kinds(list []models.Message) string {
	var out []string
	for _, m := range list {
		switch m.Kind {
		case models.KindToolCall:
			out = append(out, "call"+callsOf(m)[0].ID)
		case models.KindToolResult:
			result, _ := resultOf(m)
			out = append(out, "result"+result.CallID)
		default:
			out = append(out, m.Text)
		}
	}
	return strings.Join(out, " ")
}

func TestTrimGroups(t *testing.T) {
	three := entries(said("a"), called(call("1", "weather")), ok("1", "weather"), replied("x"), said("b"),
		called(call("2", "weather"), call("2b", "weather")), ok("2", "weather"), ok("2b", "weather"),
		called(call("3", "weather")), ok("3", "weather"), replied("y"), said("c"))
	stopped := entries(said("a"), called(call("1", "weather")), ok("1", "weather"), said("b"), called(call("2", "stop")), ok("2", "stop"),
		said("c"), called(call("3", "weather")), ok("3", "weather"), said("d"))
	tests := []struct {
		name string
		in   []models.Message
		caps Caps
		want string
	}{
		{"the newest two, whole", three, Caps{Groups: CarryGroups}, "a x b call2 result2 result2b call3 result3 y c"},
		{"one", three, Caps{Groups: 1}, "a x b call3 result3 y c"},
		{"room for more", three, Caps{Groups: 9}, "a call1 result1 x b call2 result2 result2b call3 result3 y c"},
		{"none in a fresh conversation", three, Caps{}, "a x b y c"},
		{"nothing up to stop", stopped, Caps{Groups: 2, Stop: "stop"}, "a b c call3 result3 d"},
		{"a tool called stop that is not ours", stopped, Caps{Groups: 2}, "a b call2 result2 c call3 result3 d"},
		{"nothing", nil, Caps{Groups: 2}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, kinds(TrimToolEntries(tt.in, tt.caps))) })
	}
}

func TestTrimEntries(t *testing.T) {
	fence := Fence{Open: "<<<untrusted>>>", Close: "<<<end>>>"}
	fenced := fence.Open + "\n" + strings.Repeat("ü", 5000) + "\n" + fence.Close
	content := func(in string, caps Caps) string {
		list := entries(said("a"), called(call("1", "weather")), returned(models.ToolResult{CallID: "1", Name: "weather", Content: in, Failed: true}))
		out := TrimToolEntries(list, caps)
		result, readable := resultOf(out[2])
		require.True(t, readable)
		require.True(t, result.Failed)
		before, _ := resultOf(list[2])
		require.Equal(t, in, before.Content, "the caller's entries stay")
		return result.Content
	}
	caps := Caps{Groups: CarryGroups, EntryChars: CarryEntryChars, Fence: fence}
	t.Run("cut inside a fence", func(t *testing.T) {
		got := content(fenced, caps)
		short, found := strings.CutSuffix(got, "…\n"+fence.Close)
		require.True(t, found)
		require.Equal(t, 1200, utf8.RuneCountInString(short))
		require.Equal(t, 1, strings.Count(got, fence.Close))
	})
	t.Run("cut behind a fence", func(t *testing.T) {
		got := content(fence.Open+"x"+fence.Close+strings.Repeat("y", 3000), caps)
		require.Equal(t, 1, strings.Count(got, fence.Close))
		require.True(t, strings.HasSuffix(got, "y…"))
	})
	t.Run("equal marks", func(t *testing.T) {
		caps := caps
		caps.Fence = Fence{Open: "~~~", Close: "~~~"}
		require.True(t, strings.HasSuffix(content("~~~a~~~ ~~~"+strings.Repeat("y", 3000)+"~~~", caps), "…\n~~~"))
		require.True(t, strings.HasSuffix(content("~~~a~~~"+strings.Repeat("y", 3000), caps), "y…"))
	})
	t.Run("exactly as long", func(t *testing.T) {
		text := strings.Repeat("é", CarryEntryChars)
		require.Equal(t, text, content(text, caps))
		open := fence.Open + text[len(fence.Open)*2:] // é has two bytes
		require.Equal(t, open, content(open, caps), "what is not cut gets no mark")
	})
	t.Run("cut without a fence", func(t *testing.T) {
		require.Equal(t, strings.Repeat("y", 1200)+"…", content(strings.Repeat("y", 3000), caps))
	})
	t.Run("the marks stay as they are", func(t *testing.T) {
		out := TrimToolEntries(entries(called(call("1", "weather")), returned(models.ToolResult{CallID: "1", Name: "weather", Content: fenced})), caps)
		require.Contains(t, out[1].Text, fence.Open)
		require.Contains(t, out[1].Text, fence.Close)
	})
	t.Run("rows that cannot be read stay", func(t *testing.T) {
		list := entries(called(call("1", "weather")),
			models.Message{Role: models.RoleTool, Kind: models.KindToolResult, Text: "["}, models.Message{Role: models.RoleAssistant, Kind: models.KindToolCall, Text: "{"})
		out := TrimToolEntries(list, caps)
		require.Equal(t, "[", out[1].Text)
		require.Equal(t, "{", out[2].Text)
	})
	t.Run("floor of 200", func(t *testing.T) {
		require.Equal(t, strings.Repeat("z", 200)+"…", content(strings.Repeat("z", 500), Caps{Groups: 1, EntryChars: 1}))
	})
	t.Run("no fence is known", func(t *testing.T) {
		require.Equal(t, CarryEntryChars+1, utf8.RuneCountInString(content(fenced, Caps{Groups: 1, EntryChars: CarryEntryChars})))
	})
	arguments := func(in string) string {
		out := TrimToolEntries(entries(called(models.ToolCall{ID: "1", Name: "weather", Arguments: in}), ok("1", "weather")), caps)
		return callsOf(out[0])[0].Arguments
	}
	long := strings.Repeat("w", 2000)
	t.Run("long arguments stay an object", func(t *testing.T) {
		require.JSONEq(t, `{"n":1,"note":"`+strings.Repeat("w", 200)+`…"}`, arguments(`{"note":"`+long+`","n":1}`))
	})
	t.Run("arguments exactly as long", func(t *testing.T) {
		whole := `{"note":"` + strings.Repeat("w", CarryEntryChars-len(`{"note":""}`)) + `"}`
		require.Equal(t, whole, arguments(whole))
		text := strings.Repeat("v", minEntryChars)
		require.JSONEq(t, `{"a":"`+strings.Repeat("w", 200)+`…","b":"`+text+`"}`, arguments(`{"a":"`+long+`","b":"`+text+`"}`), "200 characters stay")
		list := func(rest int) string { return `{"a":"` + long + `","n":["` + strings.Repeat("1", rest) + `"]}` }
		rest := CarryEntryChars - len(`{"a":"","n":[""]}`) - 201
		require.JSONEq(t, `{"a":"`+strings.Repeat("w", 200)+`…","n":["`+strings.Repeat("1", rest)+`"]}`, arguments(list(rest)))
		require.Equal(t, "{}", arguments(list(rest+1)))
	})
	t.Run("arguments that cannot be cut", func(t *testing.T) {
		require.Equal(t, "{}", arguments(`{"note":["`+long+`"]}`))
		require.Equal(t, "{}", arguments(long))
		require.JSONEq(t, `{"a":"<b>"}`, arguments(`{"a":"<b>"}`))
	})
}

func TestTrimKeepsPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []models.Message
		for i := range rapid.IntRange(0, 12).Draw(t, "turns") {
			list = append(list, said(fmt.Sprint("text ", i)))
			for j := range rapid.IntRange(0, 2).Draw(t, "rounds") {
				id := fmt.Sprintf("%d-%d", i, j)
				list = append(list, called(call(id, "weather")), returned(models.ToolResult{CallID: id, Content: rapid.StringN(0, 400, -1).Draw(t, "content")}))
			}
		}
		groups := rapid.IntRange(0, 5).Draw(t, "groups")
		out := TrimToolEntries(list, Caps{Groups: groups, EntryChars: 200, Fence: Fence{"<a>", "</a>"}})
		calls, results, words := 0, 0, 0
		for _, m := range out {
			switch m.Kind {
			case models.KindToolCall:
				calls++
			case models.KindToolResult:
				results++
			default:
				words++
			}
		}
		require.Equal(t, calls, results)
		require.LessOrEqual(t, calls, groups)
		require.Equal(t, len(list), words+2*strings.Count(kinds(list), "call"))
		require.Equal(t, kinds(out), kinds(TrimToolEntries(out, Caps{Groups: groups, EntryChars: 200})))
	})
}

// A conversation without tool rows is carried as it is.
func TestTrimWithoutTools(t *testing.T) {
	entries := make([]models.Message, 40)
	for i := range entries {
		entries[i] = models.Message{Role: models.RoleUser, Text: "walked"}
	}
	caps := Caps{Groups: 2, EntryChars: 500}
	require.Equal(t, entries, TrimToolEntries(entries, caps))
	require.Zero(t, testing.AllocsPerRun(10, func() { TrimToolEntries(entries, caps) }))
}
