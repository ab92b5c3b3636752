package screening

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"

	"coachline/models"
)

const modelMagic = "CLSCR007"

// Model is all that is trained: a classifier of alerts, three that tell the
// dangers apart, and one of requests to end.
type Model struct {
	// Alert scores what may be a danger.
	Alert Linear
	// Kinds are the weights for the danger that an alert is about, in the order of
	// modelDangers.
	Kinds [3][]float32
	// Stop scores requests to end.
	Stop Linear
	// Thresholds are those of each language.
	Thresholds map[string]Thresholds
}

// Knots are the lengths of texts, in words, at which a threshold was chosen. Between two
// of them it follows the logarithm of the length: the best of many windows of a long
// text has a high score by chance.
var Knots = [...]int{4, 8, 16, 32, 64, 128}

// Thresholds are the least scores at which a text is looked at: Weak that of a window,
// at each of Knots, and Asked that of a stretch which may ask to end the messages.
type Thresholds struct {
	Weak  [len(Knots)]float32
	Asked float32
}

// WeakAt returns the least score of a weak sign in a text of so many words.
func (t *Thresholds) WeakAt(words int) float32 {
	for i, knot := range Knots {
		if words > knot {
			continue
		}
		if i == 0 {
			return t.Weak[0]
		}
		before := math.Log(float64(Knots[i-1]))
		share := float32((math.Log(float64(words)) - before) / (math.Log(float64(knot)) - before))
		return t.Weak[i-1] + share*(t.Weak[i]-t.Weak[i-1])
	}
	return t.Weak[len(Knots)-1]
}

// raiseTo takes the higher of each threshold and that of another language.
func (t *Thresholds) raiseTo(other Thresholds) {
	own, others := t.listNumbers(), other.listNumbers()
	for i, number := range own {
		*number = max(*number, *others[i])
	}
}

var modelDangers = [3]models.Danger{models.DangerSelfHarm, models.DangerHarm, models.DangerEmergency}

// NewModel returns a model without weights.
func NewModel() *Model {
	m := &Model{Thresholds: map[string]Thresholds{}}
	m.Alert.Weights = make([]float32, features)
	m.Stop.Weights = make([]float32, RequestFeatures)
	for i := range m.Kinds {
		m.Kinds[i] = make([]float32, KindFeatures)
	}
	return m
}

// weightSections lists the weights in the order of the file.
func (m *Model) weightSections() [][]float32 {
	return [][]float32{m.Alert.Weights, m.Kinds[0], m.Kinds[1], m.Kinds[2], m.Stop.Weights}
}

// otherNumbers lists what the file has beside the weights, in its order.
func (m *Model) otherNumbers() []*float32 {
	return []*float32{&m.Alert.Bias, &m.Stop.Bias}
}

func (t *Thresholds) listNumbers() []*float32 {
	numbers := []*float32{&t.Asked}
	for i := range t.Weak {
		numbers = append(numbers, &t.Weak[i])
	}
	return numbers
}

// Danger says what a stretch is most likely about.
func (m *Model) Danger(f *Features, s Stretch) models.Danger {
	best, danger := float32(math.Inf(-1)), models.DangerSelfHarm
	for i, weights := range m.Kinds {
		var sum float32
		f.Each(s.From, s.To, func(feature uint32) { sum += weights[feature%KindFeatures] })
		if sum > best {
			best, danger = sum, modelDangers[i]
		}
	}
	return danger
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
