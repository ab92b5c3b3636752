// Package wire holds what the histories of workflows hold: the state, inputs and results
// of activities, signals, updates and queries, and the names registered with Temporal.
// Histories of participants who are enrolled were written by older builds and are replayed
// by newer ones, so a JSON name, a value or a registered name that changes breaks them:
// fields are added, with omitempty or omitzero, and never renamed or put to another use.
// Nothing else of the models is frozen like this. A type belongs here exactly when a
// workflow or an activity takes or returns it (TestHistoriesHoldWireTypes). It holds ids,
// codes and instants, no text, name or number of a person, and imports the standard
// library only.
package wire

import (
	"strconv"
	"strings"
	"time"
)

// WorkflowType is the registered name of a participant's workflow.
const WorkflowType = "Participant"

// WorkflowReconcile is the registered name of the reconciliation, and
// ScheduleReconcile the schedule that starts it.
const (
	WorkflowReconcile = "Reconcile"
	ScheduleReconcile = "coachline-reconcile"
)

// SubagentWorkflowType is the registered name of a subagent;
// SignalSubagentDone tells the participant's workflow that one ended.
const (
	SubagentWorkflowType = "Subagent"
	SignalSubagentDone   = "SubagentDone"
)

// Task queues. Coach carries workflow tasks and short database work; model
// calls and carrier calls have queues of their own so that a slow provider
// never holds up a decision.
const (
	QueueCoach = "coach"
	QueueModel = "coach-model"
	QueueSMS   = "coach-sms"
)

// TaskLimit is how long a person whose worker died in the middle of a workflow task
// waits for another one. A task takes milliseconds; local activities in one that takes
// longer report to the server.
const TaskLimit = 5 * time.Second

// FirstPause is the wait before the second attempt of a model call or a send, which may
// have been lost with its worker.
const FirstPause = 300 * time.Millisecond

// SignalMessageReceived announces one stored inbound text.
const SignalMessageReceived = "MessageReceived"

// Updates an operator may send to a running participant.
const (
	UpdatePause       = "Pause"
	UpdateResume      = "Resume"
	UpdateSetMode     = "SetMode"
	UpdateSendMessage = "SendMessage"
	UpdateParticipant = "UpdateParticipant"
	UpdateUnenroll    = "Unenroll"
	UpdateTakeOver    = "TakeOver"
	UpdateHandBack    = "HandBack"
	// UpdateChangeSchedules adds, changes, moves or removes daily prompts.
	UpdateChangeSchedules = "ChangeSchedules"
)

// NoticeUpdateID is the id of the update that delivers a notice. It holds the
// notice's number, which rises with each notice of a participant.
func NoticeUpdateID(notice int64) string { return "n" + strconv.FormatInt(notice, 10) }

// ParseNoticeUpdateID is the inverse of NoticeUpdateID; ok is false for updates
// that are no notices.
func ParseNoticeUpdateID(updateID string) (notice int64, ok bool) {
	digits, found := strings.CutPrefix(updateID, "n")
	notice, err := strconv.ParseInt(digits, 10, 64)
	return notice, found && err == nil && notice > 0
}

// Queries a running or closed participant answers.
const (
	QueryStatus    = "Status"
	QuerySchedules = "Schedules"
)

// Search attributes, kept small and free of personal data: they are stored in
// the clear.
const (
	AttrStatus     = "CoachStatus"
	AttrMode       = "CoachMode"
	AttrNextDue    = "CoachNextDue"
	AttrEnrolledAt = "CoachEnrolledAt"
	// AttrAttention holds the open kinds of attention; AttrUnreachable is true
	// while the carrier cannot reach the number.
	AttrAttention   = "CoachAttention"
	AttrUnreachable = "CoachUnreachable"
	// AttrStudy and AttrArm are set when the workflow starts and stay; an arm that
	// is allocated later is in the tables only.
	AttrStudy = "CoachStudy"
	AttrArm   = "CoachArm"
)

// SearchAttributes gives the type of each search attribute, in the words of
// Temporal's command line.
func SearchAttributes() map[string]string {
	return map[string]string{
		AttrStatus: "Keyword", AttrMode: "Keyword", AttrNextDue: "Datetime", AttrEnrolledAt: "Datetime",
		AttrAttention: "KeywordList", AttrUnreachable: "Bool", AttrStudy: "Keyword", AttrArm: "Keyword",
	}
}

// Activities that run without a workflow: fixed texts that no turn belongs to, texts
// whose turn is over, memory, pages.
const (
	ActivitySendHint        = "SendHint"
	ActivitySendLimitNotice = "SendLimitNotice"
	ActivitySendAsk         = "SendAsk"
	ActivitySendLate        = "SendLate"
	// ActivityRemember follows a reply; nothing waits for it.
	ActivityRemember = "Remember"
	// ActivityRememberTurns is the same for a batch of turns.
	ActivityRememberTurns = "RememberTurns"
	// ActivityEraseCopies has the carrier delete an erased person's messages.
	ActivityEraseCopies = "EraseCopies"
	// ActivitySafetyText and ActivityPage are for an alert.
	ActivitySafetyText = "SendSafetyText"
	ActivityPage       = "SendPage"
)

// Application error types that activities raise and retry policies and
// operators see by name in the Temporal UI.
const (
	ErrTypeModelRefused = "ModelRefused"
	ErrTypeModelBusy    = "ModelBusy"
	ErrTypeTimeLimit    = "TimeLimit"
	// ErrTypeBudget: the budget is spent, so no model was asked.
	ErrTypeBudget = "BudgetSpent"
	// ErrTypeStuck: the text ended two runs of the workflow, so no model was asked.
	ErrTypeStuck          = "TextStuck"
	ErrTypeModelOverflow  = "ModelContextOverflow"
	ErrTypeCarrierBusy    = "CarrierBusy"
	ErrTypeCarrierUnknown = "CarrierOutcomeUnknown"
	ErrTypeInvalid        = "InvalidInput"
	ErrTypeRefused        = "Refused" // an operator's command that the rules refuse
	ErrTypeMissing        = "Missing"
)
