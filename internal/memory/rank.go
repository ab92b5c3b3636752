package memory

import (
	"cmp"
	_ "embed"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/spanish"
	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/text/unicode/norm"

	"coachline/internal/text"
	"coachline/models"
)

const (
	// rankOffset keeps the first ranks of a list from outweighing all others, as
	// reciprocal rank fusion has it; small, for a person has dozens of facts.
	rankOffset = 5
	// likenessMargin is how much a fact must be nearer to a text than the person's
	// facts usually are. Models of embeddings differ in what they call near, so
	// there is no limit that holds for all.
	likenessMargin = 0.05
	// fewFacts is how many facts have a median of their own; missing ones count
	// as unlike.
	fewFacts = 4
	// fieldWeight is what a word of the same field counts beside the word itself,
	// relatedWeight one of a related field, partWeight one that is part of a longer word,
	// likeWeight one that is spelt alike; againWeight is for a further word of a field.
	fieldWeight, relatedWeight, partWeight, likeWeight, againWeight = 0.85, 0.2, 0.7, 0.2, 0.5
	// partChars is the least length of a word that counts as part of another.
	partChars = 5
	// leastCommon is the least part of their runs of three letters that two words have
	// in common.
	leastCommon = 0.5
)

// rankVectors returns the places of the rows that are nearer to a vector than the
// median of them by a margin, nearest first, with the cosines of all.
func rankVectors(rows []factRow, near []float32) (ranked []int, likeness []float64) {
	likeness = make([]float64, len(rows))
	var all []float64
	for i, row := range rows {
		if score, ok := cosineScore(row.Vector, near); ok {
			likeness[i] = score
			all = append(all, score)
		}
	}
	if len(all) == 0 {
		return nil, likeness
	}
	for len(all) < fewFacts {
		all = append(all, 0)
	}
	slices.Sort(all)
	least := all[len(all)/2] + likenessMargin
	if len(all)%2 == 0 {
		least = (all[len(all)/2-1]+all[len(all)/2])/2 + likenessMargin
	}
	for i := range rows {
		if likeness[i] >= least {
			ranked = append(ranked, i)
		}
	}
	slices.SortStableFunc(ranked, func(a, b int) int { return cmp.Compare(likeness[b], likeness[a]) })
	return ranked, likeness
}

// rankWords returns the places of the texts that share words or fields with a
// query, best first, and which of all hold one of its words. A word counts the more, the fewer texts hold it.
func rankWords(texts []string, query []string) (ranked []int, named []bool) {
	weights, named := weighTexts(texts, query)
	for i, weight := range weights {
		if weight > 0 {
			ranked = append(ranked, i)
		}
	}
	slices.SortStableFunc(ranked, func(a, b int) int { return cmp.Compare(weights[b], weights[a]) })
	return ranked, named
}

// weighTexts returns for each text the weight of what it shares with a query: of each
// word itself, or of its field or a related one where that weighs more; and which of them
// hold one of its words.
func weighTexts(texts []string, query []string) (weights []float64, named []bool) {
	held := make([][]*term, len(texts))
	fields := make([]map[int]float64, len(texts))
	counted := make([]map[int]bool, len(texts))
	holding := map[int]int{}
	for i, body := range texts {
		held[i] = newTerms(topicWords(body))
		fields[i], counted[i] = map[int]float64{}, map[int]bool{}
		for _, word := range held[i] {
			for _, field := range word.fields {
				fields[i][field] += word.sureness
			}
		}
		for field := range fields[i] {
			holding[field]++
		}
	}
	weights, named = make([]float64, len(texts)), make([]bool, len(texts))
	for _, word := range newTerms(queryWords(query)) {
		best := weighWord(held, word)
		near := word.nearFields()
		for i := range texts {
			named[i] = named[i] || best[i] > 0
			for field, weight := range near {
				if n := fields[i][field]; n > 0 {
					if counted[i][field] {
						weight *= againWeight
					}
					// A second word of a field in a text adds less than the first.
					best[i] = max(best[i], weight*3*n/(n+2)*rarity(holding[field], len(texts)))
				}
			}
			for field := range near {
				counted[i][field] = counted[i][field] || fields[i][field] > 0
			}
			weights[i] += best[i]
		}
	}
	return weights, named
}

// weighWord returns what a word itself weighs in each of some texts.
func weighWord(held [][]*term, word *term) []float64 {
	shares := make([]float64, len(held))
	holding := 0
	for i, words := range held {
		for _, other := range words {
			shares[i] = max(shares[i], word.shareWith(other))
		}
		if shares[i] > 0 {
			holding++
		}
	}
	for i := range shares {
		shares[i] *= rarity(holding, len(held))
	}
	return shares
}

// rarity is the more, the fewer of count texts hold a thing.
func rarity(holding, count int) float64 {
	return math.Log(1 + (float64(count-holding)+0.5)/(float64(holding)+0.5))
}

// term is a word without accents, with its stems, its runs of three letters and the
// fields that hold it. sureness is the less, the more fields that are.
type term struct {
	word     string
	stems    []string
	runs     map[[3]rune]bool
	fields   []int
	sureness float64
}

// stemmers are those of the languages that people write in, in the order of fieldLines. A
// text does not say which of them it is in.
var stemmers = []func(*snowballstem.Env) bool{english.Stem, german.Stem, spanish.Stem, french.Stem, portuguese.Stem}

// keptTerms are the terms of words that were met lately: people use the same ones again.
var keptTerms = sync.OnceValue(func() *lru.Cache[string, *term] {
	cache, err := lru.New[string, *term](20_000)
	if err != nil {
		panic(err) // for a size of none
	}
	return cache
})

// newTerms returns the terms of words.
func newTerms(words []string) []*term {
	kept, terms := keptTerms(), make([]*term, 0, len(words))
	for _, word := range words {
		t, known := kept.Get(word)
		if !known {
			t = newTerm(word)
			t.fields = fieldSet().of(t)
			t.sureness = 1 / math.Sqrt(float64(len(t.fields)))
			kept.Add(word, t)
		}
		terms = append(terms, t)
	}
	return terms
}

// newTerm returns a word with its stems. Endings are told apart by their accents, which
// people leave out: a word has its stems with and without them.
func newTerm(word string) *term {
	t := &term{word: withoutAccents(word), runs: map[[3]rune]bool{}}
	forms := []string{t.word}
	if word != t.word {
		forms = append(forms, word)
	}
	for _, form := range forms {
		for _, stem := range stemmers {
			env := snowballstem.NewEnv(form)
			stem(env)
			t.stems = append(t.stems, withoutAccents(env.Current()))
		}
	}
	letters := []rune(t.word)
	for i := 3; i <= len(letters); i++ {
		t.runs[[3]rune(letters[i-3:i])] = true
	}
	return t
}

// shareWith returns how far two words are the same: 1 for equal ones and those of one
// stem in a language, less for those that have most of their letters in common, such as
// parts of a longer word.
func (t *term) shareWith(other *term) float64 {
	if t.word == other.word || oneStem(t.word, other.word) {
		return 1
	}
	for i, stem := range t.stems {
		for j := i % len(stemmers); j < len(other.stems); j += len(stemmers) {
			if stem == other.stems[j] {
				return 1
			}
		}
	}
	a, b := t.word, other.word
	if len(a) > len(b) {
		a, b = b, a
	}
	if utf8.RuneCountInString(a) >= partChars && strings.Contains(b, a) {
		return partWeight
	}
	least := leastCommon * float64(len(t.runs)+len(other.runs))
	if float64(2*min(len(t.runs), len(other.runs))) < least {
		return 0
	}
	common := 0
	for run := range t.runs {
		if other.runs[run] {
			common++
		}
	}
	if float64(2*common) >= least && common > 1 {
		return likeWeight
	}
	return 0
}

// topicWords returns the words of a text that carry a topic.
func topicWords(body string) []string {
	return slices.DeleteFunc(wordRuns(body), text.IsStopWord)
}

// withoutAccents returns a word without the accents of its letters.
func withoutAccents(word string) string {
	if !strings.ContainsFunc(word, func(r rune) bool { return r > unicode.MaxASCII }) {
		return word
	}
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) && r < 0x0370 {
			return -1
		}
		return r
	}, norm.NFD.String(strings.ReplaceAll(word, "ß", "ss"))))
}

// fieldLines holds the fields, one a line: its name, the names of those related to it,
// and words of one thing in each language of stemmers.
//
//go:embed fields.txt
var fieldLines string

// wordFields are the places of the fields by word, and by stem with its language; related
// are the fields that lead to each other.
type wordFields struct {
	words   map[string][]int
	related [][]int
}

var fieldSet = sync.OnceValue(func() wordFields {
	lines := strings.Split(strings.TrimSpace(fieldLines), "\n")
	set := wordFields{words: map[string][]int{}, related: make([][]int, len(lines))}
	places := map[string]int{}
	for i, line := range lines {
		names, words, _ := strings.Cut(line, ":")
		places[strings.Fields(names)[0]] = i
		for language, some := range strings.Split(words, "|") {
			for _, word := range strings.Fields(some) {
				t := newTerm(word)
				for _, form := range []string{t.word, stemForm(language, t.stems[language])} {
					if !slices.Contains(set.words[form], i) {
						set.words[form] = append(set.words[form], i)
					}
				}
			}
		}
	}
	for i, line := range lines {
		names, _, _ := strings.Cut(line, ":")
		for _, name := range strings.Fields(names)[1:] {
			j := places[name]
			set.related[i] = append(set.related[i], j)
			set.related[j] = append(set.related[j], i)
		}
	}
	return set
})

// stemForm tells a stem from words, and from the stems of other languages.
func stemForm(language int, stem string) string { return string(rune('0'+language)) + stem }

// of returns the fields that hold a word: as it is, else by its stem in a language.
func (set wordFields) of(t *term) []int {
	if found, known := set.words[t.word]; known {
		return found
	}
	var found []int
	for i, stem := range t.stems {
		for _, field := range set.words[stemForm(i%len(stemmers), stem)] {
			if !slices.Contains(found, field) {
				found = append(found, field)
			}
		}
	}
	return found
}

// nearFields returns what the fields of a word and those related to them weigh.
func (t *term) nearFields() map[int]float64 {
	near := map[int]float64{}
	for _, field := range t.fields {
		for _, other := range fieldSet().related[field] {
			near[other] = relatedWeight
		}
	}
	for _, field := range t.fields {
		near[field] = fieldWeight
	}
	return near
}

// joinRanks joins the ranks by vector and by words to hits, best first. Score is
// 1 for a fact that is first in both.
func joinRanks(rows []factRow, near, worded []int, named []bool, likeness []float64) []models.FoundFact {
	scores := map[int]float64{}
	for _, ranked := range [][]int{near, worded} {
		for rank, i := range ranked {
			scores[i] += 1 / float64(rankOffset+1+rank)
		}
	}
	var found []models.FoundFact
	for i, row := range rows {
		if score := scores[i]; score > 0 {
			found = append(found, models.FoundFact{
				Fact: row.Fact, Score: score * (rankOffset + 1) / 2, Likeness: likeness[i],
				ByWords: !slices.Contains(near, i), ByField: !slices.Contains(near, i) && !named[i],
			})
		}
	}
	slices.SortStableFunc(found, func(a, b models.FoundFact) int { return cmp.Compare(b.Score, a.Score) })
	return found
}

// maxDimensions is more than any model of embeddings gives today.
const maxDimensions = 8192

// unitVector scales a vector to length 1, so that a product of two is their cosine.
// A vector without direction (nil, all zero) gives nil; one that is no vector
// is a *models.FieldError.
func unitVector(v []float32) ([]float32, error) {
	if len(v) > maxDimensions {
		return nil, models.BadField("vector", "must have at most %d dimensions", maxDimensions)
	}
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil, models.BadField("vector", "must hold numbers")
	}
	if sum == 0 {
		return nil, nil
	}
	length := math.Sqrt(sum)
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) / length)
	}
	return out, nil
}

// packVector encodes a vector of length 1 as it is stored: four bytes a number,
// the least significant first.
func packVector(v []float32) ([]byte, error) {
	v, err := unitVector(v)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, 4*len(v))
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out, nil
}

func unpackVector(packed []byte) []float32 {
	out := make([]float32, len(packed)/4)
	for i := range out {
		out[i] = numberAt(packed, i)
	}
	return out
}

func numberAt(packed []byte, i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(packed[4*i:]))
}

// cosineScore returns the cosine of a stored vector and one of length 1, where
// opposite directions count as unlike: 0..1. ok is false where the two cannot
// be compared.
func cosineScore(packed []byte, near []float32) (score float64, ok bool) {
	if len(near) == 0 || len(packed) != 4*len(near) {
		return 0, false
	}
	var sum float32
	for i, x := range near {
		sum += x * numberAt(packed, i)
	}
	return min(max(float64(sum), 0), 1), true
}
