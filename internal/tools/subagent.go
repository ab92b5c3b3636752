package tools

import (
	"encoding/json"

	"coachline/models"
)

// Subagents adds the two tools that give a task away.
func Subagents() Option {
	return func(all []*definition) []*definition { return append(all, spawnTool(), subagentTool()) }
}

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
func spawnTool() *definition {
	return &definition{
		Tool: Tool{
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
			InWorkflow: true,
			Modes:      bothModes(),
		},
		control: true,
		tidy:    tidyTexts,
		event: func(args arguments, _ string) (models.Event, error) {
			return delegationEvent(models.Subagent{Tell: args.textOf("delivery") == "user"}), nil
		},
	}
}

// subagentTool gives a task away and waits for the result.
func subagentTool() *definition {
	return &definition{
		Tool: Tool{
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
			InWorkflow: true,
			Modes:      bothModes(),
		},
		control: true,
		tidy:    tidyTexts,
		event: func(arguments, string) (models.Event, error) {
			return delegationEvent(models.Subagent{Wait: true}), nil
		},
	}
}

func delegationEvent(s models.Subagent) models.Event {
	return models.Event{Kind: models.EventSubagentAsk, Plan: models.TurnPlan{Kind: models.TurnSubagent, Subagent: s}}
}

// Task returns what a call of spawn or subagent gives away, and its label, which may
// be empty. A *models.FieldError for a call that gives nothing away.
func (r *Registry) Task(call models.ToolCall) (task, label string, err error) {
	def, err := r.findTool(call.Name)
	if err != nil {
		return "", "", err
	}
	args, err := def.parseArguments(call.Arguments)
	if err != nil {
		return "", "", err
	}
	if args.textOf("task") == "" {
		return "", "", models.BadField("task", "is required")
	}
	return args.textOf("task"), args.textOf("label"), nil
}

// ForSubagents lists what a subagent may call: tools that only look
// something up. What gives tasks away or changes anything is not among them.
func (r *Registry) ForSubagents() []models.ToolSpec {
	var specs []models.ToolSpec
	for _, name := range r.order {
		if def := r.tools[name]; def.forSubagents() {
			specs = append(specs, def.toSpec())
		}
	}
	return specs
}

func (d *definition) forSubagents() bool { return d.ReadOnly && d.run != nil && !d.control }
