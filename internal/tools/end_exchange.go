package tools

import (
	"context"
	"encoding/json"
)

// stopTool is the tool that ends an exchange.
const stopTool = "end_exchange"

// endExchange ends an exchange in silence (J84). It only marks: the caller
// sees Tool.Ends and sends nothing. It never opts anybody out (C16), which is
// the front door's business.
func endExchange() *definition {
	return &definition{
		Tool: Tool{
			Name: "end_exchange",
			Description: "End this exchange without sending a reply. Only when you have said goodbye and the person does no more than acknowledge it " +
				"(ok, thanks, bye, a thumbs up). Never when they ask, tell or report anything. " +
				"It is no opt-out: it does not stop, pause or change their texts, and the next text is answered as usual.",
			Schema: json.RawMessage(`{
  "type": "object",
  "properties": {},
  "additionalProperties": false
}`),
			Modes: bothModes(),
			Ends:  true,
		},
		control: true,
		tidy:    dropEmpty,
		run: func(_ context.Context, in RunInput, _ arguments) (Execution, error) {
			return Execution{Result: success(in.Call, endAnswer{OK: true, Note: "The exchange ends here; no reply is sent."})}, nil
		},
	}
}

type endAnswer struct {
	OK   bool   `json:"ok"`
	Note string `json:"note"`
}
