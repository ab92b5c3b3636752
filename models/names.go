// Package models holds table rows, what the store is asked and answers, and the tables of
// kinds and channels. What the histories of workflows hold is in package wire, the only
// other one that it imports beside the standard library.
package models

import (
	"strconv"
	"strings"
)

// Counters of the workflow, without the ending that Prometheus gives them.
const (
	// MetricDrained counts texts that were received just before a run continued
	// as new, MetricUnhandled signals that were lost there.
	MetricDrained   = "coachline_drained_signals"
	MetricUnhandled = "coachline_unhandled_signals"
)

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
