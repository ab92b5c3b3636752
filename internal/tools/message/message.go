// Package message is the tool by which a model sends its person one more text
// in the middle of a turn. The words pass the guard and the rendering of
// a final reply; whom they reach is never the model's choice.
package message

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"coachline/internal/agent"
	"coachline/internal/agent/toolcall"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
)

// most is how many texts a turn may send beside its final words.
const most = 2

// Ledger reads the turn that a call belongs to.
type Ledger interface {
	TurnContext(ctx context.Context, turnID string, window int) (models.TurnContext, error)
}

// Events counts what an operator should look into.
type Events interface {
	Security(event string)
}

// Config holds the dependencies of a Handler; Ledger and Events are required.
type Config struct {
	Ledger Ledger
	Events Events
	// Instructions are those of the coach, which no text may repeat; nil for
	// none.
	Instructions *agent.Instructions
}

// Handler answers the tool. It is safe for use by several goroutines.
type Handler struct{ Config }

// New builds a Handler.
func New(cfg Config) *Handler { return &Handler{cfg} }

// Tool sends a text to the participant of the turn, on the turn's channel. The
// schema has no field for another recipient.
func (d *Handler) Tool() tools.Tool {
	return tools.Tool{
		Name: models.ToolMessage,
		Description: "Text the person now, before your final words, when what you are about to do takes a moment or stands on its own. " +
			"It reaches the person you talk to and nobody else; at most two in one answer. " +
			"Your final words are sent after it: do not repeat it there, and leave them empty when everything is said.",
		Schema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "content": {
      "type": "string",
      "minLength": 1,
      "maxLength": 400,
      "description": "The text, as the person reads it."
    }
  },
  "required": ["content"],
  "additionalProperties": false
}`),
		Modes:   []wire.Mode{wire.ModeIntake, wire.ModeFeedback},
		Control: true,
		Inspect: d.inspect,
		Run: func(ctx context.Context, in tools.RunInput, args tools.Arguments) (tools.Execution, error) {
			text, err := d.words(ctx, in.TurnID, args.Text("content"))
			return tools.SayResult(in.Call, text), err
		},
	}
}

// words are what the person is sent. A *models.FieldError is written for the
// model; every other error is worth a retry.
func (d *Handler) words(ctx context.Context, turnID, content string) (string, error) {
	turn, err := d.Ledger.TurnContext(ctx, turnID, 0)
	if err != nil {
		return "", fmt.Errorf("reading the turn: %w", err)
	}
	switch {
	case turn.Turn.Kind != wire.TurnReply:
		return "", models.BadField("content", "is not sent, because the participant did not write; say it in your final words")
	case turn.IsOver():
		return "", models.BadField("content", "is not sent, because the person gets no texts now")
	case countSent(turn) >= most:
		return "", models.BadField("content", "is not sent, because %d texts were sent in this answer already; say it in your final words", most)
	case strings.Contains(content, "[REDACTED_"):
		// What is stored of a call is masked, and the person shall not read masks.
		return "", models.BadField("content", "is not sent, because it holds a number, an address or a code; say it in your final words")
	}
	return d.renderText(turn, content)
}

func countSent(turn models.TurnContext) int {
	n := 0
	for _, run := range turn.Runs {
		if _, ok := models.InterimMessageOf(run); ok {
			n++
		}
	}
	return n
}

// renderText is a text as a final reply would be shown, screened as one.
func (d *Handler) renderText(turn models.TurnContext, content string) (string, error) {
	verdict := toolcall.JudgeNative(models.ChatResponse{Text: content}, toolcall.Native{})
	words := ""
	if verdict.Judgment == toolcall.Words {
		words = agent.Words(verdict.Text)
	}
	if words == "" {
		return "", models.BadField("content", "holds no words for a person")
	}
	screened := agent.Screen(agent.Outbound{Text: words, Phone: turn.Participant.Phone, Instructions: d.Instructions})
	if len(screened.Dropped) > 0 {
		return "", models.BadField("content", "is not sent, because it holds what must not be sent (%s); say it in other words", strings.Join(screened.Dropped, ", "))
	}
	return words, nil
}
