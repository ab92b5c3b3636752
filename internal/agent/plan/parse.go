package plan

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"coachline/internal/text"
)

// lineLimit is how much of a line is read, in characters: more than a step
// keeps, and little enough that pairing quotes costs nothing.
const lineLimit = 2 * stepChars

// memoryDirective begins the line that asks for a search of memory.
const memoryDirective = "searchMemory"

var (
	// bullet and number are what a list puts before its items. A number needs
	// a space after its dot, so that "1.5 km" stays.
	bullet = regexp.MustCompile(`^(?:[-*•–—+]|\[[ xX]?\])\s+`)
	number = regexp.MustCompile(`^(?i:step\s+)?\(?\d{1,2}[.):]\s+`)
)

// Parse reads a planner's answer: one step a line, without bullets,
// numbers, quotes and fences, each cut at 200 characters, five at most. Tools
// are recognised by their exact names. An answer without a step, and one that
// does nothing but stop, is no plan.
func Parse(answer string, known Catalogue) Plan {
	var p Plan
	limit := maxSteps
	for _, line := range linesOf(answer) {
		body := tidyLine(line, known)
		topic, isMemory := memoryTopic(body)
		switch {
		case body == "":
		case !isMemory:
			body = text.Truncate(body, stepChars)
			p.Steps = append(p.Steps, Step{Text: body, Tool: headTool(body, known)})
		case !p.Recall:
			// The directive is a step too: together they are five at most.
			p.Recall, p.Topic = true, text.Truncate(topic, stepChars)
			limit--
		}
	}
	p.Steps = dropPreface(p.Steps)
	p.Steps = p.Steps[:min(len(p.Steps), limit)]
	p.Names = toolsNamedIn(p.Steps, known)
	p.Kind = kindOf(p, known)
	if p.Kind == KindEmpty {
		return Plan{Kind: KindEmpty}
	}
	return p
}

func kindOf(p Plan, known Catalogue) Kind {
	if len(p.Steps) == 0 && !p.Recall {
		return KindEmpty
	}
	if len(p.Steps) == 1 && !p.Recall && isReplyOnly(p.Steps[0].Text) {
		return KindReplyOnly
	}
	for _, step := range p.Steps {
		if known.Stop == "" || step.Tool != known.Stop {
			return KindSteps
		}
	}
	if p.Recall {
		return KindSteps
	}
	// Nothing but stop would end the exchange in silence.
	return KindEmpty
}

func isReplyOnly(text string) bool {
	return strings.EqualFold(strings.TrimRight(text, ".! "), strings.TrimRight(replyOnlyStep, "."))
}

// linesOf divides an answer; a JSON list of texts is a list of lines.
func linesOf(answer string) []string {
	answer = text.WithoutThinking(answer)
	var listed []string
	bare := strings.TrimSpace(strings.Trim(strings.TrimPrefix(answer, "```json"), "`"))
	if strings.HasPrefix(bare, "[") && json.Unmarshal([]byte(bare), &listed) == nil {
		answer = strings.Join(listed, "\n")
	}
	return strings.FieldsFunc(answer, func(r rune) bool { return r == '\n' || r == '\r' || r == '\u2028' })
}

// tidyLine takes a line out of its list and its quotes; a fence is empty.
func tidyLine(line string, known Catalogue) string {
	line = text.Truncate(strings.TrimSpace(line), lineLimit)
	if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
		return ""
	}
	// Models put lists into lists: "- 1. **Step 1:** walk".
	for range 3 {
		line = number.ReplaceAllString(bullet.ReplaceAllString(line, ""), "")
	}
	line = stripQuotes(strings.TrimSpace(line), known)
	if !strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return ""
	}
	return line
}

// closing gives the mark that ends what another one begins.
var closing = map[rune]string{'\'': "'", '"': `"`, '`': "`", '“': "”", '‘': "’", '«': "»"}

// stripQuotes takes the quotes off a line that stands wholly in them: nothing
// inside uses the same mark, or a tool stands right behind it.
func stripQuotes(line string, known Catalogue) string {
	opener, size := utf8.DecodeRuneInString(line)
	end, ok := closing[opener]
	if !ok || len(line) < size+len(end) || !strings.HasSuffix(line, end) {
		return line
	}
	inside := strings.TrimSpace(line[size : len(line)-len(end)])
	_, isMemory := memoryTopic(inside)
	if strings.Contains(inside, end) && headTool(inside, known) == "" && !isMemory {
		return line
	}
	return inside
}

// memoryTopic reads a line such as searchMemory topic='sleep habits'. A topic
// without quotes is its first word; without any topic it is empty, and the
// search goes by the person's text alone.
func memoryTopic(line string) (topic string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(line, "*`"), memoryDirective)
	if !ok || (rest != "" && isNameRune(firstRune(rest))) {
		return "", false
	}
	for _, pair := range lenientPairs(rest) {
		if strings.EqualFold(pair.key, "topic") {
			return strings.TrimSpace(pair.value), true
		}
	}
	return "", true
}

// dropPreface leaves out a line that only introduces the steps after it.
func dropPreface(steps []Step) []Step {
	if len(steps) > 1 && steps[0].Tool == "" && strings.HasSuffix(steps[0].Text, ":") {
		return steps[1:]
	}
	return steps
}

func firstRune(text string) rune {
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// isNameRune reports whether a character may be part of the name of a tool or
// an argument.
func isNameRune(r rune) bool {
	return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// minClause is the least length of either clause, in characters.
const minClause = 9

// conjunctions are the words that join two questions, by language.
// Languages that are not listed are not divided.
var conjunctions = map[string]*regexp.Regexp{
	"en": joinedBy("and"), "es": joinedBy("y|e"), "fr": joinedBy("et"), "de": joinedBy("und"),
	"pt": joinedBy("e"), "it": joinedBy("e|ed"), "nl": joinedBy("en"), "tr": joinedBy("ve"),
}

// languageTag matches what may be a language; anything else is read as English.
var languageTag = regexp.MustCompile(`^[a-z]{2,3}$`)

func joinedBy(words string) *regexp.Regexp { return regexp.MustCompile(`(?i)\s(?:` + words + `)\s`) }

// Split divides a text at its first conjunction into two clauses of at least
// nine characters each; nil when there is none. locale is the
// participant's; one that names no language is English.
func Split(query, locale string) []string {
	between, ok := conjunctions[languageOf(locale)]
	if !ok {
		return nil
	}
	at := between.FindStringIndex(query)
	if at == nil {
		return nil
	}
	first, second := trimClause(query[:at[0]]), trimClause(query[at[1]:])
	if utf8.RuneCountInString(first) < minClause || utf8.RuneCountInString(second) < minClause {
		return nil
	}
	return []string{first, second}
}

// languageOf returns the language of a locale; it is English where the locale
// names none.
func languageOf(locale string) string {
	primary, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(locale)), "_", "-"), "-")
	if !languageTag.MatchString(primary) || primary == "und" {
		return "en"
	}
	return primary
}

// trimClause takes blanks and commas off both ends of a clause.
func trimClause(text string) string { return strings.Trim(text, " \t\r\n,;") }

// clauseHint returns a note that counts the clauses which successful calls can
// have answered, and names those that are open; failed calls do not count.
func clauseHint(parts []string, past []Past) string {
	done := 0
	for _, one := range past {
		if !one.Result.Failed {
			done++
		}
	}
	if done >= len(parts) {
		return "[check] If anything that the person asked is still open, call the tool for it; otherwise answer now, in their language."
	}
	return fmt.Sprintf("[check] %d of %d answered, still open: %s", done, len(parts), strings.Join(parts[done:], "; "))
}
