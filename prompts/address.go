package prompts

import (
	"bufio"
	"embed"
	"fmt"
	"strings"

	"golang.org/x/text/language"
)

// accented is how many characters two segments hold in UCS-2, where an accent that GSM-7
// lacks takes a text.
const accented = 130

// forms are how a person is addressed in languages that have two ways; limit is how long a
// message may be where accents make it UCS-2, 0: as long as in English.
var forms = map[string]struct {
	informal, formal string
	limit            int
}{
	"de": {`informally ("du")`, `formally ("Sie")`, 0}, "fr": {`informally ("tu")`, `formally ("vous")`, accented},
	"es": {`informally ("tú")`, `formally ("usted")`, accented},
	"pt": {`informally ("você")`, `formally ("o senhor" or "a senhora" only once they show which)`, accented},
}

// LimitOf is how many characters a message in the language of a locale may have; 0: as
// many as the instructions say.
func LimitOf(locale string) int {
	base, _ := language.Make(locale).Base()
	return forms[base.String()].limit
}

// formalWords holds, for a language, phrases of our texts and what they are where a person
// is addressed formally, a pair a line; the first that fits holds.
//
//go:embed formal
var formalWords embed.FS

// AddressOf says how a person of a locale is addressed, such as `informally ("du")`; empty
// where the language has one way.
func (l *Library) AddressOf(locale string) string {
	base, _ := language.Make(locale).Base()
	form := forms[base.String()]
	if l.facts.Formal {
		return form.formal
	}
	return form.informal
}

// toFormal returns what makes a text of a locale's folder formal; nil where nothing does.
func toFormal(folder string) (*strings.Replacer, error) {
	base, _ := language.Make(folder).Base()
	if forms[base.String()].formal == "" {
		return nil, nil //nolint:nilnil // the language has one way
	}
	file, err := formalWords.Open("formal/" + base.String() + ".tsv")
	if err != nil {
		return nil, fmt.Errorf("opening formal words: %w", err)
	}
	defer file.Close()
	var pairs []string
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		informal, formal, _ := strings.Cut(lines.Text(), "\t")
		pairs = append(pairs, informal, formal)
	}
	return strings.NewReplacer(pairs...), lines.Err()
}
