package text

import (
	"encoding/json"
	"strings"
)

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
