package text

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Ellipsis stands behind a text that was truncated.
const Ellipsis = "…"

// OneLine joins the words of a text with single spaces, without bytes that are
// no UTF-8.
func OneLine(text string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
}

// Truncate shortens a text to limit characters (code points), with an ellipsis
// behind them where something was left out.
func Truncate(text string, limit int) string {
	limit = max(0, limit)
	if len(text) <= limit || utf8.RuneCountInString(text) <= limit {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:limit])) + Ellipsis
}

// TruncateWithin is Truncate with the ellipsis among the limit's characters.
func TruncateWithin(text string, limit int) string {
	if len(text) <= limit || utf8.RuneCountInString(text) <= limit {
		return text
	}
	return Truncate(text, limit-1)
}

// Words are the words of a text in lower case: runs of letters, marks and
// digits.
func Words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	})
}

// FirstObject reads the first JSON object of a model's answer, with any text around it,
// and reports whether it could.
func FirstObject(answer string, into any) bool {
	answer = WithoutThinking(answer)
	for at := strings.IndexByte(answer, '{'); at >= 0; {
		var raw json.RawMessage
		if json.NewDecoder(strings.NewReader(answer[at:])).Decode(&raw) == nil {
			return json.Unmarshal(raw, into) == nil
		}
		next := strings.IndexByte(answer[at+1:], '{')
		if next < 0 {
			return false
		}
		at += next + 1
	}
	return false
}

var sentenceEnd = regexp.MustCompile(`[.!?…。！？]+["'”’»)\]]*(?:\s|$)|\n`)

// LastSentenceEnd returns the byte behind the last whole sentence of a text; 0 when it
// holds none.
func LastSentenceEnd(words string) int {
	ends := sentenceEnd.FindAllStringIndex(words, -1)
	if len(ends) == 0 {
		return 0
	}
	return ends[len(ends)-1][1]
}

// CutAtSentence returns a text up to the end of its last whole sentence; empty when it
// holds none.
func CutAtSentence(words string) string {
	return strings.TrimSpace(words[:LastSentenceEnd(words)])
}
