package toolcall

import (
	"encoding/json"
	"slices"
	"strings"

	"coachline/internal/agent/marks"
	"coachline/models"
)

// Chat roles of an OpenAI-compatible request.
const (
	roleSystem    = "system"
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"
)

// pairCalls drops calls that have no result and results that have no call:
// strict providers refuse a request that holds either. Results stand in
// the order of their calls. Messages that are whole come back as they are.
func pairCalls(messages []models.ChatMessage) []models.ChatMessage {
	out := make([]models.ChatMessage, 0, len(messages))
	for i := 0; i < len(messages); i++ {
		message := messages[i]
		if message.Role == roleTool {
			continue
		}
		if len(message.ToolCalls) == 0 {
			out = append(out, message)
			continue
		}
		end := i + 1
		for end < len(messages) && messages[end].Role == roleTool {
			end++
		}
		calls, results := matchResults(message.ToolCalls, messages[i+1:end])
		message.ToolCalls = calls
		if len(calls) > 0 || strings.TrimSpace(message.Content) != "" {
			out = append(out, message)
			out = append(out, results...)
		}
		i = end - 1
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func matchResults(calls []models.ToolCall, rows []models.ChatMessage) (kept []models.ToolCall, results []models.ChatMessage) {
	rows = slices.Clone(rows)
	for _, call := range calls {
		at := slices.IndexFunc(rows, func(row models.ChatMessage) bool { return row.ToolCallID == call.ID })
		if at < 0 || call.ID == "" {
			continue
		}
		kept = append(kept, call)
		results = append(results, rows[at])
		rows = slices.Delete(rows, at, at+1)
	}
	return kept, results
}

// toolStyle writes calls and their results into a conversation that has no role
// for tools.
type toolStyle struct {
	// call is what the assistant's message shows of a call; "" is nothing.
	call func(call models.ToolCall) string
	// result is the user message that tells what a call came to.
	result func(call models.ToolCall, content string) string
}

// rewriteMessages puts paired messages into a style. Empty messages are left out,
// since some providers refuse them.
func rewriteMessages(messages []models.ChatMessage, in toolStyle) []models.ChatMessage {
	var out alternatingMessages
	for i, message := range messages {
		switch message.Role {
		case roleSystem:
			out.messages = append(out.messages, message)
		case roleAssistant:
			out.addCalls(message, messages[i+1:], in)
		case roleUser:
			if strings.TrimSpace(message.Content) != "" {
				out.addWords(message.Content)
			}
		}
	}
	return out.messages
}

// addCalls adds the words and calls of an assistant's message, and the results
// that follow it.
func (t *alternatingMessages) addCalls(message models.ChatMessage, results []models.ChatMessage, in toolStyle) {
	parts := []string{strings.TrimSpace(message.Content)}
	for _, call := range message.ToolCalls {
		parts = append(parts, in.call(call))
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	if len(parts) > 0 {
		t.addMessage(roleAssistant, strings.Join(parts, "\n\n"))
	}
	for i, call := range message.ToolCalls {
		t.addMessage(roleUser, in.result(call, results[i].Content))
		t.lastIsResult = true
	}
}

// alternatingMessages is a conversation of alternating user and assistant messages, as
// strict chat templates demand.
type alternatingMessages struct {
	messages []models.ChatMessage
	// lastIsResult: the newest message ends with the result of a tool.
	lastIsResult bool
}

// addMessage adds a text, joined to the newest message where that has the same role.
func (t *alternatingMessages) addMessage(role, content string) {
	t.addWhole(models.ChatMessage{Role: role, Content: content})
	t.lastIsResult = false
}

// addWhole adds a message with its calls, joined to the newest one where that has the same
// role. Something of the coach stands between the result of a tool and what the person
// wrote next, and something of the person before the coach.
func (t *alternatingMessages) addWhole(message models.ChatMessage) {
	before := models.ChatMessage{Role: roleSystem}
	if newest := len(t.messages) - 1; newest >= 0 {
		before = t.messages[newest]
	}
	switch {
	case message.Role == before.Role && message.Role != roleTool && message.Role != roleSystem:
		message.Content = strings.TrimSpace(before.Content + "\n\n" + message.Content)
		t.messages = t.messages[:len(t.messages)-1]
	case message.Role == roleUser && before.Role == roleTool:
		t.messages = append(t.messages, models.ChatMessage{Role: roleAssistant, Content: marks.NothingSent})
	case message.Role == roleAssistant && before.Role == roleSystem:
		t.messages = append(t.messages, models.ChatMessage{Role: roleUser, Content: marks.ConversationStarts})
	}
	t.messages = append(t.messages, message)
}

// addWords adds what a person wrote, kept apart from a result before it.
func (t *alternatingMessages) addWords(content string) {
	if !marks.IsCue(content) {
		content = marks.NeutraliseWords(content)
	}
	if t.lastIsResult {
		content = marks.PersonWrites + content
	}
	t.addMessage(roleUser, content)
}

// alternateRoles joins neighbours of one role in paired messages; calls stay with their
// results.
func alternateRoles(messages []models.ChatMessage) []models.ChatMessage {
	var out alternatingMessages
	for _, message := range messages {
		out.addWhole(message)
	}
	return out.messages
}

// failureOf returns the error of a result that reports one.
func failureOf(content string) (problem string, failed bool) {
	var result struct {
		OK    *bool  `json:"ok"`
		Error string `json:"error"`
	}
	if json.Unmarshal([]byte(content), &result) != nil || result.OK == nil || *result.OK {
		return "", false
	}
	if result.Error == "" {
		return content, true
	}
	return result.Error, true
}
