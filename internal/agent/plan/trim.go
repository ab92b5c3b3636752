package plan

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"coachline/internal/text"
	"coachline/models"
)

// Defaults of Caps, and the least that an entry is cut to.
const (
	CarryGroups     = 2
	CarryEntryChars = 1200
	minEntryChars   = 200
)

// Fence marks text that outsiders wrote. The zero value marks nothing.
type Fence struct {
	Open, Close string
}

// Caps bound the tool rows that later turns see again.
type Caps struct {
	// Groups is the most groups (calls of one model message with their
	// results), newest first; 0 carries none, as in a fresh conversation.
	Groups int
	// EntryChars is the most characters of an entry; less than 200 is 200.
	EntryChars int
	Fence      Fence
	// Stop is the tool that ends an exchange: groups up to it are dropped.
	Stop string
}

// TrimToolEntries leaves the newest groups of tool rows in a conversation and
// shortens their entries; all other entries stay. A result that is cut inside a
// fence gets its closing mark again. The entries of the caller are not changed, and
// are the result where none of them is a tool row: most conversations have none.
func TrimToolEntries(entries []models.Message, caps Caps) []models.Message {
	if !slices.ContainsFunc(entries, isTool) {
		return slices.Clip(entries)
	}
	caps.EntryChars = max(caps.EntryChars, minEntryChars)
	first := firstKept(entries, caps)
	out := make([]models.Message, 0, len(entries))
	for i := range entries {
		switch {
		case !isTool(entries[i]):
			out = append(out, entries[i])
		case i >= first:
			out = append(out, shortenEntry(entries[i], caps))
		}
	}
	return out
}

func isTool(entry models.Message) bool {
	return entry.Kind == models.KindToolCall || entry.Kind == models.KindToolResult
}

// firstKept returns the place of the first tool row that is carried.
func firstKept(entries []models.Message, caps Caps) int {
	first, groups := len(entries), 0
	for i, entry := range slices.Backward(entries) {
		if entry.Kind != models.KindToolCall {
			continue
		}
		stops := func(call models.ToolCall) bool { return caps.Stop != "" && call.Name == caps.Stop }
		if groups >= caps.Groups || slices.ContainsFunc(callsOf(entry), stops) {
			break
		}
		first = i
		groups++
	}
	return first
}

// shortenEntry cuts the arguments of calls, or the content of a result.
func shortenEntry(entry models.Message, caps Caps) models.Message {
	if entry.Kind == models.KindToolCall {
		calls := callsOf(entry)
		for i := range calls {
			calls[i].Arguments = shortArguments(calls[i].Arguments, caps.EntryChars)
		}
		return withText(entry, calls)
	}
	result, ok := resultOf(entry)
	if !ok {
		return entry
	}
	result.Content = CutFenced(result.Content, caps)
	return withText(entry, result)
}

// withText leaves an entry as it is when nothing readable would come of it.
func withText(entry models.Message, content any) models.Message {
	if text, ok := marshalPlain(content); ok && text != "null" {
		entry.Text = text
	}
	return entry
}

// marshalPlain writes JSON without the escapes that are for HTML pages: a model
// reads the marks of a fence as they are.
func marshalPlain(content any) (string, bool) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(content)
	return strings.TrimSpace(out.String()), err == nil
}

// CutFenced shortens a result to caps.EntryChars characters and an ellipsis. One
// that is cut inside the fence gets its closing mark again.
func CutFenced(content string, caps Caps) string {
	if utf8.RuneCountInString(content) <= caps.EntryChars {
		return content
	}
	short := text.Truncate(content, caps.EntryChars)
	if caps.Fence.isOpenIn(short) {
		short += "\n" + caps.Fence.Close
	}
	return short
}

func (f Fence) isOpenIn(text string) bool {
	if f == (Fence{}) {
		return false
	}
	if f.Open == f.Close {
		return strings.Count(text, f.Open)%2 == 1
	}
	return strings.LastIndex(text, f.Open) > strings.LastIndex(text, f.Close)
}

// shortArguments keeps arguments a JSON object: long texts in it are cut, and
// one that is too long all the same becomes empty.
func shortArguments(arguments string, limit int) string {
	if utf8.RuneCountInString(arguments) <= limit {
		return arguments
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &object) != nil {
		return "{}"
	}
	for key, raw := range object {
		var body string
		if json.Unmarshal(raw, &body) == nil {
			short, _ := marshalPlain(text.Truncate(body, minEntryChars))
			object[key] = json.RawMessage(short)
		}
	}
	short, ok := marshalPlain(object)
	if !ok || utf8.RuneCountInString(short) > limit {
		return "{}"
	}
	return short
}
