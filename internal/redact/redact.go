// Package redact masks what no model, memory, log or workflow history may see:
// e-mail addresses, card, phone and social security numbers, one-time codes,
// passwords and keys. A masked part becomes a token such as [REDACTED_EMAIL],
// so that a model knows what stood there. It is pure, takes time linear in the
// text, and masking twice is masking once. Of all stages of a reply it alone
// fails closed: what cannot be judged is masked whole, or is an error.
package redact

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is what a masked part was.
type Kind string

const (
	KindEmail Kind = "email"
	KindCard  Kind = "card"
	// KindPhone: any person's number, the participant's own included; the engine
	// knows whom it texts, and a model has no use for a number.
	KindPhone Kind = "phone"
	KindSSN   Kind = "ssn"
	// KindCode: one-time codes, PINs and card check values.
	KindCode Kind = "code"
	// KindSecret: passwords, keys of vendors, long hexadecimal strings.
	KindSecret Kind = "secret"
	// KindToken: bearer and basic credentials, JSON web tokens, sessions.
	KindToken Kind = "token"
)

// Result is a text that may be shown to a model, and which kinds were masked in
// it: each once, in order of appearance; none is nil.
type Result struct {
	Text  string
	Kinds []Kind
}

// cutNote ends a text that was too long. It holds no number, because a number
// beside a person's text could be read as a code.
const cutNote = " [The rest of this text was cut: it was too long.]"

// maxSteps bounds how often a text is masked until nothing changes. Two rounds
// are usual: what was masked may show a number beside it more clearly.
const maxSteps = 8

// tokens are the marks that masking leaves.
var tokens = compilePattern(`\[REDACTED_[A-Z]+\]`)

// blanks are runs of blanks within a line.
var blanks = compilePattern(`[\t\v\f\p{Zs}]{2,}|[\t\v\f]`)

// emptyLines are more line ends than a paragraph needs.
var emptyLines = compilePattern(`\n{3,}`)

// span is a part of a text that is to be masked, in bytes.
type span struct {
	start, end int
	kind       Kind
}

// finders look for one family each. Where they overlap, the whole is masked.
var finders = []func(textFeatures) []span{findPatterns, findCredentials, findCodes, findNumbers}

// Text masks an inbound text for a model: blanks within a line
// become one, more than one empty line becomes one, and a text of more than
// limit characters is cut to at most limit, with a note at its end that says
// so. A limit of 0 or less cuts nothing, one that is shorter than the
// note drops the note. Text(Text(x)) is Text(x), and the result is UTF-8.
func Text(s string, limit int) Result {
	masked, kinds := maskText(tidyText(s))
	for range maxSteps {
		if limit <= 0 || utf8.RuneCountInString(masked) <= limit {
			return Result{Text: masked, Kinds: kinds}
		}
		// The cut may lay bare what was part of a longer number.
		again, more := maskText(tidyText(cutText(masked, limit)))
		masked = again
		for _, kind := range more {
			kinds = appendKind(kinds, kind)
		}
	}
	return Result{Kinds: kinds}
}

// Scrub masks a tool's payload or a log's text and leaves everything else as
// it is, blanks and length too. The result is UTF-8.
func Scrub(s string) string {
	masked, _ := maskText(s)
	return masked
}

// tidyText makes the text UTF-8 and shortens runs of blanks and of empty lines.
func tidyText(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	if hasGap(s) {
		s = blanks.ReplaceAllString(s, " ")
	}
	return strings.TrimSpace(emptyLines.ReplaceAllString(s, "\n\n"))
}

// hasGap reports whether blanks finds anything.
func hasGap(s string) bool {
	after := false
	for _, r := range s {
		blank := r == ' ' || r >= utf8.RuneSelf && unicode.Is(unicode.Zs, r)
		if blank && after || r == '\t' || r == '\v' || r == '\f' {
			return true
		}
		after = blank
	}
	return false
}

// cutText shortens a masked text to limit characters, note included, and never
// inside a token.
func cutText(s string, limit int) string {
	note := cutNote
	if utf8.RuneCountInString(note) >= limit {
		note = ""
	}
	s = strings.TrimSuffix(s, cutNote)
	end := byteOffset(s, limit-utf8.RuneCountInString(note))
	for _, at := range tokens.FindAllStringIndex(s, -1) {
		if at[0] < end && end < at[1] {
			end = at[0]
		}
	}
	return strings.TrimSpace(s[:end]) + note
}

// byteOffset returns where the character with that number begins.
func byteOffset(s string, runes int) int {
	for i := range s {
		if runes == 0 {
			return i
		}
		runes--
	}
	return len(s)
}

// maskText replaces until nothing is left to replace, which makes masking twice
// the same as masking once. A text that does not settle is masked whole.
func maskText(s string) (string, []Kind) {
	s = strings.ToValidUTF8(s, "\uFFFD")
	var kinds []Kind
	for range maxSteps {
		spans := findSpans(s)
		if len(spans) == 0 {
			return s, kinds
		}
		for _, sp := range spans {
			kinds = appendKind(kinds, sp.kind)
		}
		s = replaceSpans(s, spans)
	}
	if len(findSpans(s)) == 0 {
		return s, kinds
	}
	return KindSecret.token(), appendKind(kinds, KindSecret)
}

// findSpans returns what is to be masked, ordered and without overlap.
func findSpans(s string) []span {
	var found []span
	seen := glanceAt(s)
	for _, finder := range finders {
		found = append(found, finder(seen)...)
	}
	return mergeSpans(outsideTokens(found, tokens.FindAllStringIndex(s, -1)))
}

// outsideTokens drops what is inside a token, and lets what overlaps with one
// swallow it.
func outsideTokens(spans []span, marks [][]int) []span {
	if len(marks) == 0 {
		return spans
	}
	kept := spans[:0]
	for _, sp := range spans {
		first, _ := slices.BinarySearchFunc(marks, sp.start, func(mark []int, at int) int {
			if mark[1] <= at {
				return -1
			}
			return 1
		})
		inside := false
		for _, mark := range marks[first:] {
			if mark[0] >= sp.end {
				break
			}
			inside = inside || mark[0] <= sp.start && sp.end <= mark[1]
			sp.start, sp.end = min(sp.start, mark[0]), max(sp.end, mark[1])
		}
		if !inside {
			kept = append(kept, sp)
		}
	}
	return kept
}

// mergeSpans joins what overlaps; the longest part names the kind.
func mergeSpans(spans []span) []span {
	slices.SortStableFunc(spans, func(a, b span) int { return a.start - b.start })
	var merged []span
	longest := 0
	for _, sp := range spans {
		size := sp.end - sp.start
		last := len(merged) - 1
		if last < 0 || sp.start >= merged[last].end {
			merged, longest = append(merged, sp), size
			continue
		}
		merged[last].end = max(merged[last].end, sp.end)
		if size > longest {
			merged[last].kind, longest = sp.kind, size
		}
	}
	return merged
}

// replaceSpans puts a token in place of each span.
func replaceSpans(s string, spans []span) string {
	var b strings.Builder
	b.Grow(len(s))
	at := 0
	for _, sp := range spans {
		b.WriteString(s[at:sp.start])
		b.WriteString(sp.kind.token())
		at = sp.end
	}
	b.WriteString(s[at:])
	return b.String()
}

func (k Kind) token() string { return "[REDACTED_" + strings.ToUpper(string(k)) + "]" }

func appendKind(kinds []Kind, kind Kind) []Kind {
	if slices.Contains(kinds, kind) {
		return kinds
	}
	return append(kinds, kind)
}

// Part is a part of a text that masking replaces, in bytes.
type Part struct {
	Start, End int
	Kind       Kind
}

// Find returns what masking would replace first, ordered and without overlap.
// The text must be UTF-8.
func Find(s string) []Part {
	var parts []Part
	for _, sp := range findSpans(s) {
		parts = append(parts, Part{Start: sp.start, End: sp.end, Kind: sp.kind})
	}
	return parts
}

// Attr scrubs the values of a log line: it is the ReplaceAttr of
// slog.HandlerOptions, so that an error which quotes a provider's answer does
// not write a key or a number. Texts, errors and values of other types are
// scrubbed as a handler would write them; one that holds nothing to mask keeps
// its type. Names of attributes stay, and groups are not read.
func Attr(_ []string, a slog.Attr) slog.Attr {
	switch a.Value.Kind() {
	case slog.KindString:
		return scrubAttr(a, a.Value.String())
	case slog.KindAny:
		return scrubAttr(a, writtenForms(a.Value.Any())...)
	case slog.KindBool, slog.KindDuration, slog.KindFloat64, slog.KindInt64, slog.KindTime, slog.KindUint64, slog.KindGroup, slog.KindLogValuer:
	}
	return a
}

// scrubAttr replaces the value by the first form that masking changes.
func scrubAttr(a slog.Attr, forms ...string) slog.Attr {
	for _, form := range forms {
		if masked := Scrub(form); masked != form {
			return slog.String(a.Key, masked)
		}
	}
	return a
}

// writtenForms returns how the text handler and the JSON handler may write a
// value.
func writtenForms(v any) []string {
	switch v := v.(type) {
	case error:
		return []string{fmt.Sprint(v)}
	case []byte:
		return []string{string(v)}
	case json.RawMessage:
		return []string{string(v)}
	}
	forms := []string{fmt.Sprintf("%+v", v)}
	// What cannot be encoded is not written either: the handler writes the
	// encoder's error.
	if raw, err := json.Marshal(v); err == nil {
		forms = append(forms, string(raw))
	}
	return forms
}

// textFeatures is what is seen of a text at once. Most texts hold nothing that could
// be masked, and a pattern costs a thousand times what a search for its words
// does.
type textFeatures struct {
	text string
	// low is the text in small letters, as patterns without regard to case read
	// it.
	low string
	// digits counts them; hex is the longest run of hexadecimal ones.
	digits, hex int
}

func glanceAt(s string) textFeatures {
	// The long s is a small letter of its own; the Kelvin sign is none.
	g := textFeatures{text: s, low: strings.ReplaceAll(strings.ToLower(s), "ſ", "s")}
	run := 0
	for _, r := range g.low {
		digit := '0' <= r && r <= '9' || r >= utf8.RuneSelf && unicode.IsDigit(r)
		if digit {
			g.digits++
		}
		if r < utf8.RuneSelf && (digit || 'a' <= r && r <= 'f') {
			run++
			g.hex = max(g.hex, run)
		} else {
			run = 0
		}
	}
	return g
}

// hasAny reports whether the text holds any of some words, which are in small
// letters.
func (g textFeatures) hasAny(words []string) bool {
	for _, word := range words {
		if strings.Contains(g.low, word) {
			return true
		}
	}
	return false
}

// hasAnyOf returns a predicate of texts that hold any of some words.
func hasAnyOf(words ...string) func(textFeatures) bool {
	return func(g textFeatures) bool { return g.hasAny(words) }
}
