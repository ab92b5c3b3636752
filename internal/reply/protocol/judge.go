// Package protocol is how a model is offered tools and how its answer is read:
// by the API's own field, by fenced text, or by two JSON answers. It also
// keeps a request inside the model's context, and everything that was written
// for a program away from people. It is pure.
package protocol

import (
	"strings"

	"coachline/models"
)

// Judgment is what an answer turned out to be.
type Judgment string

const (
	// Words: Verdict.Text is fit for a person.
	Words Judgment = "words"
	// Calls: Verdict.Calls are to be carried out, all of them and in order.
	Calls Judgment = "calls"
	// Thinking: the model thought and said nothing. The loop goes on; the turn
	// counts (J64, A35).
	Thinking Judgment = "thinking"
	// Empty: the model said nothing.
	Empty Judgment = "empty"
	// Malformed: text for a program, or a call that cannot be read. The words
	// beside such a call are withheld too, since they may claim what no tool
	// did.
	Malformed Judgment = "malformed"
)

// Verdict is a judged answer. What follows from it is the engine's decision:
// Empty and Malformed ask for one plain retry without tools, then for a fixed
// text (J71, A31, P23); Thinking asks for another round.
type Verdict struct {
	Judgment Judgment
	// Text is the cleaned words: of Words, and of what stood beside Calls,
	// where it may be empty. Markdown is still in it.
	Text string
	// Calls are never empty for Calls. Those of the API's field keep their
	// ids; calls in text have none, and their place in the turn gives them
	// one. A fence may name a tool that is not offered, which the allow-list
	// refuses by a result (J69); the bare shapes only name tools that are.
	Calls []models.ToolCall
}

// finishedByLength is the finish reason of an answer that its limit cut off.
const finishedByLength = "length"

// Judge reads an answer, in the order of J64: the API's calls, calls in the
// text, thinking, words. It accepts calls in text (J65) in every protocol,
// because models fall back to them. tools is what the request offered, also
// where it offered them as text. Without tools no call is returned: the API's
// are ignored, and a text that holds one is Malformed.
//
// Words are what Judge would return for them again, unchanged. They never hold
// a fence or a mark of thinking.
func Judge(answer models.ChatResponse, tools []models.ToolSpec) Verdict {
	known := offeredBy(tools)
	text := strings.TrimSpace(strings.ToValidUTF8(answer.Text, ""))
	text, thought := withoutThinking(text)
	text = strings.TrimSpace(templateMark.ReplaceAllString(text, ""))
	inText := extract(text, known, answer.FinishReason == finishedByLength)
	switch {
	case len(tools) > 0 && len(answer.Calls) > 0:
		return called(answer.Calls, inText, known)
	case len(tools) > 0 && len(inText.calls) > 0:
		return called(inText.calls, inText, known)
	case len(inText.calls) > 0 || inText.broken:
		return Verdict{Judgment: Malformed}
	}
	return judgeWords(text, thought, known)
}

func judgeWords(text string, thought bool, tools offered) Verdict {
	words, ok := settle(text, tools)
	switch {
	case !ok:
		return Verdict{Judgment: Malformed}
	case words != "":
		return Verdict{Judgment: Words, Text: words}
	case thought:
		return Verdict{Judgment: Thinking}
	}
	return Verdict{Judgment: Empty}
}

// called keeps the words beside calls where they are fit to be shown; they are
// a remark such as "One moment.", so losing them costs nothing.
func called(calls []models.ToolCall, beside found, tools offered) Verdict {
	out := Verdict{Judgment: Calls, Calls: calls}
	if beside.broken {
		return out
	}
	if words, ok := settle(beside.words, tools); ok {
		out.Text = words
	}
	return out
}
