package toolcall

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"coachline/models"
)

// Quotes finds calls in what participants and pages wrote, so that a model
// which repeats one does not make it. The zero value holds none.
type Quotes struct{ words func() []string }

// NewQuotes takes texts of participants and results of outside tools, which are
// read when a call is first looked for: most answers hold none. A call may be
// divided among several of them.
func NewQuotes(texts ...string) Quotes {
	return Quotes{words: sync.OnceValue(func() []string {
		var words []string
		for _, text := range texts {
			words = append(words, callWords(text)...)
		}
		return words
	})}
}

// shortValue is how many words of a long value are compared.
const shortValue = 6

// Hold reports whether a call stands in the texts: the name of its tool, and at
// least one argument with its value next to it. Fences, indentation, quotation
// marks and escapes make no difference. A call without arguments is held where
// its name is, unless the name is a word that people use.
func (q Quotes) Hold(call models.ToolCall) bool {
	name := callWords(call.Name)
	if len(name) == 0 || !q.hasWords(name) {
		return false
	}
	pairs := argumentPairs(call.Arguments)
	if len(pairs) == 0 {
		return strings.Contains(call.Name, "_")
	}
	return slices.ContainsFunc(pairs, q.hasWords)
}

// hasWords reports whether the texts hold some words in a row.
func (q Quotes) hasWords(words []string) bool {
	if q.words == nil {
		return false
	}
	held := q.words()
	for i := range len(held) - len(words) + 1 {
		if slices.Equal(held[i:i+len(words)], words) {
			return true
		}
	}
	return false
}

// escapes are those of a JSON string that stand for blanks.
var escapes = strings.NewReplacer(`\n`, " ", `\r`, " ", `\t`, " ")

// callWords divides a text into runs of letters, digits and underscores, in
// lower case and without invisible characters.
func callWords(text string) []string {
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, norm.NFKC.String(escapes.Replace(text)))
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// argumentPairs returns each argument that has a value, at any depth: its name
// and the first words of the value.
func argumentPairs(raw string) [][]string {
	var value any
	if json.Unmarshal([]byte(raw), &value) != nil {
		return nil
	}
	var out [][]string
	var visit func(name string, value any)
	visit = func(name string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for key, inner := range v {
				visit(key, inner)
			}
		case []any:
			for _, inner := range v {
				visit(name, inner)
			}
		case nil:
		default:
			words := callWords(encodeJSON(v))
			if len(words) > 0 {
				out = append(out, append(callWords(name), words[:min(len(words), shortValue)]...))
			}
		}
	}
	visit("", value)
	return out
}
