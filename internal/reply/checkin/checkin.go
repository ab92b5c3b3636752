// Package checkin reads the model's decision whether the coach writes without
// having been asked. It is pure.
package checkin

import (
	"encoding/json"
	"strings"
	"unicode"

	"coachline/internal/reply"
	"coachline/internal/reply/protocol"
	"coachline/models"
)

// Reason is why a look came to what it came to; a short code without personal
// data.
type Reason string

const (
	// Send: Decision.Text goes out.
	Send Reason = "send"
	// Declined: the model decided to say nothing.
	Declined Reason = "declined"
	// Token: the model said nothing by the token of older systems.
	Token Reason = "token"
	// Empty: the model wants to write and has no text, or said nothing at all.
	Empty Reason = "empty"
	// Unreadable: the answer is not the decision that was asked for, or its text
	// is not fit for a person. Narration counts as such (W21).
	Unreadable Reason = "unreadable"
)

// Decision is what a look came to. Text is set for Send only; it is what Read
// would return for it again.
type Decision struct {
	Text   string
	Reason Reason
}

// token is HEARTBEAT_OK, read by its letters alone (P55).
const token = "heartbeatok"

// Read reads {"send": bool, "text": string}, in a fence or between words too.
// HEARTBEAT_OK in any case, with dots, spaces, quotes or marks around it, means
// the same as send false, and never reaches a person, wherever it stands (A64,
// W21). Whatever else cannot be read as the decision is silence.
func Read(answer string) Decision {
	said := reply.Clean(answer)
	switch {
	case said == "":
		return Decision{Reason: Empty}
	case letters(said) == token:
		return Decision{Reason: Token}
	}
	raw, err := protocol.ReadArguments(answer)
	var fields map[string]json.RawMessage
	if err != nil || json.Unmarshal([]byte(raw), &fields) != nil {
		return Decision{Reason: Unreadable}
	}
	var send *bool
	if json.Unmarshal(fields["send"], &send) != nil || send == nil {
		return Decision{Reason: Unreadable}
	}
	if !*send {
		return Decision{Reason: Declined}
	}
	return worded(fields["text"])
}

// worded is the decision to send a text, where it is fit to be sent.
func worded(raw json.RawMessage) Decision {
	var text *string
	switch {
	case len(raw) == 0:
		return Decision{Reason: Empty}
	case json.Unmarshal(raw, &text) != nil:
		return Decision{Reason: Unreadable}
	case text == nil || strings.TrimSpace(*text) == "":
		return Decision{Reason: Empty}
	case strings.Contains(letters(*text), token):
		return Decision{Reason: Token}
	}
	verdict := protocol.Judge(models.ChatResponse{Text: *text}, nil)
	words := reply.Words(verdict.Text)
	switch {
	case verdict.Judgment == protocol.Empty:
		return Decision{Reason: Empty}
	case verdict.Judgment != protocol.Words || words == "" || strings.Contains(letters(words), token):
		return Decision{Reason: Unreadable}
	}
	return Decision{Text: words, Reason: Send}
}

// letters is a text in lower case without everything else.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}
