package tools

import (
	"context"
	"encoding/json"
	"time"

	"coachline/models"
)

// longestPause is how many days from today a person may pause what we start.
const longestPause = 92

// pausePrompts holds what we start until a day, in the person's zone. A later call
// replaces the pause; today's date ends it.
func pausePrompts() Tool {
	return Tool{
		Name: "pause_prompts",
		Description: "Pause the daily prompts and reminders for a holiday, an illness or a break, until a day that you agree on; schedules stay, and texts begin again by themselves. " +
			"Call it again to move the day; today's date ends the pause.",
		Schema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "until": {
      "type": "string",
      "pattern": "^20[0-9]{2}-[01][0-9]-[0-3][0-9]$",
      "description": "The local day on which texts begin again, YYYY-MM-DD, at most 92 days ahead."
    }
  },
  "required": ["until"],
  "additionalProperties": false
}`),
		Modes: bothModes(),
		Keywords: "pause paused break holiday holidays vacation away trip travel travelling traveling ill sick flu hospital surgery skip week weeks back " +
			"pausa vacaciones viaje enfermo enferma gripe descanso semana semanas vuelvo " +
			"vacances voyage malade semaine semaines pauses reviens " +
			"urlaub ferien reise krank krankenhaus grippe auszeit woche wochen verreist zurück " +
			"férias ferias viagem doente volto",
		Run: func(_ context.Context, in RunInput, args Arguments) (Execution, error) {
			zone := in.Zone
			if zone == nil {
				zone = time.UTC
			}
			day, err := time.ParseInLocation(time.DateOnly, args.Text("until"), zone)
			if err != nil {
				return Execution{}, models.BadField("until", "is no day of the calendar; write YYYY-MM-DD")
			}
			today := in.Now.In(zone)
			if day.After(today.AddDate(0, 0, longestPause)) {
				return Execution{}, models.BadField("until", "is more than %d days ahead; agree on an earlier day, or tell them that STOP ends all texts", longestPause)
			}
			if day.Before(time.Date(today.Year(), today.Month(), today.Day(), 0, 0, 0, 0, zone)) {
				return Execution{}, models.BadField("until", "has passed; today is %s", today.Format("Mon 2006-01-02"))
			}
			answer := pausedAnswer{OK: true, Until: day.Format("Mon 2006-01-02"), Note: "Tell them this day: texts begin again on it by themselves, and they can write at any time."}
			if !day.After(today) {
				day, answer.Note = time.Time{}, "No pause holds now; the next text comes at its usual time."
			}
			return Execution{PauseUntil: &day, Result: successResult(in.Call, answer)}, nil
		},
	}
}

type pausedAnswer struct {
	OK    bool   `json:"ok"`
	Until string `json:"until"`
	Note  string `json:"note"`
}
