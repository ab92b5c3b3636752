package plan

import (
	"cmp"
	"math"
	"slices"

	"coachline/models"
)

// byVector picks the nearest tools, at most maxPicks, that reach the least
// score. It fails when no tool does, or the vectors cannot be compared.
func byVector(found RouteEvidence, tools []models.ToolSpec) ([]string, bool) {
	type scored struct {
		name  string
		score float64
	}
	var near []scored
	for _, tool := range tools {
		score, ok := cosine(found.Query, found.Vectors[tool.Name])
		if ok && score >= found.MinScore {
			near = append(near, scored{tool.Name, score})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	picked := map[string]bool{}
	for _, one := range near[:min(len(near), maxPicks)] {
		picked[one.name] = true
	}
	return inOrder(tools, picked), len(picked) > 0
}

// cosine returns the cosine of the angle between two vectors. It reports false
// for vectors of different lengths, without a direction, or with values that
// are no numbers.
func cosine(a, b []float32) (float64, bool) {
	if len(a) != len(b) {
		return 0, false
	}
	var dot, normA, normB float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot += x * y
		normA += x * x
		normB += y * y
	}
	score := dot / (math.Sqrt(normA) * math.Sqrt(normB))
	if math.IsNaN(score) {
		return 0, false
	}
	return score, true
}
