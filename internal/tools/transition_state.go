package tools

import (
	"encoding/json"
	"time"

	"coachline/models/wire"
)

// transitionState switches between the modes, at once or later. Delays are
// minutes and may be fractions (0.5 is 30 seconds); a year is the most, which
// keeps every delay within what a timer can hold.
func transitionState() Tool {
	return Tool{
		Name:        "transition_state",
		Description: "Switch between INTAKE (getting to know the person, setting up) and FEEDBACK (how the last prompt went), after this reply or after delay_minutes.",
		Schema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "target_state": {
      "type": "string",
      "enum": ["INTAKE", "FEEDBACK"]
    },
    "delay_minutes": {
      "type": "number",
      "minimum": 0,
      "maximum": 525600
    },
    "reason": {
      "type": "string",
      "maxLength": 500
    }
  },
  "required": ["target_state"],
  "additionalProperties": false
}`),
		Modes: bothModes(),
		Core:  bothModes(),
		Keywords: "feedback went review discuss start restart again begin setup interview questions instead different " +
			"empezar comenzar reiniciar opinión opinion fue preguntas distinto nuevo " +
			"commencer recommencer avis passé passe différent nouveau " +
			"anfangen beginnen neu rückmeldung rueckmeldung lief gelaufen fragen anders " +
			"começar comecar recomeçar recomecar perguntas",
		Tidy: dropEmpty,
		Event: func(args Arguments, _ string) (wire.Event, error) {
			minutes, _ := args["delay_minutes"].(float64)
			return wire.Event{
				Kind:  wire.EventTransitionAsk,
				Mode:  wire.Mode(args.Text("target_state")),
				Delay: time.Duration(minutes * float64(time.Minute)),
			}, nil
		},
	}
}
