package toolcall

import (
	"cmp"
	"regexp"
	"slices"
	"time"

	"coachline/internal/agent/marks"
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
// being answered and the steps of the current turn are never dropped, and a call
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

const (
	// answerTokens are kept for an answer: a reply of 300 characters takes a hundred,
	// a call of a tool two hundred.
	answerTokens = 400
	// thoughtTokens are kept where thoughts count as answer.
	thoughtTokens = 4096
	// stageTokens are kept for what a stage asks, which may be a digest or a list.
	stageTokens = 1024
)

// shorterAnswer is what a model is told whose answer was cut off.
const shorterAnswer = "Your last answer was cut off because it was too long, and was not sent. Answer the person again, in at most two short sentences."

// AnswerRoom returns how many tokens are kept for an answer of a model: as the
// operator sets it, else by whether it thinks before it answers.
func AnswerRoom(model string, setting int) int {
	switch {
	case setting > 0:
		return setting
	case thinkers.MatchString(familyOf(model)):
		return thoughtTokens
	}
	return answerTokens
}

// Sized sets the limit of the answer where a request has none: room for one, and
// never more than a quarter of a known context.
func Sized(req models.ChatRequest, c models.Capability) models.ChatRequest {
	if req.MaxTokens > 0 {
		return req
	}
	req.MaxTokens = c.AnswerTokens
	if c.AnswerTokens <= 0 {
		req.MaxTokens = answerTokens
	}
	if c.ContextTokens > 0 {
		req.MaxTokens = min(req.MaxTokens, c.ContextTokens/4)
	}
	return req
}

// SizedStage sets the limit of the answer to what a stage asks: most, where that is not
// 0, and room for thoughts where the model thinks all the same. A model that can be
// asked to think less is asked.
func SizedStage(req models.ChatRequest, most, setting int) models.ChatRequest {
	req.Effort = effortOf(req.Model)
	if req.MaxTokens <= 0 {
		req.MaxTokens = cmp.Or(most, stageTokens)
	}
	if thinkers.MatchString(familyOf(req.Model)) && !withoutThought[req.Effort] {
		req.MaxTokens = max(req.MaxTokens, AnswerRoom(req.Model, setting))
	}
	return req
}

// withoutThought are the efforts with which a model hardly thinks.
var withoutThought = map[string]bool{"none": true, "minimal": true}

// efforts are the least that families of models can be asked to think; the first match
// counts. Others know no such word.
var efforts = []struct {
	family *regexp.Regexp
	least  string
}{
	{regexp.MustCompile(`^gpt-5\.\d`), "none"},
	{regexp.MustCompile(`^gpt-5(?:$|-(?:mini|nano|\d))`), "minimal"},
	{regexp.MustCompile(`^(?:o[134](?:$|-)|gpt-oss)`), "low"},
}

func effortOf(model string) string {
	for _, e := range efforts {
		if e.family.MatchString(familyOf(model)) {
			return e.least
		}
	}
	return ""
}

const (
	// readPerWritten is how many tokens are read in the time in which one is written.
	readPerWritten = 5
	// leastTimed is the least number of tokens that tells how fast a model is.
	leastTimed = 300
)

// TokensPerSecond returns how many tokens a model took in a second, one that it wrote
// as five that it read, those without the ones that its server had; 0 where the
// answer is too short to tell.
func TokensPerSecond(used models.Usage, took time.Duration) float64 {
	n := used.Prompt - used.Cached + readPerWritten*used.Completion
	if n < leastTimed || took <= 0 {
		return 0
	}
	return float64(n) / took.Seconds()
}

// IsCut reports whether the limit of an answer ended it.
func IsCut(answer models.ChatResponse) bool { return answer.FinishReason == finishedByLength }

// IsEnded reports whether the model ended an answer by itself, as its server tells.
func IsEnded(answer models.ChatResponse) bool { return answer.FinishReason == finishedByModel }

// Ending is what an answer makes of the next request of its step. The zero value
// changes nothing.
type Ending struct {
	Task string
	Room int
	// WithoutReplies is how many of the newest replies are left out, Temperature how
	// freely the request is answered; 0 is as ever.
	WithoutReplies int
	Temperature    float64
}

// EndingAfter returns how to ask again after an answer that was cut off before its
// first sentence ended. One that held no words gets room for thoughts, since a
// model that thinks may have used its room up.
func EndingAfter(verdict Verdict) Ending {
	if verdict.Judgment != Words {
		return Ending{Room: thoughtTokens}
	}
	return Ending{Task: shorterAnswer}
}

// Apply returns a request with the ending.
func (e Ending) Apply(req models.ChatRequest) models.ChatRequest {
	req.MaxTokens = max(req.MaxTokens, e.Room)
	if e.Temperature > 0 {
		req.Temperature = e.Temperature
	}
	for i := len(req.Messages) - 1; i >= 0 && e.WithoutReplies > 0; i-- {
		if one := req.Messages[i]; one.Role == roleAssistant && len(one.ToolCalls) == 0 {
			req.Messages = slices.Concat(req.Messages[:i], req.Messages[i+1:])
			e.WithoutReplies--
		}
	}
	if e.Task != "" {
		req.Messages = append(slices.Clone(req.Messages), models.ChatMessage{Role: roleUser, Content: marks.Task + e.Task})
	}
	return req
}
