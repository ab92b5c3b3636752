package advice

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"

	"coachline/internal/screening"
)

// FeatureCount is how many features each part of the score has.
const FeatureCount = 1 << 18

// Vector is what is read of a draft and the texts before it: features with their values,
// those of the draft alone first.
type Vector struct {
	At    []uint32
	Value []float32
	own   int
}

// Draft returns what is read of the draft alone.
func (v Vector) Draft() Vector { return Vector{v.At[:v.own], v.Value[:v.own], v.own} }

// The parts of a vector have these lengths: the words, the concepts and the senses of the
// draft, and those of what the person said.
const (
	draftWords, draftConcepts, draftSenses = 1, 0.6, 1
	saidWords, saidConcepts, saidSenses    = 0.4, 0.5, 0.5
	saidSalt                               = 0x5bd1e995
)

// addAll adds features that share a length.
func (v *Vector) addAll(features []uint32, length float64) {
	value := float32(length / math.Sqrt(float64(max(1, len(features)))))
	for _, feature := range features {
		v.At, v.Value = append(v.At, feature&(FeatureCount-1)), append(v.Value, value)
	}
}

// ReadDraft reads a draft and what the person said before it: the words by those of
// screening, and what they are about and mean in one form for all languages.
func ReadDraft(said, draft string) Vector {
	var v Vector
	c := readConcepts()
	v.addAll(hashText(draft, 0), draftWords)
	clauses := foldWords(draft)
	words := slices.Concat(clauses...)
	found := c.hashIn(words, "draft")
	for n, clause := range clauses {
		in := c.findIn(clause)
		for i, name := range c.names {
			if !in[i] {
				continue
			}
			if n == 0 {
				found = append(found, hashNames("first", name))
			}
			for j := i + 1; j < len(in); j++ {
				if in[j] {
					found = append(found, hashNames("beside", name, c.names[j]))
				}
			}
		}
	}
	v.addAll(found, draftConcepts)
	v.addAll(hashSenses(words, 0), draftSenses)
	v.own = len(v.At)
	v.addAll(hashText(said, saidSalt), saidWords)
	words = slices.Concat(foldWords(said)...)
	v.addAll(c.hashIn(words, "said"), saidConcepts)
	v.addAll(hashSenses(words, saidSalt), saidSenses)
	return v
}

// hashIn returns which concepts some words speak of.
func (c *concepts) hashIn(words []string, part string) (out []uint32) {
	for i, isIn := range c.findIn(words) {
		if isIn {
			out = append(out, hashNames(part, c.names[i]))
		}
	}
	return out
}

func hashText(body string, salt uint32) (out []uint32) {
	f := screening.ReadFeatures(body)
	f.Each(0, f.Len(), func(feature uint32) {
		mixed := feature*2654435761 + salt
		out = append(out, mixed^mixed>>16)
	})
	return out
}

func hashNames(names ...string) uint32 {
	h := uint32(2166136261)
	for _, c := range []byte(strings.Join(names, "|")) {
		h = (h ^ uint32(c)) * 16777619
	}
	return mix(h)
}

func mix(h uint32) uint32 {
	h ^= h >> 15
	h *= 0x2c1b3c6d
	return h ^ h>>12
}

// Linear is a linear model over the features.
type Linear struct {
	Bias    float32
	Weights []float32
}

// Of returns the score of a vector.
func (l *Linear) Of(v Vector) float32 {
	sum := l.Bias
	for i, feature := range v.At {
		sum += l.Weights[feature] * v.Value[i]
	}
	return sum
}

// Score is what is trained: whether a draft is about something that a coach must be careful
// with, whether what it says there is harmful, and from which score a draft gets a look,
// by language.
type Score struct {
	Careful, Harmful Linear
	// Asks is of texts of people: whether one asks what answers it. Poses is of drafts
	// alone: whether one claims to be a person or to feel, or keeps the person by guilt.
	Asks, Poses Linear
	Thresholds  map[string]float32
}

// NewScore returns a score without weights.
func NewScore() *Score {
	s := &Score{Thresholds: map[string]float32{}}
	for _, l := range s.sections() {
		l.Weights = make([]float32, FeatureCount)
	}
	return s
}

// Of returns the score of a draft: the logarithm of the chance that both hold.
func (s *Score) Of(v Vector) float32 {
	return logChance(s.Careful.Of(v)) + logChance(s.Harmful.Of(v))
}

func logChance(x float32) float32 { return -float32(math.Log1p(math.Exp(-float64(x)))) }

const magic = "CLADV003"

// sections lists what the file has, in its order.
func (s *Score) sections() []*Linear { return []*Linear{&s.Careful, &s.Harmful, &s.Asks, &s.Poses} }

// Encode writes a score with its weights rounded to 8 bits.
func (s *Score) Encode() []byte {
	out := []byte(magic)
	put := func(n float32) { out = binary.LittleEndian.AppendUint32(out, math.Float32bits(n)) }
	for _, language := range screening.Languages() {
		put(s.Thresholds[language])
	}
	for _, l := range s.sections() {
		var largest float32
		for _, w := range l.Weights {
			largest = max(largest, w, -w)
		}
		scale := max(largest, 1e-6) / 127
		put(l.Bias)
		put(scale)
		for _, w := range l.Weights {
			out = append(out, byte(int8(math.Round(float64(w/scale)))))
		}
	}
	return out
}

// DecodeScore reads what Encode wrote.
func DecodeScore(data []byte) (*Score, error) {
	s := NewScore()
	if len(data) != len(magic)+4*len(screening.Languages())+len(s.sections())*(8+FeatureCount) || string(data[:len(magic)]) != magic {
		return nil, errors.New("weights.bin does not belong to this program: train it again")
	}
	data = data[len(magic):]
	get := func() float32 {
		n := math.Float32frombits(binary.LittleEndian.Uint32(data))
		data = data[4:]
		return n
	}
	for _, language := range screening.Languages() {
		s.Thresholds[language] = get()
	}
	for _, l := range s.sections() {
		l.Bias = get()
		scale := get()
		for i := range l.Weights {
			l.Weights[i] = float32(int8(data[i])) * scale
		}
		data = data[FeatureCount:]
	}
	return s, nil
}

//go:embed weights.bin
var weightsFile []byte

var score = sync.OnceValue(func() *Score {
	s, err := DecodeScore(weightsFile)
	if err != nil {
		panic("advice: " + err.Error()) // a test reads the file
	}
	return s
})
