package tools

import (
	"encoding/json"

	"coachline/models"
	"coachline/models/wire"
)

// Subagents are the two tools that give a task away.
func Subagents() []Tool { return []Tool{spawnTool(), subagentTool()} }

// taskProperties are the arguments that both tools have.
const taskProperties = `    "task": {
      "type": "string",
      "minLength": 1,
      "maxLength": 2000,
      "description": "What to find out, complete in itself, and what the answer should look like."
    },
    "label": {
      "type": "string",
      "maxLength": 60,
      "description": "A few words that name the task."
    }`

// spawnTool gives a task away and goes on. What the task is stays in the row
// of the call; the event says only what becomes of the result.
func spawnTool() Tool {
	return Tool{
		Name: "spawn",
		Description: "Give a task that takes several look-ups to a helper that works in the background; you go on at once and do not learn the result. " +
			"The helper sees nothing but the task, can only look things up, and can change nothing. " +
			"delivery log keeps the result for the team, delivery user texts it to the person when it is ready.",
		Schema: json.RawMessage(`{
  "type": "object",
  "properties": {
` + taskProperties + `,
    "delivery": {
      "type": "string",
      "enum": ["log", "user"],
      "description": "Who gets the result; log if left out. With user, ask for one short text to the person, in their language."
    }
  },
  "required": ["task"],
  "additionalProperties": false
}`),
		Modes:   bothModes(),
		Control: true,
		Event: func(args Arguments, _ string) (wire.Event, error) {
			return delegationEvent(wire.Subagent{Tell: args.Text("delivery") == "user"}), nil
		},
	}
}

// subagentTool gives a task away and waits for the result.
func subagentTool() Tool {
	return Tool{
		Name: "subagent",
		Description: "Give a task that takes several look-ups to a helper and wait for its result, a minute at most, because the person waits too. " +
			"The helper sees nothing but the task, can only look things up, and can change nothing. " +
			"Not for what one call of your own tools can do.",
		Schema: json.RawMessage(`{
  "type": "object",
  "properties": {
` + taskProperties + `
  },
  "required": ["task"],
  "additionalProperties": false
}`),
		Modes:   bothModes(),
		Control: true,
		Event: func(Arguments, string) (wire.Event, error) {
			return delegationEvent(wire.Subagent{Wait: true}), nil
		},
	}
}

func delegationEvent(s wire.Subagent) wire.Event {
	return wire.Event{Kind: wire.EventSubagentAsk, Plan: wire.TurnPlan{Kind: wire.TurnSubagent, Subagent: s}}
}

// Task returns what a call of spawn or subagent gives away, and its label, which may
// be empty. A *models.FieldError for a call that gives nothing away.
func (r *Registry) Task(call models.ToolCall) (task, label string, err error) {
	tool, err := r.findTool(call.Name)
	if err != nil {
		return "", "", err
	}
	args, err := tool.parseArguments(call.Arguments)
	if err != nil {
		return "", "", err
	}
	if args.Text("task") == "" {
		return "", "", models.BadField("task", "is required")
	}
	return args.Text("task"), args.Text("label"), nil
}

// ForSubagents lists what a subagent may call: tools that only look
// something up. What gives tasks away or changes anything is not among them.
func (r *Registry) ForSubagents() []models.ToolSpec {
	var specs []models.ToolSpec
	for _, name := range r.current.Load().order {
		if tool := r.current.Load().tools[name]; tool.forSubagents() {
			specs = append(specs, tool.toSpec())
		}
	}
	return specs
}

func (t *Tool) forSubagents() bool { return t.ReadOnly && t.Run != nil && !t.Control }
