package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"coachline/internal/agent/marks"
	"coachline/internal/sim/openai"
)

var (
	// tokenPattern is the number of a text, by which its answer is known.
	tokenPattern  = regexp.MustCompile(`\bm\d{4}\b`)
	personPattern = regexp.MustCompile(`(?m)^Name: (p\d+)$`)
	dailyPattern  = regexp.MustCompile(`\bdaily (\d\d:\d\d)\b`)
	goalPattern   = regexp.MustCompile(`\bgoal (\w+)\b`)
)

// answerMark begins every answer to texts.
const answerMark = "re: "

// newAnswers answers requests with the numbers of the texts that the model sees for
// the first time, and sets a daily prompt where a text asks for one. It numbers
// the calls.
func newAnswers() func(body []byte) (openai.Answer, error) {
	var calls atomic.Int64
	return func(body []byte) (openai.Answer, error) {
		ask, err := openai.ReadRequest(body)
		if err != nil {
			return openai.Answer{}, err //nolint:wrapcheck // the server answers with it
		}
		if fine, ok := openai.AnswerAdvice(body); ok {
			return fine, nil
		}
		return answer(ask, calls.Add(1)), nil
	}
}

// answer is the assistant's message.
func answer(ask openai.Request, call int64) openai.Answer {
	name := "stranger"
	if found := personPattern.FindStringSubmatch(string(ask.Messages[0].Content)); found != nil {
		name = found[1]
	}
	fresh := findUnanswered(ask)
	last := string(ask.Messages[len(ask.Messages)-1].Content)
	switch {
	case strings.HasPrefix(last, "[task]"):
		return say("prompt for %s, number %d", name, call)
	case strings.HasPrefix(last, "[hint]"):
		return say("hello %s, number %d", name, call)
	}
	if calls := wishes(ask, fresh, call); len(calls) > 0 {
		return openai.Answer{Calls: calls}
	}
	var tokens []string
	for _, one := range fresh {
		tokens = append(tokens, tokenPattern.FindAllString(string(one.Content), -1)...)
	}
	if len(tokens) == 0 {
		return say("nothing to answer, number %d", call)
	}
	return say("%s%s %s", answerMark, name, strings.Join(tokens, " "))
}

func say(format string, args ...any) openai.Answer {
	return openai.Answer{Text: fmt.Sprintf(format, args...)}
}

// findUnanswered returns what came after the coach's last reply: without what the
// programme answered by itself, as with a safety text.
func findUnanswered(ask openai.Request) []openai.Message {
	from := len(ask.Messages)
	for from > 1 && !isReply(ask.Messages[from-1]) {
		from--
	}
	var fresh []openai.Message
	for _, one := range ask.Messages[from:] {
		if one.Role != "user" {
			if one.Role == "assistant" && string(one.Content) != marks.NothingSent {
				fresh = append(fresh, one)
			}
			continue
		}
		// Messages that follow each other are one to the model.
		words, _, _ := strings.Cut(string(one.Content), marks.Notes)
		texts := strings.Split(words, "\n\n")
		texts = slices.DeleteFunc(texts, func(text string) bool { return strings.HasSuffix(text, marks.Answered) })
		one.Content = openai.Content(strings.Join(texts, "\n\n"))
		fresh = append(fresh, one)
	}
	return fresh
}

// isReply reports whether the coach said it, and may have answered what came
// before.
func isReply(m openai.Message) bool {
	return m.Role == "assistant" && len(m.ToolCalls) == 0 && string(m.Content) != marks.NothingSent
}

// wishes are the calls for the daily prompts and goals that fresh texts ask for
// and no call has set.
func wishes(ask openai.Request, fresh []openai.Message, call int64) []openai.ToolCall {
	var calls []openai.ToolCall
	add := func(name, arguments string) {
		calls = append(calls, openai.ToolCall{
			ID: fmt.Sprintf("call%dx%d", call, len(calls)), Type: "function", Function: openai.Function{Name: name, Arguments: arguments},
		})
	}
	for _, one := range fresh {
		if len(one.ToolCalls) > 0 {
			calls = nil
		}
		if one.Role != "user" || len(ask.Tools) == 0 {
			continue
		}
		if found := dailyPattern.FindStringSubmatch(string(one.Content)); found != nil {
			add("scheduler", `{"action":"create","type":"fixed","fixed_time":"`+found[1]+`"}`)
		}
		if found := goalPattern.FindStringSubmatch(string(one.Content)); found != nil {
			add("save_user_profile", `{"habit_domain":"`+found[1]+`"}`)
		}
	}
	return calls
}
