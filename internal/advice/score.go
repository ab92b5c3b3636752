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
const FeatureCount = 1 << 16

// Vector is what is read of a draft and the texts before it: features with their values.
type Vector struct {
	At    []uint32
	Value []float32
}

// The parts of a vector have these lengths: what the draft says, what the person said, and
// what both are about.
const draftShare, saidShare, conceptShare = 1, 0.4, 1.5

func (v *Vector) add(feature uint32, value float32) {
	v.At, v.Value = append(v.At, feature&(FeatureCount-1)), append(v.Value, value)
}

// addAll adds features that share a length.
func (v *Vector) addAll(features []uint32, length float64) {
	value := float32(length / math.Sqrt(float64(max(1, len(features)))))
	for _, feature := range features {
		v.add(feature, value)
	}
}

// ReadDraft reads a draft and what the person said before it: the words by those of
// screening, and what they are about in one form for all languages.
func ReadDraft(said, draft string) Vector {
	var v Vector
	v.addAll(hashText(draft, 0), draftShare)
	v.addAll(hashText(said, 0x5bd1e995), saidShare)
	c := readConcepts()
	var found []uint32
	note := func(names ...string) { found = append(found, hashNames(names...)) }
	for i, isIn := range c.findIn(slices.Concat(foldWords(said)...)) {
		if isIn {
			note("said", c.names[i])
		}
	}
	clauses := foldWords(draft)
	for i, isIn := range c.findIn(slices.Concat(clauses...)) {
		if isIn {
			note("draft", c.names[i])
		}
	}
	for n, clause := range clauses {
		in := c.findIn(clause)
		for i, name := range c.names {
			if !in[i] {
				continue
			}
			if n == 0 {
				note("first", name)
			}
			for j := i + 1; j < len(in); j++ {
				if in[j] {
					note("beside", name, c.names[j])
				}
			}
		}
	}
	v.addAll(found, conceptShare)
	return v
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
	// Asks is of texts of people: whether one asks what answers it.
	Asks       Linear
	Thresholds map[string]float32
}

// NewScore returns a score without weights.
func NewScore() *Score {
	return &Score{
		Careful: Linear{Weights: make([]float32, FeatureCount)}, Harmful: Linear{Weights: make([]float32, FeatureCount)}, Asks: Linear{Weights: make([]float32, FeatureCount)},
		Thresholds: map[string]float32{},
	}
}

// Of returns the score of a draft: the logarithm of the chance that both hold.
func (s *Score) Of(v Vector) float32 {
	return logChance(s.Careful.Of(v)) + logChance(s.Harmful.Of(v))
}

func logChance(x float32) float32 { return -float32(math.Log1p(math.Exp(-float64(x)))) }

const magic = "CLADV002"

// sections lists what the file has, in its order.
func (s *Score) sections() []*Linear { return []*Linear{&s.Careful, &s.Harmful, &s.Asks} }

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
