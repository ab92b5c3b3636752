package memory

import (
	"encoding/binary"
	"math"

	"coachline/models"
)

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
