package models

import (
	"slices"
	"time"
)

// TurnKind is why a turn runs.
type TurnKind string

const (
	// TurnMessage stores messages that nothing answers.
	TurnMessage TurnKind = "message"
	// TurnReply answers what is in the inbox.
	TurnReply            TurnKind = "reply"
	TurnGreeting         TurnKind = "greeting"
	TurnPrompt           TurnKind = "prompt"
	TurnReminder         TurnKind = "reminder"
	TurnFeedbackQuestion TurnKind = "feedback_question"
	TurnFeedbackFollowup TurnKind = "feedback_followup"
	TurnCheckIn          TurnKind = "check_in"
	// TurnAskLess asks a person who has not answered for long whether to write less.
	TurnAskLess  TurnKind = "ask_less"
	TurnOperator TurnKind = "operator"
	TurnNotice   TurnKind = "notice"
	// TurnConsent confirms that a participant opted out or came back.
	TurnConsent TurnKind = "consent"
	TurnHelp    TurnKind = "help"
	// TurnResult tells what a subagent found, where the model asked for that.
	TurnResult TurnKind = "result"
	// TurnSubagent is a subagent's own turn, which sends nothing.
	TurnSubagent TurnKind = "subagent"
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
	Turn  TurnKind
	Entry EntryKind
	// Source is where a turn of the kind takes its text from: SourceStep is the
	// model. Empty where no turn sends the kind.
	Source TextSource
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
	Sent EventKind
	// Hidden: the history of the conversation leaves it out.
	Hidden bool
}

// kinds registers every kind. An answer is still one after hours; what the
// programme starts is not. Reminders, questions and follow-ups may rather not come
// at all than twice or late. The notice that a participant has left gets no later
// retry, because they get no more messages after that.
var kinds = []KindSpec{
	{Turn: TurnMessage, Entry: KindMessage},
	{Turn: TurnReply, Entry: KindReply, Source: SourceStep, Coaching: true, Urgent: true, CanBeOvertaken: true, UsefulFor: AnswerValidity, Repost: true, LaterRetry: true},
	{Turn: TurnGreeting, Entry: KindGreeting, Asks: true, Source: SourceStep, Fallback: "greeting_fallback", Coaching: true, Urgent: true, CanBeOvertaken: true,
		UsefulFor: AnswerValidity, Repost: true, LaterRetry: true},
	{Turn: TurnOperator, Entry: KindOperator, Source: SourceOutbox, Label: "message from the team", Urgent: true, UsefulFor: AnswerValidity, Repost: true, LaterRetry: true},
	{Turn: TurnNotice, Entry: KindNotice, Source: SourceFixed, Fixed: "unenrolled_notice", Label: "notice", Urgent: true, PassesChecks: true,
		UsefulFor: AnswerValidity, Repost: true},
	{Turn: TurnConsent, Entry: KindConsent, Source: SourceFixed, Fixed: "opt_in_confirmation", Label: "notice", Urgent: true, PassesChecks: true,
		UsefulFor: AnswerValidity, Repost: true, LaterRetry: true},
	{Turn: TurnHelp, Entry: KindHelp, Source: SourceFixed, Fixed: "help", Label: "notice", Urgent: true, UsefulFor: AnswerValidity, Repost: true, LaterRetry: true},
	{Entry: KindSafety, Source: SourceFixed, Fixed: "crisis", Label: "safety text", Urgent: true, UsefulFor: AnswerValidity, Repost: true},

	{Turn: TurnPrompt, Entry: KindPrompt, Asks: true, Source: SourceStep, Fallback: "habit_fallback", Label: "daily prompt", Coaching: true, Initiated: true, CanBeHeld: true,
		UsefulFor: startedValidity, Repost: true, LaterRetry: true, Sent: EventPromptSent},
	// A subagent's result answers a request, so no hold stops it.
	{Turn: TurnResult, Entry: KindResult, Source: SourceSubagent, Label: "result of a task given away", Coaching: true, Initiated: true,
		UsefulFor: startedValidity, Repost: true},
	{Turn: TurnReminder, Entry: KindReminder, Asks: true, Source: SourceFixed, Fixed: "reminder", Label: "reminder", Coaching: true, Initiated: true, CanBeHeld: true,
		UsefulFor: startedValidity},
	{Turn: TurnFeedbackQuestion, Entry: KindFeedbackQuestion, Asks: true, Source: SourceFixed, Fixed: "feedback_question", Label: "feedback question", Coaching: true, Initiated: true,
		CanBeHeld: true, UsefulFor: startedValidity},
	{Turn: TurnFeedbackFollowup, Entry: KindFeedbackFollowup, Asks: true, Source: SourceFixed, Fixed: "feedback_followup", Label: "feedback follow-up", Coaching: true, Initiated: true,
		CanBeHeld: true, UsefulFor: startedValidity},
	{Turn: TurnCheckIn, Entry: KindCheckIn, Asks: true, Source: SourceStep, Label: "check-in", Coaching: true, Initiated: true, CanBeHeld: true,
		UsefulFor: startedValidity, Sent: EventCheckInSent},
	{Turn: TurnAskLess, Entry: KindAskLess, Asks: true, Source: SourceFixed, Fixed: "ask_less", Label: "question whether to text less often", Coaching: true, Initiated: true,
		CanBeHeld: true, UsefulFor: startedValidity, Sent: EventAskLessSent},
	{Entry: KindDebug, UsefulFor: startedValidity, Hidden: true},

	{Entry: KindTeamNote, Label: "note from the team"},
	{Turn: TurnSubagent, Coaching: true},
	{Entry: KindToolCall, Hidden: true},
	{Entry: KindToolResult, Hidden: true},
}

// Spec returns what the kind is; only the name for one that is not registered.
func (k TurnKind) Spec() KindSpec {
	i := slices.IndexFunc(kinds, func(spec KindSpec) bool { return spec.Turn == k })
	if i < 0 || k == "" {
		return KindSpec{Turn: k}
	}
	return kinds[i]
}

// IsRationed reports whether COACH_MAX_INITIATED_PER_DAY counts what a turn of the kind
// sends. A subagent's result is what the person asked for.
func (k TurnKind) IsRationed() bool { return k.Spec().Initiated && k.Spec().CanBeHeld }

// Entry is the kind of the text that a turn of the kind writes.
func (k TurnKind) Entry() EntryKind { return k.Spec().Entry }

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
