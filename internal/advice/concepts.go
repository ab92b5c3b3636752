package advice

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

//go:embed concepts.tsv
var conceptsFile string

// phrase is words in a row that stand for a concept; isStem says that the last may go on.
type phrase struct {
	concept int
	words   []string
	isStem  bool
}

// concepts are what words of five languages are about, in one form for all of them.
type concepts struct {
	names []string
	// whole are phrases by their first word, stems those of one word that may go on.
	whole, stems map[string][]phrase
}

var readConcepts = sync.OnceValue(func() *concepts {
	out := &concepts{whole: map[string][]phrase{}, stems: map[string][]phrase{}}
	for line := range strings.Lines(conceptsFile) {
		name, list, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		out.names = append(out.names, name)
		for entry := range strings.SplitSeq(list, ",") {
			stem, isStem := strings.CutSuffix(strings.TrimSpace(entry), "*")
			p := phrase{len(out.names) - 1, strings.Fields(stem), isStem}
			if len(p.words) == 1 && isStem {
				out.stems[stem] = append(out.stems[stem], p)
			} else {
				out.whole[p.words[0]] = append(out.whole[p.words[0]], p)
			}
		}
	}
	return out
})

// findIn says which concepts some words speak of.
func (c *concepts) findIn(words []string) []bool {
	in := make([]bool, len(c.names))
	for at, word := range words {
		for _, p := range c.whole[word] {
			in[p.concept] = in[p.concept] || p.begins(words[at:])
		}
		for end := 2; end <= len(word); end++ {
			for _, p := range c.stems[word[:end]] {
				in[p.concept] = true
			}
		}
	}
	return in
}

// begins reports whether words begin with the phrase.
func (p phrase) begins(words []string) bool {
	if len(words) < len(p.words) {
		return false
	}
	for i, word := range p.words {
		isOpen := p.isStem && i == len(p.words)-1 && strings.HasPrefix(words[i], word)
		if words[i] != word && !isOpen {
			return false
		}
	}
	return true
}

// foldWords returns the words of each clause of a text in small letters without accents.
func foldWords(body string) [][]string {
	var clauses [][]string
	var clause []string
	var word []byte
	endWord := func() {
		if len(word) > 0 {
			clause, word = append(clause, string(word)), word[:0]
		}
	}
	for _, r := range norm.NFKD.String(body) + "\n" {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r):
			word = append(word, string(unicode.ToLower(r))...)
		case unicode.Is(unicode.Mn, r):
		default:
			endWord()
			if strings.ContainsRune(".!?;:\n", r) && len(clause) > 0 {
				clauses, clause = append(clauses, clause), nil
			}
		}
	}
	return clauses
}
