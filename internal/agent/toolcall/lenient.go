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
		return value{json: compactJSON(raw), rest: text[decoder.InputOffset():], whole: true}, true
	}
	r := jsonRepairer{text: text, whole: true}
	if !r.repairValue(0) || !json.Valid([]byte(r.out.String())) {
		return value{}, false
	}
	return value{json: compactJSON([]byte(r.out.String())), rest: r.text[r.at:], whole: r.whole}, true
}

// compactJSON takes the blanks out of JSON; any other text comes back as it is.
func compactJSON(raw []byte) string {
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

func (r *jsonRepairer) skipSpace() {
	for r.at < len(r.text) {
		c, size := utf8.DecodeRuneInString(r.text[r.at:])
		if !unicode.IsSpace(c) {
			return
		}
		r.at += size
	}
}

// nextByte passes white space and returns the byte after it; ok is false at the
// end.
func (r *jsonRepairer) nextByte() (c byte, ok bool) {
	r.skipSpace()
	if r.at >= len(r.text) {
		return 0, false
	}
	return r.text[r.at], true
}

// repairValue reads one value, at most deepest levels down, and reports whether
// it could.
func (r *jsonRepairer) repairValue(depth int) bool {
	c, ok := r.nextByte()
	if !ok || depth > deepest {
		return false
	}
	switch c {
	case '{':
		return r.repairList(depth, '}')
	case '[':
		return r.repairList(depth, ']')
	case '"', '\'':
		text, ok := r.readQuoted(c)
		r.out.WriteString(encodeJSON(text))
		return ok
	}
	text, ok := r.readBare(",]}\n")
	r.out.WriteString(text)
	return ok
}

// repairList reads the members of an object or a list up to its end or that of
// the text.
func (r *jsonRepairer) repairList(depth int, end byte) bool {
	r.out.WriteByte(r.text[r.at])
	r.at++
	for first := true; ; first = false {
		c, ok := r.nextByte()
		for ok && c == ',' {
			r.at++
			c, ok = r.nextByte()
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
		if end == '}' && !r.repairName() || !r.repairValue(depth+1) {
			return false
		}
	}
}

// bareName is a member's name that was written without quotes.
var bareName = regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_.-]*`)

// repairName reads a member's name and the sign after it, and reports whether
// it could.
func (r *jsonRepairer) repairName() bool {
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
	c, ok := r.nextByte()
	if !ok || (c != ':' && c != '=') {
		return false
	}
	r.at++
	r.out.WriteString(encodeJSON(name) + ":")
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
			out.WriteString(r.readEscape())
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

// readEscape reads what follows a backslash and leaves the position on its last
// byte.
func (r *jsonRepairer) readEscape() string {
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

// readBare reads a value without quotes up to one of stops, as JSON. It fails at
// the end of the text, where it may have been cut.
func (r *jsonRepairer) readBare(stops string) (string, bool) {
	end := strings.IndexAny(r.text[r.at:], stops)
	if end <= 0 {
		return "", false
	}
	text := strings.TrimSpace(r.text[r.at : r.at+end])
	r.at += end
	if text == "" || strings.ContainsAny(text, "{}[]\"") {
		return "", false
	}
	return scalarJSON(text), true
}

var number = regexp.MustCompile(`^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$`)

// scalarJSON returns a word, a number or a constant as JSON.
func scalarJSON(text string) string {
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
	return encodeJSON(text)
}

// encodeJSON writes texts, and structs and maps of texts and valid JSON, which
// cannot fail; null stands for what never comes.
func encodeJSON(v any) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(v) != nil {
		return "null"
	}
	return strings.TrimSpace(out.String())
}
