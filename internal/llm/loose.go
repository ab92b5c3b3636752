package llm

import (
	"encoding/json"
	"strconv"
	"strings"
)

// looseText takes a JSON text, or a number as its digits; anything else is
// empty rather than an error, because a field that we can do without must not
// cost the answer.
type looseText string

// UnmarshalJSON never fails.
func (t *looseText) UnmarshalJSON(raw []byte) error {
	var text string
	var number json.Number
	switch {
	case json.Unmarshal(raw, &text) == nil:
		*t = looseText(text)
	case json.Unmarshal(raw, &number) == nil:
		*t = looseText(number)
	}
	return nil
}

// looseCount takes a number of tokens, also as a text or with a fraction;
// anything else is 0.
type looseCount int

// maxCount is more tokens than any answer has.
const maxCount = 1 << 30

// UnmarshalJSON never fails.
func (c *looseCount) UnmarshalJSON(raw []byte) error {
	n, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err == nil && n > 0 && n < maxCount {
		*c = looseCount(n)
	}
	return nil
}
