package tools

import (
	"context"
	"encoding/json"
)

// askForPerson tells the team that the person wants one of them. Operators see the
// reason, with the conversation; when they answer is theirs to say.
func askForPerson() Tool {
	return Tool{
		Name:        "ask_for_person",
		Description: "Tell the team that this person wants a human, or needs help that you may not give. You cannot say when they answer.",
		Schema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "reason": {
      "type": "string",
      "minLength": 1,
      "maxLength": 300
    }
  },
  "required": ["reason"],
  "additionalProperties": false
}`),
		Modes:   bothModes(),
		Control: true,
		Run: func(_ context.Context, in RunInput, args Arguments) (Execution, error) {
			return Execution{NeedsPerson: true, Result: successResult(in.Call, askedAnswer{
				OK: true, Reason: args.Text("reason"), Note: "The team sees it. Say that they have been told and may not answer at once; promise no time and no call.",
			})}, nil
		},
	}
}

type askedAnswer struct {
	OK     bool   `json:"ok"`
	Reason string `json:"reason"`
	Note   string `json:"note"`
}
