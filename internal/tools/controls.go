package tools

import (
	"context"
	"encoding/json"

	"coachline/models"
)

const stopTool = "end_exchange"

// endExchange ends an exchange in silence. It only marks: the caller
// sees Tool.Ends and sends nothing. It never opts a person out, which is
// the starter's task.
func endExchange() Tool {
	return Tool{
		Name: "end_exchange",
		Description: "End the exchange without a reply, only when you have said goodbye and they do no more than acknowledge it (ok, thanks, a thumbs up). " +
			"Never when they ask, tell or report anything. It is no opt-out.",
		Schema: json.RawMessage(`{
  "type": "object",
  "properties": {},
  "additionalProperties": false
}`),
		Modes:   bothModes(),
		Ends:    true,
		Control: true,
		Tidy:    dropEmpty,
		Run: func(_ context.Context, in RunInput, _ Arguments) (Execution, error) {
			return Execution{Result: successResult(in.Call, endAnswer{OK: true, Note: "The exchange ends here; no reply is sent."})}, nil
		},
	}
}

type endAnswer struct {
	OK   bool   `json:"ok"`
	Note string `json:"note"`
}

const searchTool = "find_tools"

// Finder looks for tools among those that mode and channel permit, which the
// caller binds. The answer has lines "name: description", or a
// sentence that names no tool.
type Finder interface {
	FindTools(query string) string
}

// findTools lets the model look for a tool that this turn does not offer. Its
// result is the finder's lines as they are, because the caller reads the names
// in them.
func findTools() Tool {
	return Tool{
		Name:        "find_tools",
		Description: "Find a tool for what these cannot do, such as to look up or forget what they told you, or to pause their texts. Say what has to be done, in English.",
		Schema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "query": {
      "type": "string",
      "minLength": 1,
      "maxLength": 300
    }
  },
  "required": ["query"],
  "additionalProperties": false
}`),
		Modes:   bothModes(),
		Control: true,
		Run: func(_ context.Context, in RunInput, args Arguments) (Execution, error) {
			if in.Finder == nil {
				return Execution{}, models.BadField("tool", "there are no further tools in this conversation; go on with what is offered")
			}
			lines := in.Finder.FindTools(args.Text("query"))
			return TextResult(in.Call, lines), nil
		},
	}
}
