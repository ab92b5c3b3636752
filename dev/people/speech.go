package main

import (
	_ "embed"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

//go:embed speech.yaml
var speechFile []byte

// sentence is a text of the stand-in's script in five languages.
type sentence struct {
	Of string   `yaml:"of"`
	EN []string `yaml:"en"`
	ES []string `yaml:"es"`
	DE []string `yaml:"de"`
	FR []string `yaml:"fr"`
	PT []string `yaml:"pt"`

	pattern *regexp.Regexp
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
		all[i].pattern = regexp.MustCompile(`(?s)` + all[i].Of)
	}
	return all
}()

// sayIn says a text of the script in a language, in another way each time; turn counts how
// often each sentence was said, and heard is what the person can still read: where that
// holds every way, two of them are said. What has no translation stays as it is.
func sayIn(language, text string, turn map[string]int, heard string) string {
	for _, s := range speech {
		groups := s.pattern.FindStringSubmatch(text)
		variants := s.in(language)
		if groups == nil || len(variants) == 0 {
			continue
		}
		said := pickNew(variants, turn[s.Of], heard)
		turn[s.Of]++
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
	return text
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
