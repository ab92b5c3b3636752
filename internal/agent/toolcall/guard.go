package toolcall

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"coachline/internal/text"
	"coachline/models"
)

// signPattern is a pattern that finds nothing in a text without any of some
// signs. Most answers hold none of them, and to see that costs next to nothing.
type signPattern struct {
	*regexp.Regexp
	signs string
}

func withSign(signs, pattern string) signPattern {
	return signPattern{regexp.MustCompile(pattern), signs}
}

// hasSign reports whether a text holds any of the signs.
func (p signPattern) hasSign(text string) bool { return strings.ContainsAny(text, p.signs) }

// MatchString reports whether the pattern matches; it and the next two methods
// are those of the pattern.
func (p signPattern) MatchString(text string) bool {
	return p.hasSign(text) && p.Regexp.MatchString(text)
}

func (p signPattern) FindStringIndex(text string) []int {
	if !p.hasSign(text) {
		return nil
	}
	return p.Regexp.FindStringIndex(text)
}

func (p signPattern) ReplaceAllString(text, by string) string {
	if !p.hasSign(text) {
		return text
	}
	return p.Regexp.ReplaceAllString(text, by)
}

var (
	// Marks of chat templates, which a server should have taken out.
	templateMark = withSign(`<[`, `(?i)<\|[a-z_]{1,40}\|>|</?s>|\[/?inst\]|<(?:start|end)_of_turn>`)
	// Lines that only the program writes.
	ownLine  = withSign(`[`, `(?im)^[ \t]*\[(?:tool (?:result|note)\b|the person writes\]|the conversation starts|nothing was sent)`)
	ownLines = withSign(`[`, `(?im)^[ \t]*\[(?:tool (?:result|note)\b|the person writes\]|the conversation starts|nothing was sent).*(?:\n|\z)`)
)

// passes bounds how often a text is cleaned before it counts as malformed;
// each wrapping that a model puts around its answer takes one.
const passes = 8

// cleanAnswer cleans a text until nothing changes any more, so that cleaning what
// it returns changes nothing. ok is false for what no person may see.
func cleanAnswer(answer string, tools toolSchemas) (words string, ok bool) {
	answer = strings.TrimSpace(answer)
	for range passes {
		next, _, _ := text.SplitThinking(answer)
		next = templateMark.ReplaceAllString(next, "")
		left := extractCalls(next, tools, false)
		if len(left.calls) > 0 || left.broken {
			return "", false
		}
		next = strings.TrimSpace(roleLabel.ReplaceAllString(ownLines.ReplaceAllString(left.words, ""), ""))
		if inner := unwrapJSON(next); inner != next {
			next = strings.TrimSpace(inner)
		} else {
			next = strings.TrimSpace(midlineReply(next))
		}
		if next == answer {
			return answer, !isMalformed(answer, tools)
		}
		answer = next
	}
	return "", false
}

// roleLabel is the name of the speaker that a model writes before its words.
var roleLabel = withSign(":\n", `(?i)\A(?:\*\*|__)?(?:(?:ai |habit )?coach|assistant|bot)(?:\*\*|__)?[ \t]*(?::(?:\*\*|__)?|\n)[ \t]*`)

// objectStart is where a JSON object may begin within a line.
var objectStart = withSign("{", `\{\s*["'][A-Za-z_]+["']\s*:`)

// midlineReply returns the text of a JSON reply that ends a text: a model was
// asked for words and gave both. Any other text comes back as it is.
func midlineReply(text string) string {
	at := objectStart.FindStringIndex(text)
	if at == nil {
		return text
	}
	read, ok := readValue(text[at[0]:])
	if !ok || !read.whole || strings.TrimSpace(read.rest) != "" {
		return text
	}
	if words := messageText(read.json); words != "" {
		return words
	}
	return text
}

// holdsProgram reports whether a text holds JSON that was written for a program:
// a call, or a reply that midlineReply could not take out.
func holdsProgram(text string) bool {
	for from := 0; from < len(text); {
		at := objectStart.FindStringIndex(text[from:])
		if at == nil {
			return false
		}
		start := from + at[0]
		from += at[1]
		read, ok := readValue(text[start:])
		if !ok {
			continue
		}
		if calls, ok := decodeCalls(read.json, anyName); ok && len(calls) > 0 || messageText(read.json) != "" {
			return true
		}
	}
	return false
}

// toolName is a name that is no word of a language.
var toolName = withSign("_", `[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+`)

// namedTool returns the first tool whose name stands in a text as a word.
func namedTool(text string, tools toolSchemas) string {
	if !toolName.hasSign(text) {
		return ""
	}
	for _, name := range toolName.FindAllString(text, -1) {
		if tools.hasTool(name) {
			return name
		}
	}
	return ""
}

// replyFields are the fields of a JSON answer that may hold its words, in
// order. "error" is none of them: it is not written for a person.
var replyFields = []string{"response", "message", "text", "content", "answer", "reply"}

// unwrapJSON returns the text in an answer that is one JSON object or one JSON
// string; any other answer comes back as it is.
func unwrapJSON(text string) string {
	text = strings.TrimSpace(text)
	var quoted string
	if strings.HasPrefix(text, `"`) && json.Unmarshal([]byte(text), &quoted) == nil {
		return quoted
	}
	read, ok := readValue(text)
	if !ok || !read.whole || strings.TrimSpace(read.rest) != "" {
		return text
	}
	if words := messageText(read.json); words != "" {
		return words
	}
	return text
}

// messageText returns the first reply field of a JSON object that holds words;
// "" for an object that reports an error.
func messageText(raw string) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(raw), &fields) != nil {
		return ""
	}
	if problem, ok := fields["error"]; ok && !slices.Contains([]string{"null", `""`, "false"}, string(problem)) {
		return ""
	}
	for _, name := range replyFields {
		var words string
		if json.Unmarshal(fields[name], &words) == nil && strings.TrimSpace(words) != "" {
			return words
		}
	}
	return ""
}

var (
	protocolWord = withSign(`_`, `(?i)^(?:tool_calls?\b|tool_code\b|tool_output\b|tool_result\b|function_call\b)`)
	callLiteral  = withSign(`_`, `(?i)["']?tool_calls?["']?[ \t]*[:=]`)
	unusedMark   = withSign(`<`, `(?i)<unused\d+>`)
	toolTag      = withSign(`<`, `(?i)</?(?:tool_|function[_=])`)
	dataLine     = withSign(`{[`, `(?m)^[ \t]*(?:\{[ \t]*["'}]|\[[ \t]*[{"]|\[\])`)
	dataStart    = withSign(`{[`, `^(?:\{|\[\s*[{"'\[]|\[\])`)
	noValue      = regexp.MustCompile(`(?i)^(?:null|undefined|nil|nan)[.!]?$`)
	onlyBrackets = regexp.MustCompile("^[\\s{}\\[\\]<>\"'`,|/\\\\]+$")
	programCall  = withSign(`(`, `\b[a-z]+(?:_[a-z0-9]+)+\(`)
	namedCall    = withSign(`(`, `\b([A-Za-z]\w*)\(`)
)

// isMalformed reports text that was written for a program. The rules for data
// read the beginning of the text and of its lines only, so that words which
// quote "location": are still words.
func isMalformed(words string, tools toolSchemas) bool {
	for _, pattern := range []signPattern{protocolWord, callLiteral, unusedMark, toolTag, dataStart, dataLine, programCall} {
		if pattern.MatchString(words) {
			return true
		}
	}
	if holdsProgram(words) {
		return true
	}
	if noValue.MatchString(words) || onlyBrackets.MatchString(words) {
		return true
	}
	if !namedCall.hasSign(words) {
		return false
	}
	for _, match := range namedCall.FindAllStringSubmatch(words, -1) {
		if tools.hasTool(match[1]) {
			return true
		}
	}
	return false
}

// Quotes finds calls in what participants and pages wrote, so that a model
// which repeats one does not make it. The zero value holds none.
type Quotes struct{ words func() []string }

// NewQuotes takes texts of participants and results of outside tools, which are
// read when a call is first looked for: most answers hold none. A call may be
// divided among several of them.
func NewQuotes(texts ...string) Quotes {
	return Quotes{words: sync.OnceValue(func() []string {
		var words []string
		for _, text := range texts {
			words = append(words, callWords(text)...)
		}
		return words
	})}
}

// shortValue is how many words of a long value are compared.
const shortValue = 6

// Hold reports whether a call stands in the texts: the name of its tool, and at
// least one argument with its value next to it. Fences, indentation, quotation
// marks and escapes make no difference. A call without arguments is held where
// its name is, unless the name is a word that people use.
func (q Quotes) Hold(call models.ToolCall) bool {
	name := callWords(call.Name)
	if len(name) == 0 || !q.hasWords(name) {
		return false
	}
	pairs := argumentPairs(call.Arguments)
	if len(pairs) == 0 {
		return strings.Contains(call.Name, "_")
	}
	return slices.ContainsFunc(pairs, q.hasWords)
}

// hasWords reports whether the texts hold some words in a row.
func (q Quotes) hasWords(words []string) bool {
	if q.words == nil {
		return false
	}
	held := q.words()
	for i := range len(held) - len(words) + 1 {
		if slices.Equal(held[i:i+len(words)], words) {
			return true
		}
	}
	return false
}

// escapes are those of a JSON string that stand for blanks.
var escapes = strings.NewReplacer(`\n`, " ", `\r`, " ", `\t`, " ")

// callWords divides a text into runs of letters, digits and underscores, in
// lower case and without invisible characters.
func callWords(text string) []string {
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, norm.NFKC.String(escapes.Replace(text)))
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// argumentPairs returns each argument that has a value, at any depth: its name
// and the first words of the value.
func argumentPairs(raw string) [][]string {
	var value any
	if json.Unmarshal([]byte(raw), &value) != nil {
		return nil
	}
	var out [][]string
	var visit func(name string, value any)
	visit = func(name string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for key, inner := range v {
				visit(key, inner)
			}
		case []any:
			for _, inner := range v {
				visit(name, inner)
			}
		case nil:
		default:
			words := callWords(encodeJSON(v))
			if len(words) > 0 {
				out = append(out, append(callWords(name), words[:min(len(words), shortValue)]...))
			}
		}
	}
	visit("", value)
	return out
}
