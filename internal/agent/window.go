package agent

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"coachline/internal/agent/marks"
	"coachline/models"
)

// messageGroup is what the window keeps or drops as one: an entry, or the calls of
// one model message with all their results.
type messageGroup []models.Message

// isFromUser reports whether a group is an entry of the participant.
func (g messageGroup) isFromUser() bool { return g[0].Role == models.RoleUser }

// isTools reports whether a group holds calls with their results.
func (g messageGroup) isTools() bool { return g[0].Kind == models.KindToolCall }

// Window selects the entries that go to the model, oldest first. A positive
// limit is the most entries, 0 leaves only the texts being answered (those of
// the turn, and the run of user entries at the end), a negative limit is no
// bound. The texts being answered are always kept, even beyond the limit. The
// window starts at a user entry, unless it holds none; then it is what the
// coach wrote on its own. Calls and their results are kept or dropped together,
// and orphans of either kind, debug entries and blank ones are dropped, and so are
// prompts and our questions about them once the person wrote again: the label of that
// text says when they went out. A window that is cut begins with a block of turns, so
// that it may hold some entries less than the limit.
func Window(entries []models.Message, turnID string, limit int) []models.Message {
	return slices.Concat(windowOf(entries, turnID, limit)...)
}

// windowOf returns the groups of Window; they share the caller's entries.
func windowOf(entries []models.Message, turnID string, limit int) []messageGroup {
	groups := groupsOf(entries)
	answered := len(groups)
	for answered > 0 && groups[answered-1].isFromUser() {
		answered--
	}
	// Something may have been sent between the texts of a turn, such as HELP.
	own := slices.IndexFunc(groups[:answered], func(g messageGroup) bool { return g.isFromUser() && turnID != "" && g[0].TurnID == turnID })
	if own >= 0 {
		answered = own
	}
	start := answered
	if limit < 0 {
		start = 0
	} else {
		room := limit - (len(groups) - answered)
		for start > 0 && len(groups[start-1]) <= room {
			start--
			room -= len(groups[start])
		}
		start = moveToBlock(groups[:answered], start)
	}
	return dropBeforeUser(groups[start:])
}

// blockTurns is how many turns leave a full window at once.
const blockTurns = 10

// moveToBlock moves the start of a window that is cut to the first turn of a
// block, so that requests of several turns begin alike and a provider's prompt
// cache holds. A window without such a turn stays as it is.
func moveToBlock(groups []messageGroup, start int) int {
	if start == 0 {
		return start
	}
	for i := start; i < len(groups); i++ {
		_, turn, ok := models.ParseTurnID(groups[i][0].TurnID)
		_, before, _ := models.ParseTurnID(groups[i-1][0].TurnID)
		if ok && turn/blockTurns != before/blockTurns {
			return i
		}
	}
	return start
}

// dropBeforeUser drops the groups before the first user entry; without any, it
// keeps what the coach wrote.
func dropBeforeUser(groups []messageGroup) []messageGroup {
	if first := slices.IndexFunc(groups, messageGroup.isFromUser); first >= 0 {
		return groups[first:]
	}
	return slices.DeleteFunc(slices.Clone(groups), messageGroup.isTools)
}

// groupsOf groups the entries that the window may hold.
func groupsOf(entries []models.Message) []messageGroup {
	groups := make([]messageGroup, 0, len(entries))
	newest := len(entries) - 1
	for newest >= 0 && entries[newest].Role != models.RoleUser {
		newest--
	}
	for i := 0; i < len(entries); i++ {
		entry := &entries[i]
		switch {
		case isAsking(*entry) && i < newest:
		case entry.Kind == models.KindDebug || strings.TrimSpace(entry.Text) == "":
		case entry.Kind == models.KindToolCall:
			end := i + 1
			for end < len(entries) && entries[end].Kind == models.KindToolResult {
				end++
			}
			if tools := toolGroup(*entry, entries[i+1:end]); tools != nil {
				groups = append(groups, tools)
			}
			i = end - 1
		case entry.Kind == models.KindToolResult || entry.Role == models.RoleTool:
		default:
			groups = append(groups, entries[i:i+1:i+1])
		}
	}
	return groups
}

// toolGroup pairs calls with their results, in the order of the calls. A call
// without a result or without an id makes the whole group nil: providers
// refuse such requests.
func toolGroup(entry models.Message, results []models.Message) messageGroup {
	calls := callsOf(entry)
	if len(calls) == 0 {
		return nil
	}
	out := messageGroup{entry}
	for _, call := range calls {
		at := slices.IndexFunc(results, func(m models.Message) bool {
			result, ok := resultOf(m)
			return ok && result.CallID == call.ID
		})
		if at < 0 || call.ID == "" {
			return nil
		}
		out = append(out, results[at])
	}
	return out
}

// callsOf reads the calls of a tool call entry; nil when they cannot be read.
func callsOf(entry models.Message) []models.ToolCall {
	var calls []models.ToolCall
	if err := json.Unmarshal([]byte(entry.Text), &calls); err != nil {
		return nil
	}
	return calls
}

// resultOf reads the result of an entry; the second value is false when it
// cannot be read.
func resultOf(entry models.Message) (models.ToolResult, bool) {
	var result models.ToolResult
	err := json.Unmarshal([]byte(entry.Text), &result)
	return result, err == nil
}

// chatMessage returns an entry as the model sees it. What the coach sent
// without being asked is labelled with its kind and time, what the person wrote with its
// time and what it answers, so that "done!" has something to refer to.
func chatMessage(entry models.Message, in Input) models.ChatMessage {
	switch {
	case entry.Kind == models.KindToolCall:
		return models.ChatMessage{Role: roleAssistant, ToolCalls: fixArguments(callsOf(entry))}
	case entry.Kind == models.KindToolResult:
		result, _ := resultOf(entry)
		return models.ChatMessage{Role: roleTool, Content: result.Content, ToolCallID: result.CallID}
	case entry.Role == models.RoleUser:
		return models.ChatMessage{Role: roleUser, Content: writtenLabel(entry, in) + entry.Text}
	default:
		return models.ChatMessage{Role: roleAssistant, Content: entryLabel(entry, in.Zone) + entry.Text}
	}
}

// shortAnswer is how many words a text has that cannot be read without the question.
const shortAnswer = 5

// writtenLabel returns what stands before a text of the person: when it came, when we had
// asked since the text before, and, in its own turn, which question it answers.
func writtenLabel(entry models.Message, in Input) string {
	if entry.At.IsZero() {
		return ""
	}
	window, question := in.Context.Window, ""
	if entry.TurnID == in.Context.Turn.ID && entry.TurnID != "" {
		question = questionFor(entry, window)
	}
	at := slices.IndexFunc(window, func(m models.Message) bool { return m.ID == entry.ID })
	before := window[:max(at, 0)]
	if at > 0 && before[at-1].Role == models.RoleUser && before[at-1].At.Truncate(time.Minute).Equal(entry.At.Truncate(time.Minute)) {
		return marks.Written("", question) // one of a burst
	}
	silent, asked := askedBefore(entry, before, in.Zone)
	return marks.Written(silent+shortTime(entry.At, in.Zone)+asked, question)
}

// isAsking reports whether an entry is a prompt or a question of ours about it that the
// person got: of these the model needs to know when, not what.
func isAsking(entry models.Message) bool {
	return !entry.Undelivered && slices.Contains([]models.EntryKind{
		models.KindPrompt, models.KindReminder, models.KindFeedbackQuestion, models.KindFeedbackFollowup,
	}, entry.Kind)
}

// askedBefore says when prompts and questions went out between a text and the one before
// it, among the entries before the text: on its day, and on days before on which nothing
// came back.
func askedBefore(entry models.Message, before []models.Message, zone *time.Location) (silent, today string) {
	var days, times []string // the newest first
	for _, asked := range slices.Backward(before) {
		if asked.Role == models.RoleUser {
			break
		}
		if !isAsking(asked) || asked.At.After(entry.At) {
			continue
		}
		sent := asked.At.In(zone)
		if sent.Format(time.DateOnly) == entry.At.In(zone).Format(time.DateOnly) {
			times = append(times, sent.Format("15:04"))
		} else if day := sent.Format("Mon 2006-01-02"); !slices.Contains(days, day) {
			days = append(days, day)
		}
	}
	if n := len(days); n > 1 {
		silent = "asked from " + days[n-1] + " to " + days[0] + ", no answer; "
	} else if n == 1 {
		silent = "asked on " + days[0] + ", no answer; "
	}
	if len(times) > 0 {
		slices.Reverse(times)
		today = ", asked " + strings.Join(times, " and ")
	}
	return silent, today
}

// questionFor returns the question of ours that a short text answers: the newest that had
// gone out when the text came, since what the person wrote before. It is empty for
// texts that say themselves what they are about.
func questionFor(entry models.Message, window []models.Message) string {
	if words := strings.Fields(entry.Text); len(words) > shortAnswer || strings.Contains(entry.Text, "?") {
		return ""
	}
	for _, other := range slices.Backward(window) {
		switch {
		case other.ID == entry.ID || other.At.After(entry.At) || other.Undelivered || other.Refused: // not read before it
		case other.Role == models.RoleUser && other.TurnID != entry.TurnID:
			return ""
		case other.Role == models.RoleAssistant && other.Kind != models.KindToolCall:
			if asked := askingSentence.FindAllString(other.Text, -1); asked != nil {
				return clipText(strings.TrimSpace(asked[len(asked)-1]), leadLength/2)
			}
		}
	}
	return ""
}

// askingSentence finds a sentence that asks.
var askingSentence = regexp.MustCompile(`[^.!?\n]*\?`)

// entryLabel returns what stands before an entry; it is empty for replies and
// greetings that were delivered. It holds the date and not "today", so that an
// entry reads the same in every later request.
func entryLabel(entry models.Message, zone *time.Location) string {
	name := entry.Kind.Spec().Label
	if entry.Undelivered || entry.Kind == models.KindTeamNote {
		return marks.Undelivered(cmp.Or(name, string(entry.Kind)))
	}
	if name == "" {
		return ""
	}
	return marks.Label(name, shortTime(entry.At, zone))
}

func shortTime(at time.Time, zone *time.Location) string {
	return at.In(zone).Format("Mon 2006-01-02 15:04")
}
