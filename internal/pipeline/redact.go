package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"

	"coachline/internal/reply/redact"
	"coachline/models"
)

// redacted is a turn as a model may see it. It is the one stage that fails
// closed: an error means that nothing may be sent to a model.
func (p *Pipeline) redacted(turn models.TurnContext) (models.TurnContext, error) {
	turn.Window = slices.Clone(turn.Window)
	for i := range turn.Window {
		text, err := p.entry(turn.Window[i])
		if err != nil {
			return turn, err
		}
		turn.Window[i].Text = text
	}
	turn.Runs = slices.Clone(turn.Runs)
	for i := range turn.Runs {
		clean, err := redact.JSON([]byte(turn.Runs[i].Result))
		if err != nil {
			return turn, fmt.Errorf("redacting a tool's result: %w", err)
		}
		turn.Runs[i].Result = string(clean)
	}
	turn.Participant.Background = p.caches.clean(turn.Participant.Background, 0)
	known := &turn.Profile
	for _, text := range []*string{
		&known.HabitDomain, &known.MotivationalFrame, &known.PreferredTime, &known.PromptAnchor, &known.AdditionalInfo,
		&known.LastSuccessfulPrompt, &known.LastBarrier, &known.LastMotivator, &known.LastTweak, &known.LastHabitPrompt,
	} {
		*text = p.caches.clean(*text, 0)
	}
	return turn, nil
}

func (p *Pipeline) entry(m models.Message) (string, error) {
	switch {
	case m.Kind == models.KindToolCall || m.Kind == models.KindToolResult:
		clean, err := redact.JSON([]byte(m.Text))
		if err != nil {
			return "", fmt.Errorf("redacting a tool row: %w", err)
		}
		return string(clean), nil
	case m.Role == models.RoleUser:
		return p.caches.clean(m.Text, maxText), nil
	}
	return p.caches.clean(m.Text, 0), nil
}

// cleanCalls masks the arguments of calls before they are stored (H14).
// Arguments that cannot be judged are replaced by none.
func cleanCalls(calls []models.ToolCall) []models.ToolCall {
	out := slices.Clone(calls)
	for i := range out {
		clean, err := redact.JSON([]byte(out[i].Arguments))
		if err != nil || !json.Valid(clean) && json.Valid([]byte(out[i].Arguments)) {
			clean = []byte("{}")
		}
		out[i].Arguments = string(clean)
	}
	return out
}
