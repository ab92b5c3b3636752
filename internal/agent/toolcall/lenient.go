package toolcall

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// deepest is how far values may be nested in text from a model.
const deepest = 32

// value is one JSON value found at the start of a text.
type value struct {
	json string // valid and compact
	rest string // what follows it
	// whole: every bracket was closed by the text itself.
	whole bool
}

// readValue reads the object or list at the start of a text. Valid JSON is
// taken as it is; otherwise names without quotes, single quotes, quotes and
// line breaks inside texts, trailing commas, Python's constants and missing
// closing brackets are repaired. What may have been cut off in the middle, a
// text without its end or a number as the last thing, is not read at all: a
// tool must not run with half of an argument.
func readValue(text string) (value, bool) {
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	if text == "" || (text[0] != '{' && text[0] != '[') {
		return value{}, false
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	var raw json.RawMessage
	if decoder.Decode(&raw) == nil {
		return value{json: compact(raw), rest: text[decoder.InputOffset():], whole: true}, true
	}
	r := jsonRepairer{text: text, whole: true}
	if !r.value(0) || !json.Valid([]byte(r.out.String())) {
		return value{}, false
	}
	return value{json: compact([]byte(r.out.String())), rest: r.text[r.at:], whole: r.whole}, true
}

func compact(raw []byte) string {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return string(raw)
	}
	return out.String()
}

// jsonRepairer writes the valid form of the value it reads.
type jsonRepairer struct {
	text  string
	at    int
	whole bool
	out   strings.Builder
}

func (r *jsonRepairer) space() {
	for r.at < len(r.text) {
		c, size := utf8.DecodeRuneInString(r.text[r.at:])
		if !unicode.IsSpace(c) {
			return
		}
		r.at += size
	}
}

// next is the next byte after white space; ok is false at the end.
func (r *jsonRepairer) next() (c byte, ok bool) {
	r.space()
	if r.at >= len(r.text) {
		return 0, false
	}
	return r.text[r.at], true
}

func (r *jsonRepairer) value(depth int) bool {
	c, ok := r.next()
	if !ok || depth > deepest {
		return false
	}
	switch c {
	case '{':
		return r.list(depth, '}')
	case '[':
		return r.list(depth, ']')
	case '"', '\'':
		text, ok := r.readQuoted(c)
		r.out.WriteString(encode(text))
		return ok
	}
	text, ok := r.bare(",]}\n")
	r.out.WriteString(text)
	return ok
}

// list reads the members of an object or a list up to its end or that of the
// text.
func (r *jsonRepairer) list(depth int, end byte) bool {
	r.out.WriteByte(r.text[r.at])
	r.at++
	for first := true; ; first = false {
		c, ok := r.next()
		for ok && c == ',' {
			r.at++
			c, ok = r.next()
		}
		if !ok || c == end {
			r.at = min(r.at+1, len(r.text))
			r.whole = r.whole && ok
			r.out.WriteByte(end)
			return true
		}
		if !first {
			r.out.WriteByte(',')
		}
		if end == '}' && !r.name() || !r.value(depth+1) {
			return false
		}
	}
}

// bareName is a member's name that was written without quotes.
var bareName = regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_.-]*`)

func (r *jsonRepairer) name() bool {
	var name string
	if c := r.text[r.at]; c == '"' || c == '\'' {
		text, ok := r.readQuoted(c)
		if !ok {
			return false
		}
		name = text
	} else {
		name = bareName.FindString(r.text[r.at:])
		r.at += len(name)
		if name == "" {
			return false
		}
	}
	c, ok := r.next()
	if !ok || (c != ':' && c != '=') {
		return false
	}
	r.at++
	r.out.WriteString(encode(name) + ":")
	return true
}

// readQuoted reads a text in quotes. A quote ends it only where a text can end,
// so that 'it's fine' is one text.
func (r *jsonRepairer) readQuoted(quote byte) (string, bool) {
	var out strings.Builder
	for r.at++; r.at < len(r.text); r.at++ {
		c := r.text[r.at]
		switch {
		case c == '\\' && r.at+1 < len(r.text):
			out.WriteString(r.escape())
		case c == quote && r.endsHere():
			r.at++
			return out.String(), true
		default:
			out.WriteByte(c)
		}
	}
	return "", false
}

func (r *jsonRepairer) endsHere() bool {
	after := strings.TrimLeft(r.text[r.at+1:], " \t")
	return after == "" || strings.ContainsRune(",:=}])\r\n", rune(after[0]))
}

// escape reads what follows a backslash and leaves the position on its last
// byte.
func (r *jsonRepairer) escape() string {
	if r.text[r.at+1] == 'u' && r.at+6 <= len(r.text) {
		var text string
		if json.Unmarshal([]byte(`"`+r.text[r.at:r.at+6]+`"`), &text) == nil {
			r.at += 5
			return text
		}
	}
	r.at++
	switch c := r.text[r.at]; c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'r', 'b', 'f':
		return ""
	default:
		return r.text[r.at : r.at+1]
	}
}

// bare reads a value without quotes up to one of stops, as JSON. It fails at
// the end of the text, where it may have been cut.
func (r *jsonRepairer) bare(stops string) (string, bool) {
	end := strings.IndexAny(r.text[r.at:], stops)
	if end <= 0 {
		return "", false
	}
	text := strings.TrimSpace(r.text[r.at : r.at+end])
	r.at += end
	if text == "" || strings.ContainsAny(text, "{}[]\"") {
		return "", false
	}
	return scalar(text), true
}

var number = regexp.MustCompile(`^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$`)

// scalar is a word, a number or a constant as JSON.
func scalar(text string) string {
	switch text {
	case "true", "True":
		return "true"
	case "false", "False":
		return "false"
	case "null", "None":
		return "null"
	}
	if number.MatchString(text) {
		return text
	}
	return encode(text)
}

// encode writes texts, and structs and maps of texts and valid JSON, which
// cannot fail; null stands for what never comes.
func encode(v any) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(v) != nil {
		return "null"
	}
	return strings.TrimSpace(out.String())
}
