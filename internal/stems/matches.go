package stems

import (
	"regexp/syntax"
	"slices"
)

// most bounds how many matches of a part are written out.
const most = 64

// matches are all strings that a part matches, wherever they may stand; none
// where they are too many.
func matches(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}
	case syntax.OpLiteral:
		return literal(re)
	case syntax.OpCharClass:
		return class(re.Rune)
	case syntax.OpCapture:
		return matches(re.Sub[0])
	case syntax.OpQuest:
		return either([]string{""}, matches(re.Sub[0]))
	case syntax.OpAlternate:
		return folded(re.Sub, either)
	case syntax.OpConcat:
		return folded(re.Sub, crossed)
	case syntax.OpNoMatch, syntax.OpAnyCharNotNL, syntax.OpAnyChar, syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
	}
	return nil
}

// folded puts the matches of all parts together.
func folded(parts []*syntax.Regexp, together func(a, b []string) []string) []string {
	all := matches(parts[0])
	for _, part := range parts[1:] {
		all = together(all, matches(part))
	}
	return all
}

func literal(re *syntax.Regexp) []string {
	if re.Flags&syntax.FoldCase != 0 {
		return nil
	}
	return []string{string(re.Rune)}
}

// class writes out characters that are given as pairs of bounds.
func class(bounds []rune) []string {
	var all []string
	for i := 0; i < len(bounds); i += 2 {
		for r := bounds[i]; r <= bounds[i+1]; r++ {
			if len(all) == most {
				return nil
			}
			all = append(all, string(r))
		}
	}
	return all
}

func either(a, b []string) []string {
	if a == nil || b == nil || len(a)+len(b) > most {
		return nil
	}
	return slices.Concat(a, b)
}

func crossed(heads, tails []string) []string {
	if heads == nil || tails == nil || len(heads)*len(tails) > most {
		return nil
	}
	all := make([]string, 0, len(heads)*len(tails))
	for _, head := range heads {
		for _, tail := range tails {
			all = append(all, head+tail)
		}
	}
	return all
}
