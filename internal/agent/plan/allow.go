package plan

import (
	"slices"

	"coachline/models"
)

// AllowInput is what a turn's allow-list is made of: the router's
// selection, tools that the plan names, tools that failed a moment ago, tools
// that a search brought up, tools that the conversation had on offer already.
type AllowInput struct {
	Selection Selection
	Planned   []string
	Failed    []string
	Found     []string
	// Kept were on offer in an earlier turn of the conversation. They stay, so
	// that the tool list of a conversation only grows and the provider's prefix
	// cache holds.
	Kept []string
	// Catalogue is what mode and channel permit; nothing else gets in.
	Catalogue []models.ToolSpec
	// Always are offered in every mode and channel: stop and tool search, where
	// they exist.
	Always []string
}

// Allowed is the allow-list of a turn, and how it came about: "keyword",
// "keyword+carryover", "model+plan+carryover".
type Allowed struct {
	Names []string
	Label string
}

// AllowTools joins what was picked, planned, carried over and found, and keeps
// what mode and channel permit, in the order of the catalogue; Always comes
// last. The inputs stay as they are. The label tells only of names that were
// added.
func AllowTools(in AllowInput) Allowed {
	picked := map[string]bool{}
	add := func(names []string) bool {
		added := false
		for _, name := range names {
			known := slices.ContainsFunc(in.Catalogue, func(tool models.ToolSpec) bool { return tool.Name == name })
			if known && !picked[name] {
				picked[name] = true
				added = true
			}
		}
		return added
	}
	label := string(in.Selection.By)
	add(in.Selection.Names)
	// What failed comes before the plan, which is made with it, while
	// the label names the plan first.
	carried := add(in.Failed)
	if add(in.Planned) {
		label += "+plan"
	}
	if carried {
		label += "+carryover"
	}
	if add(in.Found) {
		label += "+search"
	}
	if add(in.Kept) {
		label += "+kept"
	}
	names := inOrder(in.Catalogue, picked)
	for _, name := range in.Always {
		if !hasItem(names, name) {
			names = append(names, name)
		}
	}
	return Allowed{Names: names, Label: label}
}
