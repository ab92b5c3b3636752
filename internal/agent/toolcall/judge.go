// Package toolcall is how a model is offered tools and how its answer is read:
// by the API's own field, by fenced text, or by two JSON answers. It also
// keeps a request inside the model's context, and everything that was written
// for a program away from people. It is pure.
package toolcall

import (
	"slices"
	"strings"

	"coachline/internal/text"
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
	// counts.
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
// text; Thinking asks for another step.
type Verdict struct {
	Judgment Judgment
	// Text is the cleaned words: of Words, and of what stood beside Calls,
	// where it may be empty. Markdown is still in it.
	Text string
	// Calls are never empty for Calls. Those of the API's field keep their
	// ids; calls in text have none, and their place in the turn gives them
	// one. A fence may name a tool that is not offered, which the allow-list
	// refuses by a result; the bare shapes only name tools that are.
	Calls []models.ToolCall
}

const (
	// finishedByLength is the finish reason of an answer that its limit cut off.
	finishedByLength = "length"
	// finishedByModel is that of one that the model ended by itself.
	finishedByModel = "stop"
)

// Judge reads an answer to a request that offered its tools as text, in the
// order: the API's calls, calls in the text, thinking, words.
// Without tools no call is returned: the API's are ignored, and a text that
// holds one is Malformed.
//
// Words are what Judge would return for them again, unchanged. They never hold
// a fence or a mark of thinking.
func Judge(answer models.ChatResponse, tools []models.ToolSpec) Verdict {
	read := readAnswer(answer, tools)
	if len(tools) > 0 && len(answer.Calls) == 0 && len(read.inText.calls) > 0 {
		return callsVerdict(read.inText.calls, read.inText, read.known)
	}
	return read.judgeAnswer(Quotes{})
}

// JudgeNative judges like Judge an answer to a request that offered its tools
// in the API's field, or none: its text is never read as a call. A text that
// holds a call which stands in quotes loses it, because the model repeats what
// it was shown; any other call in a text is Malformed, and so is the name of a
// tool that quotes do not hold.
func JudgeNative(answer models.ChatResponse, in Native) Verdict {
	read := readAnswer(answer, in.Tools)
	for name, schema := range offeredBy(in.Known) {
		read.known[name] = schema
	}
	read.inText = extractCalls(read.text, read.known, IsCut(answer))
	return read.judgeAnswer(in.Quotes)
}

// Native is what an answer in words is judged by.
type Native struct {
	// Tools are those of the request, Known all tools that the model has seen in
	// the conversation.
	Tools, Known []models.ToolSpec
	Quotes       Quotes
}

// reading is an answer taken apart.
type reading struct {
	calls   []models.ToolCall // of the API's field, where tools were offered
	text    string
	thought bool
	inText  parsedText
	known   toolSchemas
}

func readAnswer(answer models.ChatResponse, tools []models.ToolSpec) reading {
	out := reading{known: offeredBy(tools)}
	if len(tools) > 0 {
		out.calls = answer.Calls
	}
	said, _, thought := text.SplitThinking(strings.TrimSpace(strings.ToValidUTF8(answer.Text, "")))
	out.thought = thought
	out.text = strings.TrimSpace(templateMark.ReplaceAllString(said, ""))
	out.inText = extractCalls(out.text, out.known, answer.FinishReason == finishedByLength)
	return out
}

// judgeAnswer returns the verdict on an answer, which may repeat what is in
// quotes.
func (r reading) judgeAnswer(quotes Quotes) Verdict {
	switch {
	case len(r.calls) > 0:
		return callsVerdict(r.calls, r.inText, r.known)
	case r.inText.broken:
		return Verdict{Judgment: Malformed}
	case len(r.inText.calls) == 0:
		return r.refuseToolNames(judgeWords(r.text, r.thought, r.known), quotes)
	case slices.ContainsFunc(r.inText.calls, func(call models.ToolCall) bool { return !quotes.Hold(call) }):
		return Verdict{Judgment: Malformed}
	}
	if words := r.refuseToolNames(judgeWords(r.inText.words, false, r.known), quotes); words.Judgment == Words {
		return words
	}
	return Verdict{Judgment: Malformed}
}

// refuseToolNames refuses words that name a tool, unless a participant or a
// page did so before.
func (r reading) refuseToolNames(words Verdict, quotes Quotes) Verdict {
	name := namedTool(words.Text, r.known)
	if name == "" || quotes.hasWords(callWords(name)) {
		return words
	}
	return Verdict{Judgment: Malformed}
}

func judgeWords(text string, thought bool, tools toolSchemas) Verdict {
	words, ok := cleanAnswer(text, tools)
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

// callsVerdict keeps the words beside calls where they are fit to be shown;
// they are a remark such as "One moment.", so losing them costs nothing.
func callsVerdict(calls []models.ToolCall, beside parsedText, tools toolSchemas) Verdict {
	out := Verdict{Judgment: Calls, Calls: calls}
	if beside.broken {
		return out
	}
	if words, ok := cleanAnswer(beside.words, tools); ok {
		out.Text = words
	}
	return out
}
