package records

import (
	"encoding/json"

	"coachline/internal/api"
	"coachline/models"
)

// subagentOf shows a subagent with the call that it was started by; the
// task is what that call was given.
func subagentOf(sub, parent models.TurnRecord) (api.Subagent, error) {
	out := api.Subagent{Turn: summaryOf(sub.Totals), Rounds: []api.Round{}}
	origin, _ := models.ParseSubagentTurnID(sub.Totals.Turn.ID)
	out.Origin = api.Origin{
		Workflow: models.WorkflowID(sub.Totals.Turn.ParticipantID), Channel: parent.Channel, Turn: origin.TurnID, Round: origin.Round, Call: origin.Call,
	}
	for _, step := range parent.Steps {
		calls, err := step.ToolCalls()
		if err != nil {
			return out, err
		}
		if step.Number != origin.Round || origin.Call >= len(calls) {
			continue
		}
		call := calls[origin.Call]
		out.Origin.Tool = call.Name
		var given struct{ Task, Label string }
		if json.Unmarshal([]byte(call.Arguments), &given) == nil {
			out.Task, out.Label = given.Task, given.Label
		}
	}
	for _, step := range sub.Steps {
		round, err := roundOf(step, sub.Runs)
		if err != nil {
			return out, err
		}
		out.Rounds = append(out.Rounds, round)
	}
	return out, nil
}
