package screening

import "math"

// The classifiers are linear models over hashed words, pairs of words and parts of
// words. That of alerts scores every window of a text of up to stretchWords words,
// and those of requests every stretch of that many words, or the text where it is
// shorter; the best one counts. A score is divided by the square root of the number
// of features. A score acts on nothing by itself.
const (
	featureBits  = 18
	features     = 1 << featureBits
	stretchWords = 12
	// KindFeatures is how many features tell the dangers apart.
	KindFeatures = 1 << 16
	// RequestFeatures is how many features tell requests.
	RequestFeatures = 1 << 17
)

// Features are the hashed features of a text, word by word. Of the pairs, those
// count whose words are both in a stretch.
type Features struct {
	words []wordFeatures
	all   []uint32
}

type wordFeatures struct {
	own   [2]int32 // a range of all
	pairs [len(pairReach)]uint32
}

// pairReach is how far before a word the other word of each of its pairs stands.
// The first pairs are of whole words, the others of how words begin.
var pairReach = [...]int{1, 2, 1, 2, 3, 4}

const (
	wholePairs = 2
	maxReach   = 4
	stemBytes  = 4
)

// Len returns how many words the text has.
func (f *Features) Len() int { return len(f.words) }

// Each calls yield with the features of the words from one position up to
// another, which is not included.
func (f *Features) Each(from, to int, yield func(uint32)) {
	for i := from; i < to; i++ {
		w := f.words[i]
		for _, feature := range f.all[w.own[0]:w.own[1]] {
			yield(feature)
		}
		for k, reach := range pairReach {
			if i-reach >= from {
				yield(w.pairs[k])
			}
		}
	}
}

// ReadFeatures gives the features of a text.
func ReadFeatures(body string) *Features {
	var t tokens
	t.readBody(body)
	f := &Features{}
	f.readTokens(&t)
	return f
}

const (
	hashStart = 2166136261
	hashPrime = 16777619
)

func hashBytes(h uint32, part []byte) uint32 {
	for _, c := range part {
		h = (h ^ uint32(c)) * hashPrime
	}
	return h
}

// mixHash mixes a hash so that all of its bits count.
func mixHash(h uint32) uint32 {
	h ^= h >> 15
	h *= 0x2c1b3c6d
	h ^= h >> 12
	h *= 0x297a2d39
	h ^= h >> 15
	return h & (features - 1)
}

func (f *Features) readTokens(t *tokens) {
	f.words, f.all = f.words[:0], f.all[:0]
	var space [3 * maxWord]byte
	var whole, stems [maxReach]uint32 // of the words before, the nearest first
	for i := 0; i < len(t.spans); {
		word := append(space[:0], '<')
		for first := true; i < len(t.spans) && (first || t.spans[i].isGlued); i++ {
			part := t.textAt(i)
			word = append(word, part[:min(len(part), maxWord)]...)
			word = word[:min(len(word), 2*maxWord)]
			first = false
		}
		switch {
		case isNumber(word[1:]):
			word = append(word[:1], '#')
		case longestRun(word) > 2:
			word = appendSqueezed(word[:0], word)
		}
		word = append(word, '>')
		from := int32(len(f.all))
		hash := hashBytes(hashStart, word)
		f.all = append(f.all, mixHash(hash))
		for size := 3; size <= 5; size++ {
			for at := 0; at+size <= len(word); at++ {
				f.all = append(f.all, mixHash(hashBytes(hashStart+uint32(size), word[at:at+size])))
			}
		}
		stem := hashBytes(hashStart, word[:min(len(word), 1+stemBytes)])
		w := wordFeatures{own: [2]int32{from, int32(len(f.all))}}
		for k, reach := range pairReach {
			if k < wholePairs {
				w.pairs[k] = mixHash(whole[reach-1]*31 + hash*17 + uint32(reach))
			} else {
				w.pairs[k] = mixHash(stems[reach-1]*37 + stem*19)
			}
		}
		f.words = append(f.words, w)
		copy(whole[1:], whole[:])
		copy(stems[1:], stems[:])
		whole[0], stems[0] = hash, stem
	}
}

// Linear is a linear model over hashed features: as many as it has weights, which
// is a power of two.
type Linear struct {
	Bias    float32
	Weights []float32
}

// Stretch is a part of a text and its score. Scale is what the weights of its
// features were divided by.
type Stretch struct {
	Score, Scale float32
	From, To     int
}

func (l *Linear) weightOf(feature uint32) float32 {
	return l.Weights[feature&uint32(len(l.Weights)-1)]
}

// Best gives the stretch of a text with the highest score.
func (l *Linear) Best(f *Features) Stretch {
	best := Stretch{Score: float32(math.Inf(-1)), Scale: 1}
	if len(f.words) == 0 {
		best.Score = 0
	}
	size := min(stretchWords, len(f.words))
	var sum float32
	count := 0
	// What the words of a stretch add by themselves, as a ring.
	var sums [stretchWords + 1]float32
	var counts [stretchWords + 1]int
	for end := range f.words {
		own, number := l.sumWord(f, end)
		sums[end%len(sums)], counts[end%len(sums)] = own, number
		sum, count = l.addPairs(f, end, max(0, end-size), sum+own, count+number)
		begin := end + 1 - size
		if begin < 0 {
			continue
		}
		if begin > 0 {
			own, number = sums[(begin-1)%len(sums)], counts[(begin-1)%len(sums)]
			sum, count = l.dropPairs(f, begin, end, sum-own, count-number)
		}
		root := float32(math.Sqrt(float64(count)))
		if s := sum / root; s > best.Score {
			best = Stretch{Score: s, Scale: root, From: begin, To: end + 1}
		}
	}
	best.Score += l.Bias
	return best
}

// shortWindow is taken from the score of a window of so many words, which says
// little.
var shortWindow = [stretchWords + 1]float32{1: 1.5, 2: 0.75, 3: 0.25}

// BestWindow gives the window of at most stretchWords words with the highest score.
// A window is scored as if it stood alone, and a text alone is one of its windows:
// what stands around a statement takes nothing from its score.
func (l *Linear) BestWindow(f *Features) Stretch {
	best := Stretch{Score: float32(math.Inf(-1)), Scale: 1}
	if len(f.words) == 0 {
		best.Score = 0
	}
	// The windows that end with a word, by where they begin, as a ring.
	var sums [stretchWords]float32
	var counts [stretchWords]int
	for end := range f.words {
		adds, numbers := l.addedSums(f, end)
		sums[end%stretchWords], counts[end%stretchWords] = 0, 0
		for begin := max(0, end+1-stretchWords); begin <= end; begin++ {
			at, before := begin%stretchWords, min(end-begin, maxReach)
			sums[at] += adds[before]
			counts[at] += numbers[before]
			root := float32(math.Sqrt(float64(counts[at])))
			if s := sums[at]/root - shortWindow[end-begin+1]; s > best.Score {
				best = Stretch{Score: s, Scale: root, From: begin, To: end + 1}
			}
		}
	}
	best.Score += l.Bias
	return best
}

// addedSums returns what a word adds to the sum and to the features of a window
// that ends with it, by how many words of the window stand before it.
func (l *Linear) addedSums(f *Features, at int) (sums [maxReach + 1]float32, counts [maxReach + 1]int) {
	sums[0], counts[0] = l.sumWord(f, at)
	for k, reach := range pairReach {
		if at >= reach {
			sums[reach] += l.weightOf(f.words[at].pairs[k])
			counts[reach]++
		}
	}
	for reach := 1; reach <= maxReach; reach++ {
		sums[reach] += sums[reach-1]
		counts[reach] += counts[reach-1]
	}
	return sums, counts
}

// addPairs adds the pairs of a word with words from a position on.
func (l *Linear) addPairs(f *Features, at, from int, sum float32, count int) (float32, int) {
	for k, reach := range pairReach {
		if at-reach >= from {
			sum, count = sum+l.weightOf(f.words[at].pairs[k]), count+1
		}
	}
	return sum, count
}

// dropPairs takes the pairs with the word before a position away.
func (l *Linear) dropPairs(f *Features, begin, end int, sum float32, count int) (float32, int) {
	for k, reach := range pairReach {
		if begin+reach-1 <= end {
			sum, count = sum-l.weightOf(f.words[begin+reach-1].pairs[k]), count-1
		}
	}
	return sum, count
}

// sumWord sums the weights of the features of one word and counts them.
func (l *Linear) sumWord(f *Features, i int) (float32, int) {
	var sum float32
	own := f.all[f.words[i].own[0]:f.words[i].own[1]]
	for _, feature := range own {
		sum += l.weightOf(feature)
	}
	return sum, len(own)
}
