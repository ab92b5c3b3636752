package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
)

// generateHabitPrompt writes one habit prompt from the profile. immediate gives
// the text to the model for its reply; scheduled keeps it for the next
// scheduled prompt.
func generateHabitPrompt() Tool {
	return Tool{
		Name:        "generate_habit_prompt",
		Description: "Write one habit prompt (anchor, action, benefit) from the profile, when they want to see one or another one.",
		Schema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "delivery_mode": {
      "type": "string",
      "enum": ["immediate", "scheduled"],
      "description": "immediate: its text is for your reply; scheduled: it is kept for the next scheduled prompt."
    },
    "personalization_notes": {
      "type": "string",
      "maxLength": 500,
      "description": "What this one should take into account."
    }
  },
  "required": ["delivery_mode"],
  "additionalProperties": false
}`),
		Modes:  []wire.Mode{wire.ModeIntake},
		Core:   []wire.Mode{wire.ModeIntake},
		Needed: func(p models.Profile) bool { return len(coach.PromptNeeds(p)) == 0 },
		Keywords: "example sample preview suggest suggestion idea motivate motivation encourage another nudge " +
			"ejemplo muestra muéstrame muestrame sugerencia motiva motívame ánimo otro " +
			"exemple montre montrer idée idee motive autre " + //nolint:misspell // French
			"beispiel zeig zeige vorschlag motivier motiviere ermutige anderen " +
			"exemplo mostra mostre sugestão sugestao ideia outra",
		Tidy: dropEmpty,
		Run:  writeHabitPrompt,
	}
}

type promptAnswer struct {
	OK           bool   `json:"ok"`
	DeliveryMode string `json:"delivery_mode"`
	Prompt       string `json:"prompt"`
	Note         string `json:"note"`
}

func writeHabitPrompt(ctx context.Context, in RunInput, args Arguments) (Execution, error) {
	if needs := coach.PromptNeeds(in.Profile); len(needs) > 0 {
		return Execution{}, models.BadField(strings.Join(needs, ", "),
			"missing from the profile; ask the person and save it with save_user_profile first")
	}
	text, err := in.Writer.HabitPrompt(ctx, in.Profile, cleanText(args.Text("personalization_notes")))
	if err != nil {
		return Execution{}, fmt.Errorf("writing habit prompt: %w", err)
	}
	profile := in.Profile
	profile.LastHabitPrompt = text
	profile.UpdatedAt = in.Now
	answer := promptAnswer{OK: true, DeliveryMode: args.Text("delivery_mode"), Prompt: text}
	if answer.DeliveryMode == "scheduled" {
		profile.PreparedPrompt = text
		answer.Note = "Kept for the next scheduled prompt. Nothing is sent now, and nothing will be while no schedule exists."
	} else {
		answer.Note = "Not sent yet. Put this text into your reply."
	}
	return Execution{Result: successResult(in.Call, answer), Profile: &profile}, nil
}
