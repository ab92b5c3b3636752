package plan

import (
	"slices"

	"coachline/models"
)

// Strategy is how tools are picked.
type Strategy string

const (
	// StrategyAuto: by words for a small catalogue, by a model for a larger one.
	StrategyAuto      Strategy = "auto"
	StrategyAll       Strategy = "all"
	StrategyKeyword   Strategy = "keyword"
	StrategyEmbedding Strategy = "embedding"
	StrategyModel     Strategy = "model"
)

// smallCatalogue is the most tools that are told apart by words.
const smallCatalogue = 9

// maxPicks bounds what a model or vectors may pick.
const maxPicks = 5

// Settle turns StrategyAuto, and a strategy that is not known, into the one
// for a catalogue of that many tools. The others stay as they are.
func (s Strategy) Settle(tools int) Strategy {
	switch s {
	case StrategyAll, StrategyKeyword, StrategyEmbedding, StrategyModel:
		return s
	case StrategyAuto:
	}
	if tools <= smallCatalogue {
		return StrategyKeyword
	}
	return StrategyModel
}

// RouteEvidence is what was found out for a selection outside this package. The
// zero value means that nothing could be: the selection falls back to words.
type RouteEvidence struct {
	// Answer is what the model wrote to RouterRequest; empty when the call failed.
	Answer string
	// Query and Vectors (by tool name) are embeddings of the text and of the
	// tools' descriptions; MinScore is the least cosine, 0..1.
	Query    []float32
	Vectors  map[string][]float32
	MinScore float64
}

// Selection is what a router picked, before anything is added to it.
type Selection struct {
	// Names are in the order of the catalogue, so that requests share their
	// beginning. Empty: only what is always offered.
	Names []string
	// By is the strategy that picked them; Fallback says that the one asked
	// for could not.
	By       Strategy
	Fallback bool
}

// SelectTools picks tools for a redacted text. A strategy that fails is
// followed by words, and words without a hit by the whole catalogue. A model
// that answered "none" picks nothing.
func SelectTools(strategy Strategy, in RouteInput, found RouteEvidence) Selection {
	strategy = strategy.Settle(len(in.Tools))
	var names []string
	ok := false
	switch strategy {
	case StrategyAll:
		return Selection{Names: toolNames(in.Tools), By: StrategyAll}
	case StrategyModel:
		names, ok = PickTools(found.Answer, in.Tools)
	case StrategyEmbedding:
		names, ok = byVector(found, in.Tools)
	case StrategyKeyword, StrategyAuto:
		names, ok = byWords(in.Query, in.Tools)
		if !ok {
			return Selection{Names: toolNames(in.Tools), By: StrategyAll}
		}
	}
	if ok {
		return Selection{Names: names, By: strategy}
	}
	fallback := SelectTools(StrategyKeyword, in, RouteEvidence{})
	fallback.Fallback = true
	return fallback
}

// RouteInput is what every strategy reads: the redacted text, and the tools
// that mode and channel permit.
type RouteInput struct {
	Query string
	Tools []models.ToolSpec
}

// PermittedTools narrows the tools of a mode to those of a channel, in the mode's
// order. A nil channel list permits all of them, an empty one none.
func PermittedTools(mode []models.ToolSpec, channel []string) []models.ToolSpec {
	if channel == nil {
		return mode
	}
	var out []models.ToolSpec
	for _, tool := range mode {
		if slices.Contains(channel, tool.Name) {
			out = append(out, tool)
		}
	}
	return out
}

func toolNames(tools []models.ToolSpec) []string {
	names := make([]string, 0, len(tools))
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	return names
}

// Distinct lists names without their repetitions, in their order.
func Distinct(names []string) []string {
	var out []string
	for _, name := range names {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// inOrder lists the tools whose names are in picked, in the catalogue's order,
// each once.
func inOrder(tools []models.ToolSpec, picked map[string]bool) []string {
	var names []string
	for _, tool := range tools {
		if picked[tool.Name] && !slices.Contains(names, tool.Name) {
			names = append(names, tool.Name)
		}
	}
	return names
}
