package text

import (
	"regexp"
	"strings"
)

// address is a link.
var address = regexp.MustCompile(`(?i)\b(?:https?://|www\.)\S+|\b[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*\.[a-z]{2,}/\S*`)

// Memorable is a text as it may be remembered of a person: what is visible of it, without
// links, which nobody reads in a memory and which a later reply would give on.
func Memorable(body string) string {
	return strings.TrimSpace(address.ReplaceAllString(Visible(body), ""))
}
