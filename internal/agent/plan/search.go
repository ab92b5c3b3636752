package plan

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"coachline/models"
)

// nothingFound must name no tool.
const nothingFound = "Nothing in the catalogue fits that. Go on with what is offered, or tell the person that it cannot be done here."

// SearchTools answers the tool search of a model: lines "name: description"
// of the tools that mode and channel permit and whose words meet the query,
// best first, at most five; a sentence without names when none does.
func SearchTools(query string, catalogue []models.ToolSpec) string {
	counts := countHits(query, catalogue)
	order := make([]int, 0, len(catalogue))
	for i, n := range counts {
		if n > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
	var lines []string
	for _, i := range order[:min(len(order), maxPicks)] {
		lines = append(lines, catalogue[i].Name+": "+shortDescription(catalogue[i].Description))
	}
	if len(lines) == 0 {
		return nothingFound
	}
	return strings.Join(lines, "\n")
}

// FoundTools reads the names that a result of a tool search brought up, in the
// order of the catalogue. Only lines that begin with a permitted name and a
// colon count, so a sentence changes nothing and a tool that mode or
// channel forbids is never added. Keep the union of all searches of a
// turn: the list only grows.
func FoundTools(result string, catalogue []models.ToolSpec) []string {
	picked := map[string]bool{}
	for line := range strings.Lines(result) {
		name, _, ok := strings.Cut(strings.TrimLeft(strings.TrimSpace(line), "-*• "), ":")
		if ok {
			picked[strings.TrimSpace(name)] = true
		}
	}
	return inOrder(catalogue, picked)
}

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
