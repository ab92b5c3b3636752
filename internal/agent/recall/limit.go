package recall

import (
	"fmt"
	"slices"
	"strings"

	"coachline/internal/text"
	"coachline/models"
	"coachline/prompts"
)

// Sizes of the activity that a stopped turn is described from, and of its
// digest, in characters.
const (
	activityChars = 2000
	excerptChars  = 300
	argumentChars = 120
	rowChars      = 200
	limitAnswer   = 800
)

// TurnActivity describes what a turn did, from the messages it added to its
// requests in any protocol: one line for each call, result and text, oldest
// first. When they are more than 2,000 characters, the newest stay. It is empty
// when the turn did nothing; then ask no model.
func TurnActivity(messages []models.ChatMessage) string {
	var lines []string
	names := map[string]string{}
	for _, message := range messages {
		switch message.Role {
		case "assistant":
			lines = appendLine(lines, "said: ", answerText(message.Content), excerptChars)
			for _, call := range message.ToolCalls {
				names[call.ID] = call.Name
				lines = appendLine(lines, "called ", call.Name+" "+text.Truncate(text.OneLine(call.Arguments), argumentChars), excerptChars)
			}
		case "tool":
			lines = appendLine(lines, "result of "+orTool(names[message.ToolCallID])+": ", message.Content, excerptChars)
		case "user":
			lines = appendLine(lines, "", message.Content, rowChars)
		}
	}
	first, size := len(lines), 0
	for first > 0 && size+countChars(lines[first-1])+1 <= activityChars+1 {
		first--
		size += countChars(lines[first]) + 1
	}
	return strings.Join(lines[first:], "\n")
}

func orTool(name string) string {
	if name == "" {
		return "a tool"
	}
	return name
}

func appendLine(lines []string, label, body string, limit int) []string {
	if body = text.OneLine(body); body == "" {
		return lines
	}
	return append(lines, label+text.Truncate(body, limit))
}

// LimitAsk is what the digest of a stopped turn is asked with. Activity is as
// TurnActivity makes it; Language the person's locale, empty for that of Query.
type LimitAsk struct {
	Query    string
	Activity string
	Language string
	Model    string
}

// LimitRequest asks for a short reply that begins with a caveat. It
// fails only when the prompt cannot be rendered; then count the digest as
// failed.
func LimitRequest(lib *prompts.Library, ask LimitAsk) (models.ChatRequest, error) {
	data := prompts.StageData{Query: ask.Query, Material: ask.Activity, Language: ask.Language}
	req, err := renderRequest(lib, prompts.LimitDigest, data, ask.Model)
	if err != nil {
		return models.ChatRequest{}, fmt.Errorf("rendering limit digest: %w", err)
	}
	return req, nil
}

// LimitReply returns the reply of a turn that was stopped: the digest, at most
// 800 characters, or else the newest of the candidates, which are the texts
// that the turn had for the person, oldest first. ok is false when there is
// none; then apologise in a fixed text and flag the turn.
func LimitReply(answer DigestAnswer, candidates []string) (reply string, ok bool) {
	if !answer.Failed {
		if body := answerText(answer.Text); body != "" && !isNone(body) {
			return text.Truncate(body, limitAnswer-1), true
		}
	}
	for _, candidate := range slices.Backward(candidates) {
		if text := answerText(candidate); text != "" {
			return text, true
		}
	}
	return "", false
}
