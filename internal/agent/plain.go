package agent

import (
	"regexp"
	"strconv"
	"strings"
)

// Words turns a model's text into what a person reads on a phone: clean, and
// without markdown or the heading of the request, which small models write first. An empty
// result means that there is nothing to say.
func Words(text string) string { return Plain(answerHeading.ReplaceAllString(Clean(text), "$1")) }

var answerHeading = regexp.MustCompile(`(?i)^\s*(?:#+\s*)?(?:here is )?(?:your|the) answer(?:(?: is)?\s*:\s*|\s+\n?(?-i:([\p{Lu}¿¡])))`)

// The marks that make a line a block of its own. A number sign, a bullet or a
// quote needs its space, so "#1 goal" and "-5 degrees" are ordinary text.
var (
	heading      = regexp.MustCompile(`^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$`)
	rule         = regexp.MustCompile(`^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$`)
	setext       = regexp.MustCompile(`^ {0,3}={3,}[ \t]*$`)
	quoteLine    = regexp.MustCompile(`^ {0,3}>(?:[ \t]|$)`)
	nestedQuote  = regexp.MustCompile(`^ {0,3}>[> \t]*>(?:[ \t]|$)`)
	bullet       = regexp.MustCompile(`^[ \t]*[-*+][ \t]+(?:\[[ xX]\][ \t]+)?(\S.*)$`)
	emptyBullet  = regexp.MustCompile(`^[ \t]*[-*+](?:[ \t]+\[[ xX]\])?[ \t]*$`)
	numberedLine = regexp.MustCompile(`^[ \t]*(\d{1,9})\.[ \t]+(?:\[[ xX]\][ \t]+)?(\S.*)$`)
	fence        = regexp.MustCompile("^[ \t]*(`{3,}|~{3,})[ \t]*[\\w+#.-]*[ \t]*$")
	tableRule    = regexp.MustCompile(`^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)
	trailing     = regexp.MustCompile(`(?m)[ \t]+$`)
)

// listNumbers is the largest number of a list; a larger one begins a sentence:
// "2024. A good year".
const listNumbers = 99

// Plain turns markdown into plain text: the text stays, the marks go. Headings,
// quotes, bullets and task boxes lose their marks, numbered lists become
// "1) ...", tables "name: value, value", links "text address"; code keeps its
// content as it is, and HTML goes only where it is a tag that exists. Text
// without marks comes back as it was, apart from blanks at the ends of lines,
// so "x < 3 and y > 2", "2 * 3 * 4", "snake_case" and "__init__" stay.
func Plain(text string) string {
	var out strings.Builder
	var prose []string
	flush := func() {
		if len(prose) > 0 {
			out.WriteString(renderInline(strings.Join(prose, "\n")))
			out.WriteByte('\n')
			prose = nil
		}
	}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := stripQuote(lines[i])
		if end := fenceEnd(lines, i); end > i {
			flush()
			for _, code := range lines[i+1 : end] {
				out.WriteString(stripCodeQuote(code, line != lines[i]) + "\n")
			}
			i = end
			continue
		}
		if end := tableEnd(lines, i); end > i {
			prose = append(prose, tableRows(lines[i:end])...)
			i = end - 1
			continue
		}
		if kept, ok := renderLine(lines, i, line); ok {
			prose = append(prose, kept)
		}
	}
	flush()
	plain := strings.TrimRight(out.String(), " \t\n")
	if strings.Contains(plain, " \n") || strings.Contains(plain, "\t\n") {
		plain = trailing.ReplaceAllString(plain, "")
	}
	return strings.TrimSpace(squeezeBlankLines(plain))
}

// renderLine renders one line; ok is false for a line that is a mark and
// nothing else.
func renderLine(lines []string, i int, line string) (kept string, ok bool) {
	switch {
	case rule.MatchString(line):
		return "", true
	case setext.MatchString(line) && i > 0 && strings.TrimSpace(lines[i-1]) != "",
		emptyBullet.MatchString(line),
		strings.HasPrefix(line, "```") && fence.MatchString(line):
		return "", false
	}
	if m := heading.FindStringSubmatch(line); m != nil {
		return m[1], m[1] != ""
	}
	if m := bullet.FindStringSubmatch(line); m != nil {
		return m[1], true
	}
	if m := numberedLine.FindStringSubmatch(line); m != nil && isInList(lines, i) {
		return m[1] + ") " + m[2], true
	}
	return line, true
}

// stripQuote removes the marks of a quotation.
func stripQuote(line string) string {
	for quoteLine.MatchString(line) || nestedQuote.MatchString(line) {
		line = strings.TrimPrefix(line[strings.IndexByte(line, '>')+1:], " ")
	}
	return line
}

// stripCodeQuote removes the marks of a quotation from a line of code that
// stands in one.
func stripCodeQuote(line string, inQuote bool) string {
	if inQuote {
		return stripQuote(line)
	}
	return line
}

// fenceEnd finds the line that closes the code block opened at a line; 0 when
// none is opened or it is never closed.
func fenceEnd(lines []string, i int) int {
	open := fence.FindStringSubmatch(stripQuote(lines[i]))
	if open == nil {
		return 0
	}
	for end := i + 1; end < len(lines); end++ {
		mark := strings.TrimSpace(stripQuote(lines[end]))
		if len(mark) >= len(open[1]) && strings.Trim(mark, open[1][:1]) == "" {
			return end
		}
	}
	return 0
}

// isInList reports whether a number belongs to a list: the next numbered line
// above or below is one too. Blank and indented lines may lie between.
func isInList(lines []string, i int) bool {
	return isListItem(lines[i]) && (isListItem(findNeighbour(lines, i, -1)) || isListItem(findNeighbour(lines, i, 1)))
}

// findNeighbour returns the next numbered or unindented line in one direction,
// or an empty string.
func findNeighbour(lines []string, i, step int) string {
	for i += step; i >= 0 && i < len(lines); i += step {
		line := stripQuote(lines[i])
		if isListItem(line) || strings.TrimSpace(line) != "" && line[0] != ' ' && line[0] != '\t' {
			return line
		}
	}
	return ""
}

// isListItem reports whether a line begins with the number of a list.
func isListItem(line string) bool {
	m := numberedLine.FindStringSubmatch(stripQuote(line))
	if m == nil {
		return false
	}
	n, err := strconv.Atoi(m[1])
	return err == nil && n <= listNumbers
}

// tableEnd finds the line after the table that begins at a line; 0 when none
// does. A table has a row of names and below it a row of dashes and bars.
func tableEnd(lines []string, i int) int {
	if i+1 >= len(lines) || !strings.Contains(lines[i], "|") ||
		!strings.Contains(lines[i+1], "|") || !tableRule.MatchString(stripQuote(lines[i+1])) {
		return 0
	}
	end := i + 2
	for end < len(lines) && strings.Contains(lines[end], "|") {
		end++
	}
	return end
}

// tableRows renders a table: "first cell: second, third" for each row.
func tableRows(lines []string) []string {
	var rows []string
	for i, line := range lines {
		if i == 1 {
			continue
		}
		const escaped = "\x00"
		line = strings.ReplaceAll(strings.TrimSpace(stripQuote(line)), `\|`, escaped)
		var cells []string
		for _, cell := range strings.Split(line, "|") {
			if cell = strings.TrimSpace(strings.ReplaceAll(cell, escaped, "|")); cell != "" {
				cells = append(cells, cell)
			}
		}
		if len(cells) > 1 {
			cells = []string{strings.TrimSuffix(cells[0], ":") + ": " + strings.Join(cells[1:], ", ")}
		}
		rows = append(rows, strings.Join(cells, ""))
	}
	return rows
}
