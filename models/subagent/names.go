// Package subagent holds the names of tasks that the model gave away: both ends
// must agree on them.
package subagent

import (
	"strconv"
	"strings"
)

// WorkflowType is the registered name of a subagent, SignalDone tells the
// participant's workflow that one ended.
const (
	WorkflowType = "Subagent"
	SignalDone   = "SubagentDone"
)

// WorkflowID is the workflow id of the subagent with a turn id; it holds ids
// and numbers only.
func WorkflowID(turnID string) string { return "subagent-" + turnID }

// TurnID names the turn of the subagent that call number call (from 0) of a
// round of a turn started: "<participant>-t42-s1-c0". The id tells where the
// subagent comes from.
func TurnID(turnID string, round, call int) string {
	return turnID + "-s" + strconv.Itoa(round) + "-c" + strconv.Itoa(call)
}

// Origin is the call that a subagent was started by.
type Origin struct {
	TurnID      string
	Round, Call int
}

// ParseTurnID is the inverse of TurnID; ok is false for other texts.
func ParseTurnID(id string) (o Origin, ok bool) {
	at := strings.LastIndex(id, "-s")
	if at < 1 {
		return Origin{}, false
	}
	round, call, _ := strings.Cut(id[at+2:], "-c")
	o.TurnID = id[:at]
	var err error
	if o.Round, err = strconv.Atoi(round); err != nil {
		return Origin{}, false
	}
	if o.Call, err = strconv.Atoi(call); err != nil || TurnID(o.TurnID, o.Round, o.Call) != id {
		return Origin{}, false
	}
	return o, true
}
