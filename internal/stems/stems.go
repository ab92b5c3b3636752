package stems

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// Of returns strings of which every match of the pattern holds at least one;
// none where nothing is known. It panics where the pattern is malformed, as
// regexp.MustCompile does.
func Of(pattern string) []string {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic(err)
	}
	return least(needed(parsed.Simplify()))
}

// needed are strings of which every match of a part holds one.
func needed(re *syntax.Regexp) []string {
	if all := matches(re); all != nil {
		return better(nil, all)
	}
	switch re.Op { //nolint:exhaustive // of the others nothing is known but their matches
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0])
	case syntax.OpAlternate:
		return neededByAny(re.Sub)
	case syntax.OpConcat:
		return neededInRow(re.Sub)
	default:
		return nil
	}
}

// neededByAny: whichever of the parts matches, its own need is met.
func neededByAny(parts []*syntax.Regexp) []string {
	var all []string
	for _, part := range parts {
		need := needed(part)
		if need == nil {
			return nil
		}
		all = append(all, need...)
	}
	return all
}

// neededInRow: all parts match, so any need of theirs will do. Neighbours with
// few matches are read together, as in "(?:hurt|harm) myself".
func neededInRow(parts []*syntax.Regexp) []string {
	all := make([][]string, len(parts))
	for i, part := range parts {
		all[i] = matches(part)
	}
	var best []string
	for i, part := range parts {
		best = better(best, needed(part))
		row := all[i]
		for _, next := range all[i+1:] {
			row = crossed(row, next)
			best = better(best, row)
		}
	}
	return best
}

// better is the need that fewer texts meet, as far as can be told: one of long
// strings, then one of few. A need that every text meets is none.
func better(a, b []string) []string {
	if shortest(b) == 0 {
		return a
	}
	if long, longer := shortest(a), shortest(b); longer < long || longer == long && len(b) >= len(a) {
		return a
	}
	return b
}

// rare is the length at which a string is rare enough.
const rare = 8

func shortest(need []string) int {
	if len(need) == 0 {
		return 0
	}
	length := rare
	for _, text := range need {
		length = min(length, len(text))
	}
	return length
}

// least leaves out what holds another of the strings.
func least(need []string) []string {
	need = slices.Compact(slices.Sorted(slices.Values(need)))
	return slices.DeleteFunc(slices.Clone(need), func(text string) bool {
		return slices.ContainsFunc(need, func(other string) bool { return other != text && strings.Contains(text, other) })
	})
}
