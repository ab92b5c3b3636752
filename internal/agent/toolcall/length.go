package toolcall

import (
	"slices"
	"time"

	"coachline/internal/agent/marks"
	"coachline/models"
)

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

// SizedStage sets the limit of the answer to what a stage asks.
func SizedStage(req models.ChatRequest, setting int) models.ChatRequest {
	if req.MaxTokens <= 0 {
		req.MaxTokens = max(stageTokens, AnswerRoom(req.Model, setting))
	}
	return req
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

// Ending is what an answer makes of the next request of its round. The zero value
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
