// Package aside holds the names of texts that the model sends in the middle of
// a turn: the tool, the workflow and the store must agree on them.
package aside

import (
	"fmt"

	"coachline/models"
)

// Tool is the name of the tool that sends them.
const Tool = "message"

// ID names what call number call (from 0) of a round of a turn has sent:
// "<participant>-t42-s1c0". Its outbox rows are models.OutboxID of it.
func ID(turnID string, round, call int) string {
	return fmt.Sprintf("%s-s%dc%d", turnID, round, call)
}

// Of is the ID of what a call has sent; ok is false for calls that sent nothing.
func Of(run models.ToolRun) (id string, ok bool) {
	return ID(run.TurnID, run.Step, run.Call), run.Name == Tool && !run.Failed
}

// Like is the SQL pattern of the outbox ids of a turn's asides, among the ids of
// that turn.
func Like(turnID string) string { return turnID + "-s%" }

// Result is what the workflow has to know of a tool call that was run.
type Result struct {
	// Shown: a text is out on a channel without a carrier.
	Shown bool `json:"shown,omitempty"`
	// Send lists outbox rows to send, in order.
	Send []string `json:"send,omitempty"`
}
