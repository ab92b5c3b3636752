package main

import (
	"cmp"
	_ "embed"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"coachline/internal/segments"
)

//go:embed speech.yaml
var speechFile []byte

// sentence is a text of the stand-in's script in five languages, or what answers a question
// that the script has no words for.
type sentence struct {
	Of string `yaml:"of"`
	// Asks is the English of the question in the place of Of, From the pattern of what in the
	// request the answer cites, Wants what any good answer has.
	Asks  string `yaml:"asks"`
	From  string `yaml:"from"`
	Wants string `yaml:"wants"`
	// IsRuled: a rule answers the question too, beside the coach.
	IsRuled bool `yaml:"ruled"`

	EN []string `yaml:"en"`
	ES []string `yaml:"es"`
	DE []string `yaml:"de"`
	FR []string `yaml:"fr"`
	PT []string `yaml:"pt"`

	pattern, from, wants *regexp.Regexp
}

func (s sentence) in(language string) []string {
	return map[string][]string{"en": s.EN, "es": s.ES, "de": s.DE, "fr": s.FR, "pt": s.PT}[language]
}

var speech = func() []sentence {
	var all []sentence
	if err := yaml.Unmarshal(speechFile, &all); err != nil {
		panic(err) // TestSpeech reads it.
	}
	for i := range all {
		all[i].pattern = regexp.MustCompile(`(?s)` + cmp.Or(all[i].Of, `^$`))
		all[i].from, all[i].wants = regexp.MustCompile(all[i].From), regexp.MustCompile(`(?i)`+all[i].Wants)
	}
	return all
}()

// sayIn says a text of the script in a language, in another way each time; turn counts how
// often each sentence was said, and heard is what the person can still read: where that
// holds every way, two of them are said. What has no translation stays as it is.
func sayIn(language, text string, turn map[string]int, heard string) string {
	for _, s := range speech {
		if groups := s.pattern.FindStringSubmatch(text); groups != nil && len(s.in(language)) > 0 {
			return s.say(language, groups, turn, heard)
		}
	}
	return text
}

// say fills the next way of saying a sentence with what was found for it.
func (s sentence) say(language string, groups []string, turn map[string]int, heard string) string {
	said := pickNew(s.in(language), turn[s.Of+s.Asks], heard)
	turn[s.Of+s.Asks]++
	for i, group := range groups {
		if i > 0 && strings.HasPrefix(group, "After") && !strings.HasPrefix(said, "{1}") {
			group = "after "
		}
		said = strings.ReplaceAll(said, "{"+strconv.Itoa(i)+"}", lower(language, group, said, i))
	}
	first := []rune(strings.TrimSpace(said))
	first[0] = unicode.ToUpper(first[0])
	return string(first)
}

// question finds the question in what a text means.
func question(means string) (sentence, bool) {
	for _, s := range speech {
		if s.Asks != "" && strings.HasSuffix(means, s.Asks) {
			return s, true
		}
	}
	return sentence{}, false
}

// acknowledges matches what the script says where it has nothing to say.
var acknowledges = regexp.MustCompile(`^(?:Thanks for your message|Good to hear from you)\.`)

// answerIn answers a question in a language, and goes on with what the script says of the
// rest, empty for nothing, where both fit into one text with one question at most.
func answerIn(language string, asked sentence, rest string, turn map[string]int, heard string) string {
	said := asked.say(language, asked.from.FindStringSubmatch(heard), turn, heard)
	both := said + " " + rest
	if rest == "" || strings.Count(both, "?") > 1 || segments.Count(both).Segments > 1 {
		return said
	}
	return both
}

func pickNew(variants []string, turn int, heard string) string {
	for i := range variants {
		if one := variants[(turn+i)%len(variants)]; !strings.Contains(heard, one) {
			return one
		}
	}
	n := len(variants)
	if n < 3 {
		return variants[turn%n]
	}
	return variants[turn%n] + " " + variants[(turn+1+turn/n%(n-1))%n]
}

// lower begins a group small where it stands inside of a sentence, but for German nouns.
func lower(language, group, said string, i int) string {
	if letters := []rune(group); len(letters) > 1 && !strings.HasPrefix(said, "{"+strconv.Itoa(i)+"}") && unicode.IsLower(letters[1]) && i > 1 && language != "de" {
		letters[0] = unicode.ToLower(letters[0])
		return string(letters)
	}
	return group
}
