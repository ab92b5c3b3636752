package models

import (
	"slices"
	"time"

	"coachline/models/wire"
)

// EntryKind is what an entry of the conversation or an outbox row is.
type EntryKind string

const (
	KindMessage          EntryKind = "message"
	KindReply            EntryKind = "reply"
	KindGreeting         EntryKind = "greeting"
	KindPrompt           EntryKind = "prompt"
	KindReminder         EntryKind = "reminder"
	KindFeedbackQuestion EntryKind = "feedback_question"
	KindFeedbackFollowup EntryKind = "feedback_followup"
	KindCheckIn          EntryKind = "check_in"
	KindAskLess          EntryKind = "ask_less"
	KindOperator         EntryKind = "operator"
	KindNotice           EntryKind = "notice"
	// KindConsent is the only kind that reaches a participant who opted out, once.
	KindConsent EntryKind = "consent"
	// KindHelp is a fixed answer about texting itself: to HELP, or to too many
	// texts at once.
	KindHelp EntryKind = "help"
	// KindSafety is the fixed answer to a text that may be a crisis.
	KindSafety EntryKind = "safety"
	KindResult EntryKind = "result"
	// KindTeamNote is what an operator tells the coach and no person is sent.
	KindTeamNote EntryKind = "team_note"
	// KindDebug reaches testers only and is never part of the conversation.
	KindDebug EntryKind = "debug"
	// KindToolCall and KindToolResult are the assistant's calls and what they
	// returned; the window keeps them together, the history route leaves them out.
	KindToolCall   EntryKind = "tool_call"
	KindToolResult EntryKind = "tool_result"
)

// startedValidity is how long a message that the programme starts is worth
// sending: it is soon out of date, and quiet hours may begin.
const startedValidity = 30 * time.Minute

// KindSpec is what the code knows of a kind.
type KindSpec struct {
	// Turn is the turns that run for it, Entry what they leave in the conversation
	// and the outbox; they are spelled alike. Empty: there are none.
	Turn  wire.TurnKind
	Entry EntryKind
	// Source is where a turn of the kind takes its text from: SourceStep is the
	// model. Empty where no turn sends the kind.
	Source wire.TextSource
	// Fixed names the fixed text of kinds that no model writes, Fallback the one
	// that stands in for a model without an answer. Empty is the general one.
	Fixed, Fallback string
	// Label stands before an entry in what the model reads: the kinds that answer
	// no message have one.
	Label string
	// Asks: it waits for an answer, in any words.
	Asks bool
	// Coaching: a person gets it only while in active coaching, and an opt-out
	// ends the wait for its sending.
	Coaching bool
	// Initiated: the programme sends it without being asked, and does not try it
	// on a number that cannot be reached. CanBeHeld: an operators' hold stops it.
	Initiated, CanBeHeld bool
	// Urgent: it goes before what the programme starts.
	Urgent bool
	// PassesChecks: consent alone decides that it may be sent.
	PassesChecks bool
	// PassesLimit: it is sent whatever its reader has cost on the day.
	PassesLimit bool
	// CanBeOvertaken: a newer reply that went out before it makes it pointless.
	CanBeOvertaken bool
	// UsefulFor is how long after it was written it is worth sending; 0 for what
	// is never sent. The carrier may hold it for what is left of that.
	UsefulFor time.Duration
	// Repost: it may rather come twice than not at all, so it is posted again when
	// an earlier post is proved not to have arrived.
	Repost bool
	// LaterRetry: it is worth a second try an hour after the carrier reported it as
	// undelivered.
	LaterRetry bool
	// Sent is what the rules are told once the carrier has taken it; empty where
	// they need not hear of it.
	Sent wire.EventKind
	// Hidden: the history of the conversation leaves it out.
	Hidden bool
}

// kinds registers every kind. An answer is still one after hours; what the
// programme starts is not. Reminders, questions and follow-ups may rather not come
// at all than twice or late. The notice that a participant has left gets no later
// retry, because they get no more messages after that.
var kinds = []KindSpec{
	{Turn: wire.TurnMessage, Entry: KindMessage},
	{Turn: wire.TurnReply, Entry: KindReply, Source: wire.SourceStep, PassesLimit: true, Coaching: true, Urgent: true, CanBeOvertaken: true, UsefulFor: AnswerValidity, Repost: true, LaterRetry: true},
	{Turn: wire.TurnGreeting, Entry: KindGreeting, Asks: true, Source: wire.SourceStep, Fallback: "greeting_fallback", Coaching: true, Urgent: true, CanBeOvertaken: true,
		UsefulFor: AnswerValidity, Repost: true, LaterRetry: true},
	{Turn: wire.TurnOperator, Entry: KindOperator, Source: wire.SourceOutbox, PassesLimit: true, Label: "message from the team", Urgent: true, UsefulFor: AnswerValidity, Repost: true, LaterRetry: true},
	{Turn: wire.TurnNotice, Entry: KindNotice, Source: wire.SourceFixed, PassesLimit: true, Fixed: "unenrolled_notice", Label: "notice", Urgent: true, PassesChecks: true,
		UsefulFor: AnswerValidity, Repost: true},
	{Turn: wire.TurnConsent, Entry: KindConsent, Source: wire.SourceFixed, Fixed: "opt_in_confirmation", Label: "notice", Urgent: true, PassesChecks: true,
		UsefulFor: AnswerValidity, Repost: true, LaterRetry: true},
	{Turn: wire.TurnHelp, Entry: KindHelp, Source: wire.SourceFixed, PassesLimit: true, Fixed: "help", Label: "notice", Urgent: true, UsefulFor: AnswerValidity, Repost: true, LaterRetry: true},
	{Entry: KindSafety, Source: wire.SourceFixed, PassesLimit: true, Fixed: "crisis", Label: "safety text", Urgent: true, UsefulFor: AnswerValidity, Repost: true},

	{Turn: wire.TurnPrompt, Entry: KindPrompt, Asks: true, Source: wire.SourceStep, Fallback: "habit_fallback", Label: "daily prompt", Coaching: true, Initiated: true, CanBeHeld: true,
		UsefulFor: startedValidity, Repost: true, LaterRetry: true, Sent: wire.EventPromptSent},
	// A subagent's result answers a request, so no hold stops it.
	{Turn: wire.TurnResult, Entry: KindResult, Source: wire.SourceSubagent, Label: "result of a task given away", Coaching: true, Initiated: true,
		UsefulFor: startedValidity, Repost: true},
	{Turn: wire.TurnReminder, Entry: KindReminder, Asks: true, Source: wire.SourceFixed, Fixed: "reminder", Label: "reminder", Coaching: true, Initiated: true, CanBeHeld: true,
		UsefulFor: startedValidity},
	{Turn: wire.TurnFeedbackQuestion, Entry: KindFeedbackQuestion, Asks: true, Source: wire.SourceFixed, Fixed: "feedback_question", Label: "feedback question", Coaching: true, Initiated: true,
		CanBeHeld: true, UsefulFor: startedValidity},
	{Turn: wire.TurnFeedbackFollowup, Entry: KindFeedbackFollowup, Asks: true, Source: wire.SourceFixed, Fixed: "feedback_followup", Label: "feedback follow-up", Coaching: true, Initiated: true,
		CanBeHeld: true, UsefulFor: startedValidity},
	{Turn: wire.TurnCheckIn, Entry: KindCheckIn, Asks: true, Source: wire.SourceStep, Label: "check-in", Coaching: true, Initiated: true, CanBeHeld: true,
		UsefulFor: startedValidity, Sent: wire.EventCheckInSent},
	{Turn: wire.TurnAskLess, Entry: KindAskLess, Asks: true, Source: wire.SourceFixed, Fixed: "ask_less", Label: "question whether to text less often", Coaching: true, Initiated: true,
		CanBeHeld: true, UsefulFor: startedValidity, Sent: wire.EventAskLessSent},
	{Entry: KindDebug, UsefulFor: startedValidity, Hidden: true},

	{Entry: KindTeamNote, Label: "note from the team"},
	{Turn: wire.TurnSubagent, Coaching: true},
	{Entry: KindToolCall, Hidden: true},
	{Entry: KindToolResult, Hidden: true},
}

// TurnSpecOf returns what the kind is; only the name for one that is not registered.
func TurnSpecOf(k wire.TurnKind) KindSpec {
	i := slices.IndexFunc(kinds, func(spec KindSpec) bool { return spec.Turn == k })
	if i < 0 || k == "" {
		return KindSpec{Turn: k}
	}
	return kinds[i]
}

// IsRationed reports whether COACH_MAX_INITIATED_PER_DAY counts what a turn of the kind
// sends. A subagent's result is what the person asked for.
func IsRationed(k wire.TurnKind) bool { return TurnSpecOf(k).Initiated && TurnSpecOf(k).CanBeHeld }

// EntryOf is the kind of the text that a turn of the kind writes.
func EntryOf(k wire.TurnKind) EntryKind { return TurnSpecOf(k).Entry }

// Spec returns what the kind is; only the name for one that is not registered.
func (k EntryKind) Spec() KindSpec {
	i := slices.IndexFunc(kinds, func(spec KindSpec) bool { return spec.Entry == k })
	if i < 0 || k == "" {
		return KindSpec{Entry: k}
	}
	return kinds[i]
}

// EntriesWith lists the kinds of entries for which has holds, in the order of the
// table.
func EntriesWith(has func(KindSpec) bool) []EntryKind {
	var list []EntryKind
	for _, spec := range kinds {
		if spec.Entry != "" && has(spec) {
			list = append(list, spec.Entry)
		}
	}
	return list
}
