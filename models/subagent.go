package models

import (
	"strconv"
	"strings"
)

// SubagentWorkflowID is the workflow id of the subagent with a turn id; it holds
// ids and numbers only.
func SubagentWorkflowID(turnID string) string { return "subagent-" + turnID }

// SubagentTurnID names the turn of the subagent that call number call (from 0)
// of a step of a turn started: "<participant>-t42-s1-c0". The id tells where
// the subagent comes from.
func SubagentTurnID(turnID string, step, call int) string {
	return turnID + "-s" + strconv.Itoa(step) + "-c" + strconv.Itoa(call)
}

// SubagentOrigin is the call that a subagent was started by.
type SubagentOrigin struct {
	TurnID     string
	Step, Call int
}

// ParseSubagentTurnID is the inverse of SubagentTurnID; ok is false for other texts.
func ParseSubagentTurnID(id string) (o SubagentOrigin, ok bool) {
	at := strings.LastIndex(id, "-s")
	if at < 1 {
		return SubagentOrigin{}, false
	}
	step, call, _ := strings.Cut(id[at+2:], "-c")
	o.TurnID = id[:at]
	var err error
	if o.Step, err = strconv.Atoi(step); err != nil {
		return SubagentOrigin{}, false
	}
	if o.Call, err = strconv.Atoi(call); err != nil || SubagentTurnID(o.TurnID, o.Step, o.Call) != id {
		return SubagentOrigin{}, false
	}
	return o, true
}
