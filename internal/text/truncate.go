package text

import (
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
