package plan

import (
	"cmp"
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
