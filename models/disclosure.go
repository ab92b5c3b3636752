package models

import "time"

// Disclosure is one row of table disclosures: the proof that a text told a person that a
// program writes. It is written with the text, whose outbox row says whether it went out.
type Disclosure struct {
	OutboxID      string `gorm:"primaryKey"`
	ParticipantID string
	// Kind is that of the text, Locale the language in which it addresses the person, and
	// Words the clause that says it.
	Kind   EntryKind
	Locale string
	Words  string `gorm:"serializer:sealed"`
	At     time.Time
}

// talkGap is the silence after which a conversation is another one.
const talkGap = time.Hour

// Talk says when the conversation began that goes on, and when the person wrote last
// before the turn; zero where its window does not say it.
type Talk struct{ Since, Heard time.Time }

// TalkOf reads a window, oldest first, up to a turn that began at an instant.
func TalkOf(window []Message, turn Turn) Talk {
	out := Talk{Since: turn.StartedAt}
	isOpen := true
	for i := len(window) - 1; i >= 0; i-- {
		entry := window[i]
		if entry.Role != RoleUser && entry.Role != RoleAssistant || entry.Kind.Spec().Hidden {
			continue
		}
		if isOpen = isOpen && out.Since.Sub(entry.At) <= talkGap; isOpen && entry.At.Before(out.Since) {
			out.Since = entry.At
		}
		if out.Heard.IsZero() && entry.Role == RoleUser && entry.TurnID != turn.ID {
			out.Heard = entry.At
		}
	}
	return out
}
