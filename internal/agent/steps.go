package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"coachline/internal/wrap"
	"coachline/models"
)

// toolStep is one finished step of the turn as the model sees it: its calls and
// one result for each.
type toolStep struct {
	after    int64
	messages []models.ChatMessage
}

// notRun stands in for the result of a call that has none; every call needs a
// result, and the model must not take it for done.
const notRun = `{"ok":false,"error":"this call was not carried out; nothing changed"}`

// stepsOf lists the steps of a turn that called tools, in order. Steps with
// a text only are left out: the text was not sent, or the turn would have
// ended, and the model must not believe that the person read it.
func stepsOf(ctx models.TurnContext) ([]toolStep, error) {
	steps := slices.Clone(ctx.Steps)
	slices.SortStableFunc(steps, func(a, b models.Step) int { return cmp.Compare(a.Number, b.Number) })
	var found []toolStep
	for _, step := range steps {
		calls, err := stepCalls(step)
		if err != nil {
			return nil, err
		}
		if len(calls) == 0 {
			continue
		}
		r := toolStep{after: step.AfterMessage}
		r.messages = append(r.messages, models.ChatMessage{Role: roleAssistant, Content: step.Text, ToolCalls: fixArguments(calls)})
		for i, call := range calls {
			content, err := callResult(ctx.Runs, step.Number, i)
			if err != nil {
				return nil, err
			}
			r.messages = append(r.messages, models.ChatMessage{Role: roleTool, Content: content, ToolCallID: call.ID})
		}
		found = append(found, r)
	}
	return found, nil
}

// stepCalls reads the calls of a step. A call without an id gets one from its
// place, since a result must name the call it belongs to.
func stepCalls(step models.Step) ([]models.ToolCall, error) {
	if step.Calls == "" {
		return nil, nil
	}
	var calls []models.ToolCall
	if err := json.Unmarshal([]byte(step.Calls), &calls); err != nil {
		return nil, fmt.Errorf("decoding calls of step %d: %w", step.Number, err)
	}
	for i := range calls {
		if calls[i].ID == "" {
			calls[i].ID = fmt.Sprintf("call-s%d-c%d", step.Number, i)
		}
	}
	return calls, nil
}

// callResult returns the content of the result of one call, or notRun when it
// has none.
func callResult(runs []models.ToolRun, step, call int) (string, error) {
	at := slices.IndexFunc(runs, func(run models.ToolRun) bool { return run.Step == step && run.Call == call })
	if at < 0 {
		return notRun, nil
	}
	var result models.ToolResult
	err := json.Unmarshal([]byte(runs[at].Result), &result)
	return result.Content, wrap.Errorf(err, "decoding result of step %d, call %d", step, call)
}

// fixArguments replaces arguments that are no JSON object by an empty one: some
// servers refuse the whole request for them. The result reports what was wrong.
func fixArguments(calls []models.ToolCall) []models.ToolCall {
	out := slices.Clone(calls)
	for i := range out {
		var object map[string]any
		if err := json.Unmarshal([]byte(out[i].Arguments), &object); err != nil || object == nil {
			out[i].Arguments = "{}"
		}
	}
	return out
}
