package message

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"unicode"

	"coachline/models"
)

// eventRecipient: a model named another recipient, or another channel, for a
// text.
const eventRecipient = "message_recipient"

// inspect reports a call that names a person other than the turn's own. The
// schema refuses every value of it; the log line holds ids only.
func (d *Handler) inspect(ctx context.Context, turnID, arguments string) error {
	extra := extras(arguments)
	if len(extra) == 0 {
		return nil
	}
	turn, err := d.Ledger.TurnContext(ctx, turnID, 0)
	if err != nil {
		return fmt.Errorf("reading the turn: %w", err)
	}
	if foreign(extra, own(turn)) {
		slog.Warn("a model named another recipient for a text", "turn", turnID, "participant", turn.Participant.ID)
		d.Events.Security(eventRecipient)
	}
	return nil
}

// extras are the arguments that the tool does not have; none for what cannot be
// read, which the schema refuses too. Objects in a string are read as calls are.
func extras(arguments string) map[string]any {
	var text string
	if json.Unmarshal([]byte(arguments), &text) == nil {
		arguments = text
	}
	var all map[string]any
	if json.Unmarshal([]byte(arguments), &all) != nil {
		return nil
	}
	delete(all, "content")
	return all
}

// addressing are names of arguments, in letters only, that say whom a text is
// for or which way it goes.
var addressing = []string{
	"to", "recipient", "recipients", "phone", "phonenumber", "number", "msisdn", "participant", "participantid", "user", "userid",
	"person", "contact", "channel", "chat", "chatid", "address", "email", "target", "destination",
}

// foreign reports whether extra arguments name a number, a person or a channel
// that is not among the turn's own. A number counts under any name.
func foreign(extra map[string]any, own []string) bool {
	for name, value := range extra {
		addresses := slices.Contains(addressing, letters(name))
		for _, text := range texts(value) {
			text = plain(text)
			if text == "" || slices.Contains(own, text) {
				continue
			}
			if addresses || digits(text) >= 7 || strings.Contains(text, "redacted") {
				return true
			}
		}
	}
	return false
}

// own are the names of the turn's person and channel, as plain writes them.
func own(turn models.TurnContext) []string {
	p := turn.Participant
	return []string{
		plain(p.ID), plain(p.Phone), plain(p.Name), plain(string(turn.Turn.Channel.Name())),
		"user", "person", "participant", "them", "me",
	}
}

// texts are the words and numbers in a value, however deep.
func texts(value any) []string {
	switch v := value.(type) {
	case string:
		return []string{v}
	case float64:
		return []string{fmt.Sprintf("%.0f", v)}
	case []any:
		var out []string
		for _, one := range v {
			out = append(out, texts(one)...)
		}
		return out
	case map[string]any:
		var out []string
		for _, one := range v {
			out = append(out, texts(one)...)
		}
		return out
	}
	return nil
}

// plain is a text in lower case, without anything but letters and digits.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, plain(text))
}

func digits(text string) int {
	n := 0
	for _, r := range text {
		if unicode.IsDigit(r) {
			n++
		}
	}
	return n
}
