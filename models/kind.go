package models

import (
	"slices"
	"time"
)

// Kind is why an entry of the conversation exists.
type Kind string

const (
	KindMessage          Kind = "message"
	KindReply            Kind = "reply"
	KindGreeting         Kind = "greeting"
	KindPrompt           Kind = "prompt"
	KindReminder         Kind = "reminder"
	KindFeedbackQuestion Kind = "feedback_question"
	KindFeedbackFollowup Kind = "feedback_followup"
	KindCheckIn          Kind = "check_in"
	KindOperator         Kind = "operator"
	KindNotice           Kind = "notice"
	// KindConsent confirms that a participant opted out or came back; the only
	// kind that reaches a participant who opted out, once.
	KindConsent Kind = "consent"
	// KindHelp is a fixed answer about texting itself: to HELP, or to too many
	// texts at once.
	KindHelp Kind = "help"
	// KindSafety is the fixed answer to a text that may be a crisis.
	KindSafety Kind = "safety"
	// KindResult tells what a subagent found, where the model asked for that.
	KindResult Kind = "result"
	// KindSubagent is the kind of a subagent's own turn, which sends nothing.
	KindSubagent Kind = "subagent"
	// KindTeamNote is what an operator tells the coach and no person is sent.
	KindTeamNote Kind = "team_note"
	// KindDebug reaches testers only and is never part of the conversation.
	KindDebug Kind = "debug"
	// KindToolCall and KindToolResult are the assistant's calls and what they
	// returned; the window keeps them together, the history route leaves them out.
	KindToolCall   Kind = "tool_call"
	KindToolResult Kind = "tool_result"
)

// startedValidity is how long a message that the programme starts is worth
// sending: it is soon out of date, and quiet hours may begin.
const startedValidity = 30 * time.Minute

// KindSpec is what the code knows of a kind.
type KindSpec struct {
	Name Kind
	// Source is where a turn of the kind takes its text from: SourceStep is the
	// model. Empty where no turn sends the kind.
	Source TextSource
	// Fixed names the fixed text of kinds that no model writes, Fallback the one
	// that stands in for a model without an answer. Empty is the general one.
	Fixed, Fallback string
	// Label stands before an entry in what the model reads: the kinds that answer
	// no message have one.
	Label string
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
	{Name: KindMessage},
	{Name: KindReply, Source: SourceStep, Coaching: true, Urgent: true, CanBeOvertaken: true, UsefulFor: AnswerValidity, Repost: true, LaterRetry: true},
	{Name: KindGreeting, Source: SourceStep, Fallback: "greeting_fallback", Coaching: true, Urgent: true, CanBeOvertaken: true,
		UsefulFor: AnswerValidity, Repost: true, LaterRetry: true},
	{Name: KindOperator, Source: SourceOutbox, Label: "message from the team", Urgent: true, UsefulFor: AnswerValidity, Repost: true, LaterRetry: true},
	{Name: KindNotice, Source: SourceFixed, Fixed: "unenrolled_notice", Label: "notice", Urgent: true, PassesChecks: true,
		UsefulFor: AnswerValidity, Repost: true},
	{Name: KindConsent, Source: SourceFixed, Fixed: "opt_in_confirmation", Label: "notice", Urgent: true, PassesChecks: true,
		UsefulFor: AnswerValidity, Repost: true, LaterRetry: true},
	{Name: KindHelp, Source: SourceFixed, Fixed: "help", Label: "notice", Urgent: true, UsefulFor: AnswerValidity, Repost: true, LaterRetry: true},
	{Name: KindSafety, Source: SourceFixed, Fixed: "crisis", Label: "safety text", Urgent: true, UsefulFor: AnswerValidity, Repost: true},

	{Name: KindPrompt, Source: SourceStep, Fallback: "habit_fallback", Label: "daily prompt", Coaching: true, Initiated: true, CanBeHeld: true,
		UsefulFor: startedValidity, Repost: true, LaterRetry: true, Sent: EventPromptSent},
	// A subagent's result answers a request, so no hold stops it.
	{Name: KindResult, Source: SourceSubagent, Label: "result of a task given away", Coaching: true, Initiated: true,
		UsefulFor: startedValidity, Repost: true},
	{Name: KindReminder, Source: SourceFixed, Fixed: "reminder", Label: "reminder", Coaching: true, Initiated: true, CanBeHeld: true,
		UsefulFor: startedValidity},
	{Name: KindFeedbackQuestion, Source: SourceFixed, Fixed: "feedback_question", Label: "feedback question", Coaching: true, Initiated: true,
		CanBeHeld: true, UsefulFor: startedValidity},
	{Name: KindFeedbackFollowup, Source: SourceFixed, Fixed: "feedback_followup", Label: "feedback follow-up", Coaching: true, Initiated: true,
		CanBeHeld: true, UsefulFor: startedValidity},
	{Name: KindCheckIn, Source: SourceStep, Label: "check-in", Coaching: true, Initiated: true, CanBeHeld: true,
		UsefulFor: startedValidity, Sent: EventCheckInSent},
	{Name: KindDebug, UsefulFor: startedValidity, Hidden: true},

	{Name: KindTeamNote, Label: "note from the team"},
	{Name: KindSubagent, Coaching: true},
	{Name: KindToolCall, Hidden: true},
	{Name: KindToolResult, Hidden: true},
}

// Spec returns what the kind is; only the name for one that is not registered.
func (k Kind) Spec() KindSpec {
	i := slices.IndexFunc(kinds, func(spec KindSpec) bool { return spec.Name == k })
	if i < 0 {
		return KindSpec{Name: k}
	}
	return kinds[i]
}

// KindsWith lists the kinds for which has holds, in the order of the table.
func KindsWith(has func(KindSpec) bool) []Kind {
	var list []Kind
	for _, spec := range kinds {
		if has(spec) {
			list = append(list, spec.Name)
		}
	}
	return list
}
