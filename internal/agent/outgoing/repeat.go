package outgoing

import (
	"slices"
	"strings"

	"coachline/internal/text"
)

const (
	// overlap is the share of words from which two texts say the same.
	overlap = 0.8
	// nearest is how many of the newest replies a text is compared with word by word.
	nearest = 5
	// leastSame is the least number of words of a text that repeats another: "Nice!"
	// may come twice.
	leastSame = 3
	// fixedRun is how many words in a row a reply and a fixed text do not share.
	fixedRun = 8
)

// isAgain reports whether a text was said before: word by word in any of the
// messages, or nearly so in the newest five. A text with other numbers says another
// thing, such as a plan at a new time.
func isAgain(words string, said []string) bool {
	own := text.Words(words)
	if len(own) < leastSame {
		return false
	}
	for i, one := range slices.Backward(said) {
		other := text.Words(one)
		if slices.Equal(own, other) || i >= len(said)-nearest && share(own, other) >= overlap && slices.Equal(numbersIn(own), numbersIn(other)) {
			return true
		}
	}
	return false
}

// numbersIn returns the words that begin with a digit.
func numbersIn(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool { return word[0] < '0' || word[0] > '9' })
}

// SaysSame reports whether two texts say the same, nearly word by word.
func SaysSame(a, b string) bool { return share(text.Words(a), text.Words(b)) >= overlap }

// isEcho reports whether a text says what the person wrote.
func isEcho(words string, written []string) bool {
	own := text.Words(words)
	return len(own) > leastSame && slices.ContainsFunc(written, func(one string) bool { return share(own, text.Words(one)) >= overlap })
}

// share returns the share of words that two texts have in common, of the words of
// both.
func share(a, b []string) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	count := map[string]int{}
	for _, word := range a {
		count[word]++
	}
	common := 0
	for _, word := range b {
		if count[word] > 0 {
			count[word]--
			common++
		}
	}
	return 2 * float64(common) / float64(len(a)+len(b))
}

// Fixed recognises the programme's fixed texts. It is safe for concurrent use.
type Fixed struct {
	whole map[string]bool
	runs  map[string]bool
}

// NewFixed reads fixed texts.
func NewFixed(texts []string) *Fixed {
	out := &Fixed{whole: map[string]bool{}, runs: map[string]bool{}}
	for _, one := range texts {
		words := text.Words(one)
		out.whole[strings.Join(words, " ")] = true
		for i := 0; i+fixedRun <= len(words); i++ {
			out.runs[strings.Join(words[i:i+fixedRun], " ")] = true
		}
	}
	return out
}

// Is reports whether a text is one of the fixed texts.
func (f *Fixed) Is(words string) bool {
	return f != nil && f.whole[strings.Join(text.Words(words), " ")]
}

// isIn reports whether a text is a fixed text or shares fixedRun words in a row with
// one.
func (f *Fixed) isIn(words string) bool {
	if f == nil {
		return false
	}
	own := text.Words(words)
	if f.whole[strings.Join(own, " ")] {
		return true
	}
	for i := 0; i+fixedRun <= len(own); i++ {
		if f.runs[strings.Join(own[i:i+fixedRun], " ")] {
			return true
		}
	}
	return false
}

const (
	// longestUnit is the most words of a group that is said again and again.
	longestUnit = 8
	// mostWords and mostGroups are how often in a row one word and a group of words
	// may stand.
	mostWords, mostGroups = 3, 2
	// leastVaried is the share of different words in a text of manyWords.
	leastVaried, manyWords = 0.55, 12
)

// isRepetitive reports whether a text says the same words again and again.
func isRepetitive(words string) bool {
	own := text.Words(words)
	for unit := 1; unit <= longestUnit; unit++ {
		most := mostGroups
		if unit == 1 {
			most = mostWords
		}
		run := 1
		for i := unit; i+unit <= len(own); {
			if !slices.Equal(own[i-unit:i], own[i:i+unit]) {
				run, i = 1, i+1
				continue
			}
			if run++; run > most {
				return true
			}
			i += unit
		}
	}
	if len(own) < manyWords {
		return false
	}
	varied := map[string]bool{}
	for _, word := range own {
		varied[word] = true
	}
	return float64(len(varied)) < leastVaried*float64(len(own))
}
