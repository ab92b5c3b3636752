package toolcall

import (
	"slices"

	"coachline/models"
)

const (
	// narrowPerToken is how many characters of Latin scripts make a token before a
	// model's own answers have told.
	narrowPerToken = 3.5
	// otherRune is where scripts begin that take a token for half as many, wideRune
	// where those begin that take a token a character.
	otherRune, wideRune = 0x250, 0x2E80
	// messageTokens is what a message costs beside its text.
	messageTokens = 4
	// keptEntries are never left out of a request, the texts that are answered among
	// them.
	keptEntries = 4
)

// Tokens estimates the length of a request, in tokens, with the arguments of calls
// and the schemas of tools. perToken is how many characters of a Latin script make
// one, 0 where it is not known.
func Tokens(req models.ChatRequest, perToken float64) int {
	return lengthOf(req).estimateTokens(perToken)
}

// CharactersPerToken returns how many characters of a Latin script made a token in a
// request of which the server counted the tokens; 0 where the request is too short
// to tell or the count makes no sense.
func CharactersPerToken(req models.ChatRequest, counted int) float64 {
	size := lengthOf(req)
	rest := counted - size.wide - size.extra
	if counted < leastCounted || rest <= 0 {
		return 0
	}
	found := (float64(size.narrow) + 2*float64(size.other)) / float64(rest)
	if found < 1 || found > 8 {
		return 0
	}
	return found
}

// leastCounted is the least number of tokens that tells how long one is.
const leastCounted = 200

func lengthOf(req models.ChatRequest) length {
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
	return size
}

// length counts characters: of Latin scripts, of others, and of those that take a
// token each.
type length struct{ narrow, other, wide, extra int }

func (l *length) addText(text string) {
	for _, r := range text {
		switch {
		case r < otherRune:
			l.narrow++
		case r < wideRune:
			l.other++
		default:
			l.wide++
		}
	}
}

// estimateTokens returns the tokens of the counted characters.
func (l length) estimateTokens(perToken float64) int {
	if perToken <= 0 {
		perToken = narrowPerToken
	}
	return int((float64(l.narrow)+2*float64(l.other))/perToken+.999) + l.wide + l.extra
}

// DropOldest drops the oldest turn before the current one; ok is false when none may
// go. It takes a request in native form, before Offer. A turn begins at a user
// message that follows the coach's words; what the coach wrote before the first one
// counts as a turn. The system message, the last four entries, the texts that are
// being answered and the rounds of the current turn are never dropped, and a call
// never without its results.
func DropOldest(req models.ChatRequest) (models.ChatRequest, bool) {
	lead := 0
	for lead < len(req.Messages) && req.Messages[lead].Role == roleSystem {
		lead++
	}
	turns := turnStarts(req.Messages[lead:])
	if len(turns) < 2 || countEntries(req.Messages[lead+turns[1]:]) < keptEntries {
		return req, false
	}
	req.Messages = slices.Concat(req.Messages[:lead], req.Messages[lead+turns[1]:])
	return req, true
}

// countEntries counts the messages that either side has read.
func countEntries(messages []models.ChatMessage) int {
	n := 0
	for _, message := range messages {
		if message.Role == roleUser || message.Role == roleAssistant && len(message.ToolCalls) == 0 {
			n++
		}
	}
	return n
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

// Holds reports whether a request and its answer fit into the context of a model; one
// that is not known holds all.
func Holds(req models.ChatRequest, c models.Capability) bool {
	return c.ContextTokens <= 0 || Tokens(req, c.CharactersPerToken) <= c.ContextTokens-req.MaxTokens
}

// Fit drops the oldest turns of a request, one after the other, until holds is true
// or nothing is left to drop.
func Fit(req models.ChatRequest, holds func(models.ChatRequest) bool) models.ChatRequest {
	for !holds(req) {
		shorter, dropped := DropOldest(req)
		if !dropped {
			return req
		}
		req = shorter
	}
	return req
}
