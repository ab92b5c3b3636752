package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"coachline/internal/wrap"
)

// ErrNested reports JSON within strings within JSON, deeper than people write
// it. Nothing of it may be shown; a retry fails again.
var ErrNested = errors.New("JSON is nested in strings too deeply")

// maxNested is how many strings may lie around a JSON text.
const maxNested = 8

// secretKey names values that are secret in any form.
var secretKey = compilePattern(`(?i)^(?:.*[_-])?(?:password|passwd|pwd|passphrase|secret|client_?secret|api_?key|private_?key|secret_?key|access_?key|` +
	`access_?token|auth_?token|refresh_?token|id_?token|session_?token|token|authorization|credentials?|cookie|contraseña|senha|passwort|mot_de_passe|wachtwoord)$`)

// numberKeys name values that are personal when they are so many digits.
var numberKeys = []struct {
	kind        Kind
	key         expression
	least, most int
}{
	{KindSSN, compilePattern(`(?i)^(?:ssn|social_?security(?:_?number)?)$`), 9, 9},
	{KindPhone, compilePattern(`(?i)^(?:.*[_-])?(?:phone|phone_?number|mobile|cell|tel|telephone|whatsapp|msisdn)$`), minLocal, maxPhone},
	{KindCode, compilePattern(`(?i)^(?:.*[_-])?(?:otp|pin|cvv|cvc|passcode|verification_?code|security_?code|one_?time_?code)$`), 3, 10},
}

// digits are a number as people write it.
var digits = compilePattern(`^[+]?[\p{Nd} ().-]+$`)

// JSON masks every string of a JSON text, at any depth and in strings that
// hold JSON themselves, and every number that is a card's. Values
// under keys such as "password" are always masked, numbers under keys such as
// "order_id" never. The rest stays byte for byte: keys, their order, numbers,
// blanks. Keys are masked only where they are personal data themselves. Text
// that is no JSON is scrubbed as text, UTF-8 either way. The only error is
// ErrNested.
func JSON(raw []byte) ([]byte, error) {
	out, err := maskJSON(bytes.ToValidUTF8(raw, []byte("\uFFFD")), 0)
	return out, wrap.Error(err, "masking JSON")
}

func maskJSON(raw []byte, depth int) ([]byte, error) {
	if !json.Valid(raw) {
		return []byte(Scrub(string(raw))), nil
	}
	if depth > maxNested {
		return nil, ErrNested
	}
	w := walker{raw: raw, depth: depth}
	for w.at < len(raw) {
		if err := w.copyNext(); err != nil {
			return nil, err
		}
	}
	return w.out, nil
}

// walker copies a valid JSON text, literal by literal.
type walker struct {
	raw   []byte
	at    int
	out   []byte
	depth int
	// key is the last one read, "" outside of its value.
	key string
}

// copyNext copies or masks the next literal, or copies one sign.
func (w *walker) copyNext() error {
	c := w.raw[w.at]
	switch {
	case c == '"':
		return w.copyText()
	case c == '-' || c >= '0' && c <= '9':
		w.copyNumber()
		return nil
	case c == '{' || c == '}':
		w.key = ""
	}
	w.out = append(w.out, c)
	w.at++
	return nil
}

// copyText copies a key or a string value.
func (w *walker) copyText() error {
	end := w.at + 1
	for w.raw[end] != '"' {
		if w.raw[end] == '\\' {
			end++
		}
		end++
	}
	end++
	literal := w.raw[w.at:end]
	w.at = end
	var value string
	if err := json.Unmarshal(literal, &value); err != nil {
		return fmt.Errorf("reading a string: %w", err)
	}
	if rest := bytes.TrimLeft(w.raw[end:], " \t\r\n"); len(rest) > 0 && rest[0] == ':' {
		w.key = value
		w.writeLiteral(literal, value, Scrub(value))
		return nil
	}
	masked, err := w.maskValue(value)
	if err != nil {
		return err
	}
	w.writeLiteral(literal, value, masked)
	return nil
}

// maskValue masks a string by its key, as JSON, or as text.
func (w *walker) maskValue(value string) (string, error) {
	if kind, ok := kindOfKey(w.key, value); ok {
		return kind.token(), nil
	}
	if digits.MatchString(value) && idWord.MatchString(w.key) {
		return value, nil
	}
	if inner := strings.TrimSpace(value); strings.HasPrefix(inner, "{") || strings.HasPrefix(inner, "[") || strings.HasPrefix(inner, `"`) {
		masked, err := maskJSON([]byte(value), w.depth+1)
		return string(masked), err
	}
	return Scrub(value), nil
}

// copyNumber copies a number, or its token as a string.
func (w *walker) copyNumber() {
	end := w.at
	for end < len(w.raw) && strings.IndexByte("+-.0123456789eE", w.raw[end]) >= 0 {
		end++
	}
	literal := w.raw[w.at:end]
	w.at = end
	kind, ok := kindOfKey(w.key, string(literal))
	if !ok && !idWord.MatchString(w.key) {
		kind, ok = KindCard, isCard(string(literal))
	}
	if ok {
		w.writeLiteral(literal, "", kind.token())
		return
	}
	w.out = append(w.out, literal...)
}

// isCard reports whether digits without any sign are a card's.
func isCard(literal string) bool {
	if strings.ContainsFunc(literal, func(r rune) bool { return !unicode.IsDigit(r) }) {
		return false
	}
	w := window{text: literal, groups: []digitGroup{{end: len(literal), digits: literal}}, whole: true}
	return w.isCard(literal)
}

// writeLiteral appends the literal as it was, or the masked text as a new
// literal.
func (w *walker) writeLiteral(literal []byte, value, masked string) {
	if masked == value {
		w.out = append(w.out, literal...)
		return
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	// A string always encodes.
	_ = encoder.Encode(masked)
	w.out = append(w.out, bytes.TrimRight(b.Bytes(), "\n")...)
}

// kindOfKey returns what a value must be by the name of its key.
func kindOfKey(key, value string) (Kind, bool) {
	if key == "" || value == "" || tokens.FindString(value) == value {
		return "", false
	}
	if secretKey.MatchString(key) {
		return KindSecret, true
	}
	if !digits.MatchString(value) {
		return "", false
	}
	count := 0
	for _, r := range value {
		if unicode.IsDigit(r) {
			count++
		}
	}
	for _, name := range numberKeys {
		if count >= name.least && count <= name.most && name.key.MatchString(key) {
			return name.kind, true
		}
	}
	return "", false
}
