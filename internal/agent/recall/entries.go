package recall

import (
	"encoding/json"
	"fmt"

	"coachline/internal/text"
	"coachline/models"
)

// outcomeChars bounds a tool's outcome in a summary, in characters.
const outcomeChars = 160

// lineOf returns an entry as a summary reads it: who said what, and a tool's
// outcome in one line, since a summary without outcomes forgets what was
// agreed. It is empty for entries that say nothing.
func lineOf(entry models.Message) string {
	switch {
	case entry.Kind == models.KindDebug || entry.Kind == models.KindToolCall:
		return ""
	case entry.Kind == models.KindToolResult || entry.Role == models.RoleTool:
		return outcomeLine(entry)
	case text.OneLine(entry.Text) == "":
		return ""
	}
	return speakerName(entry.Role) + ": " + text.OneLine(entry.Text)
}

// speakerName returns how a summary names the author of an entry.
func speakerName(role models.Role) string {
	switch role {
	case models.RoleUser:
		return "person"
	case models.RoleAssistant:
		return "coach"
	case models.RoleTool:
	}
	return "tool"
}

// outcomeLine returns a tool's outcome in one line; it is empty when the entry
// cannot be read.
func outcomeLine(entry models.Message) string {
	var result models.ToolResult
	if json.Unmarshal([]byte(entry.Text), &result) != nil {
		return ""
	}
	state := "done"
	if result.Failed {
		state = "failed"
	}
	return fmt.Sprintf("tool %s %s: %s", orTool(result.Name), state, text.Truncate(text.OneLine(result.Content), outcomeChars))
}
