package agent

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"coachline/models"
)

func callsEntry(t testing.TB, id int64, callIDs ...string) models.Message {
	var list []models.ToolCall
	for _, c := range callIDs {
		list = append(list, newCall(c, "scheduler", "{}"))
	}
	return newEntry(id, models.RoleAssistant, models.KindToolCall, asJSON(t, list))
}

func resultEntry(t testing.TB, id int64, callID string) models.Message {
	return newEntry(id, models.RoleTool, models.KindToolResult, asJSON(t, newResult(callID, "scheduler", "{}")))
}

func entryIDs(entries []models.Message) []int64 {
	out := []int64{}
	for _, m := range entries {
		out = append(out, m.ID)
	}
	return out
}

func TestWindow(t *testing.T) {
	prompt := newEntry(1, models.RoleAssistant, models.KindPrompt, "walk")
	talk := []models.Message{userEntry(1, "a"), replyEntry(2, "b"), userEntry(3, "c"), replyEntry(4, "d"), userEntry(5, "e")}
	withTools := []models.Message{userEntry(1, "a"), callsEntry(t, 2, "x", "y"), resultEntry(t, 3, "y"), resultEntry(t, 4, "x"), replyEntry(5, "b"), userEntry(6, "c")}
	tests := []struct {
		name    string
		entries []models.Message
		limit   int
		want    []int64
	}{
		{"nothing", nil, 30, []int64{}},
		{"all fit", talk, 30, []int64{1, 2, 3, 4, 5}},
		{"no bound", talk, -1, []int64{1, 2, 3, 4, 5}},
		{"exactly", talk, 5, []int64{1, 2, 3, 4, 5}},
		{"starts at a user entry", talk, 4, []int64{3, 4, 5}},
		{"one", talk, 1, []int64{5}},
		{"none but what is answered", talk, 0, []int64{5}},
		{"a burst is one turn", []models.Message{userEntry(1, "a"), replyEntry(2, "b"), userEntry(3, "c"), userEntry(4, "d")}, 0, []int64{3, 4}},
		{"a burst beyond the limit", []models.Message{replyEntry(2, "b"), userEntry(3, "c"), userEntry(4, "d"), userEntry(5, "e")}, 2, []int64{3, 4, 5}},
		{"leading prompt", []models.Message{prompt, userEntry(2, "done!")}, 30, []int64{2}},
		{"prompt in between", []models.Message{userEntry(1, "ok"), newEntry(2, models.RoleAssistant, models.KindPrompt, "walk"), userEntry(3, "done!")}, 30, []int64{1, 3}},
		{"prompt that nothing followed", []models.Message{userEntry(1, "ok"), newEntry(2, models.RoleAssistant, models.KindPrompt, "walk")}, 30, []int64{1, 2}},
		{"only what the coach wrote", []models.Message{prompt, replyEntry(2, "b")}, 30, []int64{1, 2}},
		{"only what the coach wrote, none wanted", []models.Message{prompt}, 0, []int64{}},
		{"results in the order of calls", withTools, 30, []int64{1, 2, 4, 3, 5, 6}},
		{"tools whole", withTools, 6, []int64{1, 2, 4, 3, 5, 6}},
		{"tools never split", withTools, 4, []int64{6}},
		{"call without result", []models.Message{userEntry(1, "a"), callsEntry(t, 2, "x", "y"), resultEntry(t, 3, "x"), userEntry(4, "b")}, 30, []int64{1, 4}},
		{"call without id", []models.Message{userEntry(1, "a"), callsEntry(t, 2, ""), resultEntry(t, 3, ""), userEntry(4, "b")}, 30, []int64{1, 4}},
		{"result without call", []models.Message{userEntry(1, "a"), resultEntry(t, 2, "x"), userEntry(3, "b")}, 30, []int64{1, 3}},
		{"unreadable call", []models.Message{userEntry(1, "a"), newEntry(2, models.RoleAssistant, models.KindToolCall, "{"), resultEntry(t, 3, "x"), userEntry(4, "b")}, 30, []int64{1, 4}},
		{"debug and blank", []models.Message{userEntry(1, "a"), newEntry(2, models.RoleAssistant, models.KindDebug, "x"), replyEntry(3, "  "), userEntry(4, "b")}, 30, []int64{1, 4}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, entryIDs(Window(tt.entries, "", tt.limit)))
		})
	}
}

// drawConversation draws entries as they may stand in the table, orphans included.
func drawConversation(t *rapid.T, tb testing.TB) []models.Message {
	var entries []models.Message
	next := func() int64 { return int64(len(entries) + 1) }
	for range rapid.IntRange(0, 40).Draw(t, "units") {
		switch rapid.SampledFrom([]string{"user", "user", "reply", "prompt", "tools", "call", "result", "debug"}).Draw(t, "unit") {
		case "user":
			entries = append(entries, userEntry(next(), "u"))
		case "reply":
			entries = append(entries, replyEntry(next(), "r"))
		case "prompt":
			entries = append(entries, newEntry(next(), models.RoleAssistant, models.KindPrompt, "p"))
		case "tools":
			entries = append(entries, callsEntry(tb, next(), "x", "y"))
			entries = append(entries, resultEntry(tb, next(), "x"))
			entries = append(entries, resultEntry(tb, next(), "y"))
		case "call":
			entries = append(entries, callsEntry(tb, next(), "z"))
		case "result":
			entries = append(entries, resultEntry(tb, next(), "w"))
		case "debug":
			entries = append(entries, newEntry(next(), models.RoleAssistant, models.KindDebug, "d"))
		}
	}
	return entries
}

func TestWindowProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		entries := drawConversation(rt, t)
		limit := rapid.IntRange(-1, 35).Draw(rt, "limit")
		got := Window(entries, "", limit)

		isUser := func(m models.Message) bool { return m.Role == models.RoleUser }
		allUser := !slices.ContainsFunc(got, func(m models.Message) bool { return !isUser(m) })
		if limit >= 0 && len(got) > limit {
			require.True(rt, allUser, "only the texts being answered may exceed the limit")
		}
		if slices.ContainsFunc(got, isUser) {
			require.True(rt, isUser(got[0]))
		}
		// The texts being answered are all there.
		for i := len(entries) - 1; i >= 0 && isUser(entries[i]); i-- {
			require.Contains(rt, got, entries[i])
		}
		requireWholeGroups(rt, got)
	})
}

func requireWholeGroups(t require.TestingT, got []models.Message) {
	for i := 0; i < len(got); i++ {
		require.NotEqual(t, models.KindToolResult, got[i].Kind, "a result stands alone")
		require.NotEqual(t, models.KindDebug, got[i].Kind)
		if got[i].Kind != models.KindToolCall {
			continue
		}
		for _, c := range callsOf(got[i]) {
			i++
			require.Less(t, i, len(got))
			answer, ok := resultOf(got[i])
			require.True(t, ok)
			require.Equal(t, c.ID, answer.CallID)
		}
	}
}

func TestWindowLeavesItsInputAlone(t *testing.T) {
	entries := []models.Message{userEntry(1, "a"), callsEntry(t, 2, "x"), resultEntry(t, 3, "x"), replyEntry(4, "b"), userEntry(5, "c")}
	before := slices.Clone(entries)
	Window(entries, "", 2)
	require.Equal(t, before, entries)
}

// A full window loses several turns at once, so that the requests in between
// begin alike.
func TestWindowIsCutInBlocks(t *testing.T) {
	var entries []models.Message
	starts := map[int]int{}
	for turn := 1; turn <= 40; turn++ {
		id := models.TurnID("conv_1", turn)
		entries = append(entries,
			models.Message{ID: int64(2 * turn), TurnID: id, Role: models.RoleUser, Kind: models.KindMessage, Text: "text"},
			models.Message{ID: int64(2*turn + 1), TurnID: id, Role: models.RoleAssistant, Kind: models.KindReply, Text: "reply"})
		asked := append(entries[:len(entries):len(entries)], models.Message{
			ID: int64(2*turn + 2), TurnID: models.TurnID("conv_1", turn+1), Role: models.RoleUser, Kind: models.KindMessage, Text: "now",
		})
		kept := Window(asked, "", 30)
		require.LessOrEqual(t, len(kept), 30)
		require.GreaterOrEqual(t, len(kept), min(len(asked), 30-2*blockTurns), "turn %d", turn)
		require.Equal(t, asked[len(asked)-1], kept[len(kept)-1])
		_, first, ok := models.ParseTurnID(kept[0].TurnID)
		require.True(t, ok)
		starts[first]++
	}
	require.LessOrEqual(t, len(starts), 7, "the start moves by blocks: %v", starts)
}

// The texts of a turn are all kept, also where something was sent between them.
func TestWindowKeepsTheTextsOfTheTurn(t *testing.T) {
	of := func(id int64, turn int, role models.Role, kind models.EntryKind) models.Message {
		return models.Message{ID: id, TurnID: models.TurnID("conv_1", turn), Role: role, Kind: kind, Text: "text"}
	}
	entries := []models.Message{
		of(1, 1, models.RoleUser, models.KindMessage), of(2, 1, models.RoleAssistant, models.KindReply),
		of(3, 2, models.RoleUser, models.KindMessage), of(4, 2, models.RoleUser, models.KindMessage),
		of(5, 3, models.RoleAssistant, models.KindHelp), of(6, 2, models.RoleUser, models.KindMessage),
	}
	current := models.TurnID("conv_1", 2)
	require.Equal(t, []int64{6}, entryIDs(Window(entries, "", 0)))
	require.Equal(t, []int64{3, 4, 5, 6}, entryIDs(Window(entries, current, 0)))
	require.Equal(t, []int64{3, 4, 5, 6}, entryIDs(Window(entries, current, 5)))
	require.Equal(t, []int64{1, 2, 3, 4, 5, 6}, entryIDs(Window(entries, current, 6)))
}
