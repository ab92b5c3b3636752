package toolcall

import (
	"regexp"
	"slices"
	"strings"

	"coachline/internal/agent/marks"
	"coachline/models"
)

// maxAnswer is the limit of an answer, in tokens. A reply of 300 characters
// takes a hundred; models that think first count their thoughts too.
const maxAnswer = 4096

// shorterAnswer is what a model is told whose answer was cut off.
const shorterAnswer = "Your last answer was cut off because it was too long, and was not sent. Answer the person again, in at most two short sentences."

// Sized sets the limit of the answer where a request has none: a quarter of a
// known context, and never more than maxAnswer.
func Sized(req models.ChatRequest, contextTokens int) models.ChatRequest {
	if req.MaxTokens > 0 {
		return req
	}
	req.MaxTokens = maxAnswer
	if contextTokens > 0 {
		req.MaxTokens = min(maxAnswer, contextTokens/4)
	}
	return req
}

// IsCut reports whether the limit of an answer ended it.
func IsCut(answer models.ChatResponse) bool { return answer.FinishReason == finishedByLength }

// AskShorter returns the request again after an answer that was cut off. One
// that held no words gets a limit four times as high, since a model that thinks
// may have used it up.
func AskShorter(req models.ChatRequest, verdict Verdict) models.ChatRequest {
	if verdict.Judgment != Words {
		req.MaxTokens *= 4
		return req
	}
	req.Messages = append(slices.Clone(req.Messages), models.ChatMessage{Role: roleUser, Content: marks.Task + shorterAnswer})
	return req
}

// AsksShorter reports whether a request is one of AskShorter after words.
func AsksShorter(req models.ChatRequest) bool {
	return len(req.Messages) > 0 && req.Messages[len(req.Messages)-1].Content == marks.Task+shorterAnswer
}

// sentenceEnd is the end of a sentence, with what closes it.
var sentenceEnd = regexp.MustCompile(`[.!?…。！？]+["'”’)\]]*(?:\s|$)|\n`)

// CutAtSentence returns a text that was cut off, up to the end of its last
// whole sentence; empty when it holds none.
func CutAtSentence(text string) string {
	ends := sentenceEnd.FindAllStringIndex(text, -1)
	if len(ends) == 0 {
		return ""
	}
	return strings.TrimSpace(text[:ends[len(ends)-1][1]])
}
