// Package models holds the shapes that cross a boundary: workflow state,
// signals, updates and queries, activity inputs and results, table rows, and
// the names both sides must agree on. It imports the standard library only.
package models

import (
	"strconv"
	"strings"
)

// WorkflowType is the registered name of a participant's workflow.
const WorkflowType = "Participant"

// WorkflowReconcile is the registered name of the reconciliation, and
// ScheduleReconcile the schedule that starts it.
const (
	WorkflowReconcile = "Reconcile"
	ScheduleReconcile = "coachline-reconcile"
)

// Task queues. Coach carries workflow tasks and short database work; model
// calls and carrier calls have queues of their own so that a slow provider
// never holds up a decision.
const (
	QueueCoach = "coach"
	QueueModel = "coach-model"
	QueueSMS   = "coach-sms"
)

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

// Counters of the workflow, without the ending that Prometheus gives them.
const (
	// MetricDrained counts texts that were received just before a run continued
	// as new, MetricUnhandled signals that were lost there.
	MetricDrained   = "coachline_drained_signals"
	MetricUnhandled = "coachline_unhandled_signals"
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

const workflowIDPrefix = "participant-"

// WorkflowID is the workflow id of a participant; it never holds a phone
// number, because ids are visible in lists and outside the payload codec.
func WorkflowID(participantID string) string { return workflowIDPrefix + participantID }

// ParticipantIDOf is the inverse of WorkflowID; ok is false for other ids.
func ParticipantIDOf(workflowID string) (id string, ok bool) {
	return strings.CutPrefix(workflowID, workflowIDPrefix)
}

// TurnID names a turn of a participant: "<participant>-t42".
func TurnID(participantID string, number int) string {
	return participantID + "-t" + strconv.Itoa(number)
}

// ParseTurnID is the inverse of TurnID; ok is false for other texts.
func ParseTurnID(id string) (participantID string, number int, ok bool) {
	at := strings.LastIndex(id, "-t")
	if at < 1 {
		return "", 0, false
	}
	number, err := strconv.Atoi(id[at+2:])
	if err != nil || number < 0 || TurnID(id[:at], number) != id {
		return "", 0, false
	}
	return id[:at], number, true
}

// OutboxID names part n (from 1) of what a turn sends.
func OutboxID(turnID string, part int) string {
	return turnID + "-p" + strconv.Itoa(part)
}
