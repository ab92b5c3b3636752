package wire

import "slices"

// Status is a participant's standing in the programme.
type Status string

const (
	StatusActive    Status = "active"
	StatusPaused    Status = "paused"
	StatusCompleted Status = "completed"
	StatusWithdrawn Status = "withdrawn"
	StatusOptedOut  Status = "opted_out"
)

// Statuses lists every status in the order they are documented.
func Statuses() []Status {
	return []Status{StatusActive, StatusPaused, StatusCompleted, StatusWithdrawn, StatusOptedOut}
}

// Coached reports whether the coaching goes on, perhaps after a pause.
func (s Status) Coached() bool { return s == StatusActive || s == StatusPaused }

// Mode is the coaching module that answers; it decides the instructions and
// the tools of a turn.
type Mode string

const (
	ModeIntake   Mode = "INTAKE"
	ModeFeedback Mode = "FEEDBACK"
)

// Known reports whether m is one of the defined modes.
func (m Mode) Known() bool { return m == ModeIntake || m == ModeFeedback }

// Attention is why an operator should look at a participant.
type Attention string

const (
	// AttentionCrisis: a message of theirs may be a crisis. It alone holds what we
	// start ourselves.
	AttentionCrisis Attention = "crisis"
	// AttentionPerson: they asked for a human; the result of the call in the turn that
	// raised it says why.
	AttentionPerson Attention = "person"
	// AttentionUnreachable: the carrier cannot reach their number.
	AttentionUnreachable Attention = "unreachable"
	// AttentionSend: an answer to them was given up undelivered.
	AttentionSend Attention = "send"
	// AttentionRefusal: the model refused to answer them.
	AttentionRefusal Attention = "refusal"
	// AttentionStuck: their text ended two runs of the workflow; the fixed text
	// answered it.
	AttentionStuck Attention = "stuck"
	// AttentionUnanswered: the model wanted to leave them without an answer that was
	// due.
	AttentionUnanswered Attention = "unanswered"
	// AttentionLostRows: the database has lost what it had stored of them: a replica
	// without its last commits has taken over.
	AttentionLostRows Attention = "lost_rows"
	// AttentionFlood: more messages came from them than are answered.
	AttentionFlood Attention = "flood"
	// AttentionWrongNumber: a text said that the number is another person's; the
	// participant was paused.
	AttentionWrongNumber Attention = "wrong_number"
	// AttentionErasure: the person asked to delete their data, or the carrier has not deleted its copies of an erased person's
	// messages. It ends by itself.
	AttentionErasure Attention = "erasure"
	// AttentionLanguage: a text is in a language that the screening does not read.
	AttentionLanguage Attention = "language"
	// AttentionAdvice: many drafts of the coach in the person's study were changed or not
	// sent for what they advised.
	AttentionAdvice Attention = "advice"
	// AttentionMinor: a person of a study for adults says that they are not 18 yet; they were
	// paused.
	AttentionMinor Attention = "minor"
)

// Attentions lists every kind, the most urgent first.
func Attentions() []Attention {
	return []Attention{AttentionCrisis, AttentionPerson, AttentionUnreachable, AttentionSend, AttentionRefusal, AttentionStuck, AttentionUnanswered, AttentionLostRows, AttentionFlood, AttentionWrongNumber, AttentionMinor, AttentionErasure, AttentionLanguage, AttentionAdvice}
}

// ParticipantFlags are what search attributes show of a participant's row beside
// status and mode.
type ParticipantFlags struct {
	// Attention are the open kinds, the most urgent first.
	Attention []Attention `json:"attention,omitempty"`
	// Unreachable: the carrier cannot reach the number.
	Unreachable bool `json:"unreachable,omitempty"`
}

// Clone copies the flags.
func (f ParticipantFlags) Clone() ParticipantFlags {
	f.Attention = slices.Clone(f.Attention)
	return f
}

// Channel names how a person and the programme exchange messages. Rows and
// payloads of messages leave it empty for SMS: Name reads that, Column writes it.
type Channel string

const (
	ChannelSMS Channel = "sms"
	// ChannelTerminal is what participants of the operator's chat command are
	// enrolled with; their messages are on ChannelSMS.
	ChannelTerminal Channel = "terminal"
	// ChannelChat is the API, for terminal and web front ends: an answer is shown
	// where it is read from, and no carrier has a part in it.
	ChannelChat Channel = "chat"
)

// Name returns the channel's name, also where a row leaves it empty.
func (c Channel) Name() Channel {
	if c == "" {
		return ChannelSMS
	}
	return c
}

// Column returns what rows and payloads of messages hold for the channel: its
// name, and nothing for SMS.
func (c Channel) Column() Channel {
	if c == ChannelSMS {
		return ""
	}
	return c
}
