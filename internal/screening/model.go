package screening

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
)

const modelMagic = "CLSCR006"

// Model is all that is trained: a classifier of alerts, three that tell the
// dangers apart, and two of requests.
type Model struct {
	// Alert scores what may be a danger.
	Alert Linear
	// Kinds are the weights for the danger that an alert is about: self-harm, harm and
	// emergency.
	Kinds [3][]float32
	// Stop scores requests to end, and WrongNumber those who are another person.
	Stop, WrongNumber Linear
	// Thresholds are those of each language.
	Thresholds map[string]Thresholds
}

// Thresholds are the least scores that the training program chose. Screen reads none
// of them.
type Thresholds struct {
	TierB, TierA               float32 // of a window
	Unclear, Stop, WrongNumber float32 // of a stretch
}

// NewModel returns a model without weights.
func NewModel() *Model {
	m := &Model{Thresholds: map[string]Thresholds{}}
	m.Alert.Weights = make([]float32, features)
	m.Stop.Weights = make([]float32, RequestFeatures)
	m.WrongNumber.Weights = make([]float32, RequestFeatures)
	for i := range m.Kinds {
		m.Kinds[i] = make([]float32, KindFeatures)
	}
	return m
}

// weightSections lists the weights in the order of the file.
func (m *Model) weightSections() [][]float32 {
	return [][]float32{m.Alert.Weights, m.Kinds[0], m.Kinds[1], m.Kinds[2], m.Stop.Weights, m.WrongNumber.Weights}
}

// otherNumbers lists what the file has beside the weights, in its order.
func (m *Model) otherNumbers() []*float32 {
	return []*float32{&m.Alert.Bias, &m.Stop.Bias, &m.WrongNumber.Bias}
}

func (t *Thresholds) listNumbers() []*float32 {
	return []*float32{&t.TierB, &t.TierA, &t.Unclear, &t.Stop, &t.WrongNumber}
}

//go:embed weights.bin
var weightsFile []byte

var model = sync.OnceValue(func() *Model {
	m, err := DecodeModel(weightsFile)
	if err != nil {
		panic("screening: " + err.Error()) // a test reads the file
	}
	return m
})

// Encode writes a model with its weights rounded to 8 bits. Thresholds must have
// been chosen with a model that was encoded and decoded.
func (m *Model) Encode() []byte {
	out := []byte(modelMagic)
	put := func(numbers []*float32) {
		for _, n := range numbers {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(*n))
		}
	}
	put(m.otherNumbers())
	for _, language := range languages {
		thresholds := m.Thresholds[language]
		put(thresholds.listNumbers())
	}
	for _, weights := range m.weightSections() {
		var largest float32
		for _, w := range weights {
			largest = max(largest, w, -w)
		}
		scale := max(largest, 1e-6) / 127
		put([]*float32{&scale})
		for _, w := range weights {
			out = append(out, byte(int8(math.Round(float64(w/scale)))))
		}
	}
	return out
}

// DecodeModel reads what Encode wrote.
func DecodeModel(data []byte) (*Model, error) {
	m := NewModel()
	want := len(modelMagic) + 4*len(m.otherNumbers()) + 4*len(languages)*len((&Thresholds{}).listNumbers())
	for _, weights := range m.weightSections() {
		want += 4 + len(weights)
	}
	if len(data) != want || string(data[:len(modelMagic)]) != modelMagic {
		return nil, errors.New("weights.bin does not belong to this program: train it again")
	}
	data = data[len(modelMagic):]
	get := func(numbers []*float32) {
		for _, n := range numbers {
			*n = math.Float32frombits(binary.LittleEndian.Uint32(data))
			data = data[4:]
		}
	}
	get(m.otherNumbers())
	for _, language := range languages {
		var thresholds Thresholds
		get(thresholds.listNumbers())
		m.Thresholds[language] = thresholds
	}
	for _, weights := range m.weightSections() {
		var scale float32
		get([]*float32{&scale})
		if math.IsNaN(float64(scale)) {
			return nil, fmt.Errorf("weights.bin has a scale of %v: train it again", scale)
		}
		for i := range weights {
			weights[i] = float32(int8(data[i])) * scale
		}
		data = data[len(weights):]
	}
	return m, nil
}
