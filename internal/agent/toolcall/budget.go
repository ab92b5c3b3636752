package toolcall

import (
	"slices"
	"unicode/utf8"

	"coachline/models"
)

const (
	// wideRune is where scripts begin that take a token a character or more.
	wideRune = 0x2E80
	// messageTokens is what a message costs beside its text.
	messageTokens = 4
	// answerTokens is kept free for an answer where the request states no
	// limit, but never more than a quarter of the context.
	answerTokens = 1024
)

// Tokens estimates the length of a request, in tokens: 2.5 characters each, or
// one for each character of Chinese, Japanese and Korean, with the arguments
// of calls and the schemas of tools. It counts high rather than
// low.
func Tokens(req models.ChatRequest) int {
	var size length
	for _, message := range req.Messages {
		size.addText(message.Content)
		size.extra += messageTokens
		for _, call := range message.ToolCalls {
			size.addText(call.Name)
			size.addText(call.Arguments)
			size.extra += messageTokens
		}
	}
	for _, tool := range req.Tools {
		size.addText(tool.Name)
		size.addText(tool.Description)
		size.addText(string(tool.Schema))
		size.extra += messageTokens
	}
	return size.estimateTokens()
}

// tokenBound returns what Tokens is at most: a narrow character has one byte or
// more, and a wide one, which costs as much as two and a half of them, has
// three. A request is rarely near its bound, and so its texts are rarely
// counted.
func tokenBound(req models.ChatRequest) int {
	var size length
	for _, message := range req.Messages {
		size.narrow += len(message.Content)
		size.extra += messageTokens
		for _, call := range message.ToolCalls {
			size.narrow += len(call.Name) + len(call.Arguments)
			size.extra += messageTokens
		}
	}
	for _, tool := range req.Tools {
		size.narrow += len(tool.Name) + len(tool.Description) + len(tool.Schema)
		size.extra += messageTokens
	}
	return size.estimateTokens()
}

// length counts characters.
type length struct{ narrow, wide, extra int }

// addText counts the characters of a text.
func (l *length) addText(text string) {
	for _, r := range text {
		if r >= wideRune && r != utf8.RuneError {
			l.wide++
		} else {
			l.narrow++
		}
	}
}

// estimateTokens returns the tokens of the counted characters.
func (l *length) estimateTokens() int { return (l.narrow*2+4)/5 + l.wide + l.extra }

// Shorten drops the older half of the turns before the current one, at least
// one; ok is false when there is none to drop. It takes a request in native
// form, before Offer. A turn begins at a user message that follows the coach's
// words; what the coach wrote before the first one counts as a turn. The system
// message, the texts that are being answered and the rounds of the current turn
// are never dropped, and a call never without its results.
//
// Use it once when a provider says that a request is too long.
func Shorten(req models.ChatRequest) (models.ChatRequest, bool) {
	lead := 0
	for lead < len(req.Messages) && req.Messages[lead].Role == roleSystem {
		lead++
	}
	turns := turnStarts(req.Messages[lead:])
	if len(turns) < 2 {
		return req, false
	}
	drop := len(turns) / 2
	keep := req.Messages[lead+turns[drop]:]
	req.Messages = slices.Concat(req.Messages[:lead], keep)
	return req, true
}

// turnStarts returns where each turn begins; the last one is the current turn.
func turnStarts(messages []models.ChatMessage) []int {
	var starts []int
	for i, message := range messages {
		first := i == 0
		afterWords := !first && messages[i-1].Role == roleAssistant && len(messages[i-1].ToolCalls) == 0
		if first || (message.Role == roleUser && afterWords) {
			starts = append(starts, i)
		}
	}
	return starts
}

// Fit shortens a request until it and its answer fit into a context of that
// many tokens; 0 is no bound. ok is false when it is still too long with
// nothing left to drop: sending it is worth an attempt, since Tokens counts
// high.
func Fit(req models.ChatRequest, contextTokens int) (out models.ChatRequest, ok bool) {
	if contextTokens <= 0 {
		return req, true
	}
	reserve := req.MaxTokens
	if reserve <= 0 {
		reserve = min(answerTokens, contextTokens/4)
	}
	if tokenBound(req) <= contextTokens-reserve {
		return req, true
	}
	for Tokens(req) > contextTokens-reserve {
		shorter, dropped := Shorten(req)
		if !dropped {
			return req, false
		}
		req = shorter
	}
	return req, true
}
