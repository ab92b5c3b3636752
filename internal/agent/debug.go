package agent

import (
	"fmt"
	"strings"

	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
)

// debugMark begins every debug text; testers' phones filter on it.
const debugMark = "🐛 DEBUG:"

// DebugInput is what a debug text reports of a turn.
type DebugInput struct {
	Mode    wire.Mode
	Profile models.Profile
	Runs    []models.ToolRun
}

// DebugText reports to a tester what the turn did: mode, which profile fields
// are set, counters, tools. It holds no value of the profile, only names.
func DebugText(in DebugInput) string {
	var set []string
	for _, entry := range ProfileLines(in.Profile) {
		if name, _, ok := strings.Cut(entry, ": "); ok && strings.Contains(name, "_") {
			set = append(set, name)
		}
	}
	var tools []string
	for _, run := range in.Runs {
		outcome := "ok"
		if run.Failed {
			outcome = "failed"
		}
		tools = append(tools, run.Name+" "+outcome)
	}
	return fmt.Sprintf("%s mode %s\nset: %s\nmissing: %s\nsuccesses %d of %d prompts\ntools: %s",
		debugMark, in.Mode, listNames(set), listNames(coach.MissingFields(in.Profile)),
		in.Profile.SuccessCount, in.Profile.TotalPrompts, listNames(tools))
}

func listNames(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
