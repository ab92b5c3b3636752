package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
	"sync"

	"coachline/internal/agent/marks"
	"coachline/internal/sim/openai"
)

// coach is the scripted model in five languages. The script of the stand-in knows English
// alone: what people wrote is read to it by its English meaning, and what it answers is said
// in the person's language, with some variety. It learns the meanings from the players.
type coach struct {
	mu sync.Mutex
	// meanings are the English of what was written, wordings what of a person an English
	// text stands for, originals the script's own text of what was said.
	meanings  map[string]string
	wordings  map[string]map[string]string
	originals map[string]string
	languages map[string]string         // by a person's name
	turns     map[string]map[string]int // how often each sentence was said to a person
}

func newCoach(people []persona) *coach {
	c := &coach{meanings: map[string]string{}, wordings: map[string]map[string]string{}, originals: map[string]string{}, languages: map[string]string{}, turns: map[string]map[string]int{}}
	for _, p := range people {
		language, _, _ := strings.Cut(p.Who.Locale, "-")
		c.languages[p.Who.Name], c.wordings[p.Who.Name], c.turns[p.Who.Name] = language, map[string]string{}, map[string]int{}
	}
	return c
}

// learn notes what a text means before it is sent.
func (c *coach) learn(name, text, means string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if text == means {
		return
	}
	c.meanings[text] = means
	c.wordings[name][means] = text
}

var nameLine = regexp.MustCompile(`(?m)^Name: (.+)$`)

// answer implements the stand-in's Answer.
func (c *coach) answer(body []byte) (openai.Answer, error) {
	ask, err := openai.ReadRequest(body)
	if err != nil {
		return openai.Answer{}, err //nolint:wrapcheck // the model's own refusal
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	sent := ask.Prompt() // What is counted is what was sent, not its English meaning.
	name, language := c.readMessages(ask.Messages)
	h := fnv.New64a()
	_, _ = h.Write(body)
	id := fmt.Sprintf("%x", h.Sum64())
	answer, err := openai.FollowRequest(ask, id)
	answer.Prompt = sent
	if err != nil || name == "" {
		return answer, err //nolint:wrapcheck // the model's own refusal
	}
	answer = c.spareSave(name, answer)
	for i, call := range answer.Calls {
		if call.Function.Name != "save_user_profile" {
			continue
		}
		answer.Calls[i].Function.Arguments = c.inTheirWords(name, call.Function.Arguments)
	}
	if answer.Text != "" {
		said := sayIn(language, answer.Text, c.turns[name], sent)
		if asked, isThere := askedIn(ask); isThere && len(ask.Tools) > 0 {
			if acknowledges.MatchString(answer.Text) {
				said = ""
			}
			said = answerIn(language, asked, said, c.turns[name], sent)
		}
		if said != answer.Text {
			c.originals[said] = answer.Text
		}
		answer.Text = said
	}
	return answer, nil
}

// askedIn finds the question in what the person wrote since the coach did.
func askedIn(ask openai.Request) (sentence, bool) {
	for _, m := range slices.Backward(ask.Messages) {
		if m.Role == "assistant" && len(m.ToolCalls) == 0 {
			break
		}
		words, _, _ := strings.Cut(string(m.Content), marks.Notes)
		if asked, isThere := question(strings.TrimSpace(words)); isThere && m.Role == "user" {
			return asked, true
		}
	}
	return sentence{}, false
}

// readMessages puts each message into the words that the stand-in knows, and returns the
// name and the language of the person; no name where a stage asks.
func (c *coach) readMessages(messages []openai.Message) (name, language string) {
	language = "en"
	for i, m := range messages {
		text := string(m.Content)
		if found := nameLine.FindStringSubmatch(text); found != nil && name == "" && m.Role == "system" {
			name, language = found[1], c.languages[found[1]]
		}
		switch m.Role {
		case "assistant":
			for said, original := range c.originals {
				text = strings.ReplaceAll(text, said, original)
			}
			messages[i].Content = openai.Content(text)
		case "user":
			messages[i].Content = openai.Content(c.read(text))
		case "system":
			if name == "" { // A stage reads what was said; a reply reads the profile as it is.
				messages[i].Content = openai.Content(c.read(text))
			}
		}
	}
	return name, language
}

// spareSave answers a report at once, and saves it every fifth time only: a model that calls
// a tool for each of them is asked twice for each reply.
func (c *coach) spareSave(name string, answer openai.Answer) openai.Answer {
	text := ""
	for _, call := range answer.Calls {
		switch {
		case strings.Contains(call.Function.Arguments, "last_successful_prompt"):
			text = "Well done! I noted that this one worked for you: "
		case strings.Contains(call.Function.Arguments, "last_barrier"):
			text = "Thanks for telling me. I noted what got in the way. "
		case call.Function.Name != "transition_state":
			return answer
		}
	}
	if len(answer.Calls) == 0 {
		return answer
	}
	if text == "" {
		text = "Good to hear from you. Tell me how it goes."
	}
	if c.turns[name]["saves"]++; c.turns[name]["saves"]%5 == 0 {
		return answer
	}
	answer.Calls, answer.Text = nil, text
	return answer
}

// read puts the English meaning in the place of what was written, the longest first.
func (c *coach) read(text string) string {
	var found []string
	for written := range c.meanings {
		if strings.Contains(text, written) {
			found = append(found, written)
		}
	}
	slices.SortFunc(found, func(a, b string) int { return len(b) - len(a) })
	for _, written := range found {
		text = regexp.MustCompile(`(?m)(^|[\s"\]])`+regexp.QuoteMeta(written)+`($|[\s".,])`).ReplaceAllString(text, "${1}"+strings.ReplaceAll(c.meanings[written], "$", "$$")+"${2}")
	}
	return text
}

// inTheirWords saves what a person said as they said it.
func (c *coach) inTheirWords(name, arguments string) string {
	var args map[string]any
	if json.Unmarshal([]byte(arguments), &args) != nil {
		return arguments
	}
	for field, value := range args {
		if text, isText := value.(string); isText && c.wordings[name][text] != "" {
			args[field] = c.wordings[name][text]
		}
	}
	out, err := json.Marshal(args)
	if err != nil {
		return arguments
	}
	return string(out)
}
