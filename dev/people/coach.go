package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
	"sync"

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
	languages map[string]string // by a person's name
	calls     []modelCall
}

// modelCall is a request that the model got.
type modelCall struct {
	Name  string
	Stage string
}

func newCoach(people []persona) *coach {
	c := &coach{meanings: map[string]string{}, wordings: map[string]map[string]string{}, originals: map[string]string{}, languages: map[string]string{}}
	for _, p := range people {
		language, _, _ := strings.Cut(p.Who.Locale, "-")
		c.languages[p.Who.Name], c.wordings[p.Who.Name] = language, map[string]string{}
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
	name, language := "", "en"
	for i, m := range ask.Messages {
		text := string(m.Content)
		if found := nameLine.FindStringSubmatch(text); found != nil && name == "" && m.Role == "system" {
			name, language = found[1], c.languages[found[1]]
		}
		switch m.Role {
		case "assistant":
			for said, original := range c.originals {
				text = strings.ReplaceAll(text, said, original)
			}
			ask.Messages[i].Content = openai.Content(text)
		case "user", "system":
			ask.Messages[i].Content = openai.Content(c.read(text))
		}
	}
	h := fnv.New64a()
	_, _ = h.Write(body)
	answer, err := openai.FollowRequest(ask, fmt.Sprintf("%x", h.Sum64()))
	if err != nil || name == "" {
		return answer, err //nolint:wrapcheck // the model's own refusal
	}
	for i, call := range answer.Calls {
		answer.Calls[i].Function.Arguments = c.inTheirWords(name, call.Function.Arguments)
	}
	if answer.Text != "" {
		said := sayIn(language, answer.Text, h.Sum64())
		if said != answer.Text {
			c.originals[said] = answer.Text
		}
		answer.Text = said
	}
	return answer, nil
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
