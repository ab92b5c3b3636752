package models

import "fmt"

// ToolMessage is the name of the tool with which the model sends a text before
// the turn has ended (an interim message). The tool, the workflow and the store
// must agree on the names below.
const ToolMessage = "message"

// ToolAskForPerson is the name of the tool whose results say why a person wants a human.
const ToolAskForPerson = "ask_for_person"

// ToolReportConcern is the name of the tool by which the coach raises an alert. No study
// can leave it out.
const ToolReportConcern = "report_concern"

// OutsideTool begins the names of tools of MCP servers.
const OutsideTool = "mcp_"

// InterimMessageID names what call number call (from 0) of a step of a turn has
// sent: "<participant>-t42-s1c0". Its outbox rows are OutboxID of it.
func InterimMessageID(turnID string, step, call int) string {
	return fmt.Sprintf("%s-s%dc%d", turnID, step, call)
}

// InterimMessageOf is the ID of what a call has sent; ok is false for calls that
// sent nothing.
func InterimMessageOf(run ToolRun) (id string, ok bool) {
	return InterimMessageID(run.TurnID, run.Step, run.Call), run.Name == ToolMessage && !run.Failed
}

// InterimMessagePattern is the SQL pattern of the outbox ids of a turn's interim
// messages, among the ids of that turn.
func InterimMessagePattern(turnID string) string { return turnID + "-s%" }
