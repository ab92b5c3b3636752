package openai

import (
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// minWord is the least length of a word that carries a topic, in characters.
const minWord = 3

// empty are English words that carry no topic: those of grammar, and those
// that people ask with.
var empty = strings.Fields(`about actually again all also always and any anything are ask asked because been before being but can cant
	could day days did didnt does doing done dont each earlier ever every everything for from get had has have her here him his how ill
	into ive just keep knew know last let lot made make may me mention mentioned more much must myself need never nor not nothing now
	off once one only other our out over please really recall remember said same say should since some something still such suggest
	tell than thank thanks that thats the their them then there these they theyre thing things think this those time times told too
	under until upon use used very want was way well were what whats when where which while who whom whose why will with without
	would yes yet you your yours`)

// keywords lists the distinct words of a text that carry its topic, lower-cased,
// in their order. Numbers alone are none.
func keywords(text string) []string {
	var out []string
	for _, word := range wordsOf(text) {
		letters := strings.ContainsFunc(word, unicode.IsLetter)
		if letters && utf8.RuneCountInString(word) >= minWord && !slices.Contains(empty, word) && !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

// wordsOf are the lower-cased runs of letters and digits; apostrophes leave no
// gap.
func wordsOf(text string) []string {
	text = strings.NewReplacer("'", "", "\u2019", "").Replace(strings.ToLower(text))
	return strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	})
}

// sameWords reports whether two texts have the same words in the same order.
func sameWords(a, b string) bool { return slices.Equal(wordsOf(a), wordsOf(b)) }

// sharedWords counts the words of one text that the other has too, with any ending.
func sharedWords(a, b string) int {
	n := 0
	others := stemsOf(b)
	for _, one := range stemsOf(a) {
		if slices.Contains(others, one) {
			n++
		}
	}
	return n
}

func stemsOf(text string) []string {
	var out []string
	for _, word := range keywords(text) {
		if one := stem(word); !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out
}

// minStem is the least that is left of a word without its ending, in bytes.
const minStem = 3

// stem takes off the commonest English endings, so that "walks", "walked" and
// "walking" meet "walk".
func stem(word string) string {
	for _, ending := range []string{"ing", "ed", "es", "s"} {
		short, found := strings.CutSuffix(word, ending)
		if !found || len(short) < minStem || strings.HasSuffix(word, "ss") {
			continue
		}
		if n := len(short); n > minStem && len(ending) > 1 && ending != "es" && short[n-1] == short[n-2] && !strings.HasSuffix(short, "ss") {
			short = short[:n-1]
		}
		word = short
		break
	}
	if short, found := strings.CutSuffix(word, "e"); found && len(short) >= minStem {
		return short
	}
	return word
}

// sentences divides a text at its lines and after full stops, question and
// exclamation marks; blank ones are left out.
func sentences(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		start := 0
		for i, r := range line {
			next := i + utf8.RuneLen(r)
			if strings.ContainsRune(".!?", r) && (next >= len(line) || line[next] == ' ' || line[next] == '\n') {
				out = append(out, line[start:next])
				start = next
			}
		}
		out = append(out, line[start:])
	}
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return slices.DeleteFunc(out, func(one string) bool { return one == "" })
}

// embedding stands in for an embedding: hashed words, with length 1. Texts of
// equal topic words are equal, texts that share some are near, and others are
// at right angles but for words that meet by chance. Dimensions is at least 1.
func embedding(text string, dimensions int) []float32 {
	list := stemsOf(text)
	if len(list) == 0 {
		list = append(wordsOf(text), "") // Without a topic the words themselves count.
	}
	sums := make([]float64, dimensions)
	for _, word := range list {
		h := fnv.New64a()
		_, _ = h.Write([]byte(word)) // never fails
		sum := h.Sum64()
		sums[sum%uint64(dimensions)] += 1 - 2*float64(sum>>63)
	}
	length := 0.0
	for _, v := range sums {
		length += v * v
	}
	length = math.Sqrt(length)
	vector := make([]float32, dimensions)
	if length == 0 {
		vector[0] = 1 // The words cancelled each other out.
		return vector
	}
	for i, v := range sums {
		vector[i] = float32(v / length)
	}
	return vector
}
