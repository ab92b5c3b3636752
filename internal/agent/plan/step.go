package plan

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// headTool returns the tool that a line begins with, "" when it begins with
// none. The stop tool must be the whole line, since its name is a common word.
func headTool(text string, known Catalogue) string {
	name, rest := splitHead(text, known)
	if known.Stop != "" && name == known.Stop && strings.Trim(rest, "(). ") != "" {
		return ""
	}
	return name
}

// splitHead divides a line behind the known name that it begins with. Marks of
// emphasis and code around the name are dropped.
func splitHead(text string, known Catalogue) (name, rest string) {
	text = strings.TrimLeft(text, "*`")
	end := strings.IndexFunc(text, func(r rune) bool { return r == ' ' || r == '\t' || r == '(' })
	if end < 0 {
		end = len(text)
	}
	word := strings.TrimRight(text[:end], "*`")
	if known.isKnown(word) {
		return word, text[end:]
	}
	word = strings.TrimRight(word, ".,;:*`")
	if known.isKnown(word) {
		return word, text[end:]
	}
	return "", text
}

// toolsNamedIn lists the tools that any step names as a word of its own.
func toolsNamedIn(steps []Step, known Catalogue) []string {
	words := map[string]bool{}
	for _, step := range steps {
		words[step.Tool] = true
		for _, word := range strings.FieldsFunc(step.Text, func(r rune) bool { return !isNameRune(r) && r != '.' && r != '/' }) {
			words[strings.TrimRight(word, "./")] = true
		}
	}
	var names []string
	for _, spec := range known.Tools {
		if spec.Name != "" && words[spec.Name] && !slices.Contains(names, spec.Name) {
			names = append(names, spec.Name)
		}
	}
	return names
}

// argument is one argument as it is written in a step.
type argument struct {
	key, value string
	quoted     bool
}

var (
	keyHead = regexp.MustCompile(`^[\s,;]*([A-Za-z_][A-Za-z0-9_-]*)\s*=\s*`)
	// nextKey matches what may follow a value: another argument, or nothing
	// but the end of the step.
	nextKey = regexp.MustCompile(`^(?:\s*[,;]\s*|\s+)[A-Za-z_][A-Za-z0-9_-]*\s*=|^\s*[.,;)]?\s*$`)
)

// strictPairs reads the arguments of a step; ok is false when anything is left
// over that is no argument.
func strictPairs(text string) (pairs []argument, ok bool) {
	text = strings.TrimPrefix(strings.TrimSpace(text), ":")
	if inner, found := strings.CutPrefix(strings.TrimSpace(text), "("); found {
		if inner, found = strings.CutSuffix(strings.TrimRight(inner, ". "), ")"); !found {
			return nil, false
		}
		text = inner
	}
	for strings.Trim(text, " \t,;.") != "" {
		one, rest, found := readPair(text)
		if !found {
			return nil, false
		}
		pairs = append(pairs, one)
		text = rest
	}
	return pairs, true
}

// lenientPairs reads arguments up to what is none.
func lenientPairs(text string) []argument {
	var pairs []argument
	text = strings.TrimLeft(text, "(:`* \t")
	for {
		one, rest, ok := readPair(text)
		if !ok {
			return pairs
		}
		pairs = append(pairs, one)
		text = rest
	}
}

func readPair(text string) (one argument, rest string, ok bool) {
	match := keyHead.FindStringSubmatch(text)
	if match == nil {
		return argument{}, text, false
	}
	one.key, rest = match[1], text[len(match[0]):]
	opener, size := utf8.DecodeRuneInString(rest)
	if end, quoted := closing[opener]; quoted {
		one.quoted = true
		one.value, rest, ok = quotedValue(rest[size:], end)
		return one, rest, ok
	}
	end := strings.IndexAny(rest, " \t,;")
	if end < 0 {
		end = len(rest)
	}
	one.value = strings.TrimRight(rest[:end], ".)`*")
	return one, rest[end:], one.value != "" && !strings.ContainsAny(one.value, "'\"`“”‘’[]{}()=")
}

// quotedValue ends at the first closing mark that is followed by another
// argument or by the end, so that an apostrophe inside does not end it.
func quotedValue(text, end string) (value, rest string, ok bool) {
	for from := 0; ; {
		at := strings.Index(text[from:], end)
		if at < 0 {
			return "", text, false
		}
		at += from
		from = at + len(end)
		escaped := at > 0 && text[at-1] == '\\'
		if !escaped && nextKey.MatchString(text[from:]) {
			return strings.ReplaceAll(text[:at], `\`+end, end), text[from:], true
		}
	}
}
