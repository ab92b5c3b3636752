package api

import (
	"time"

	"coachline/models/wire"
)

// NewSchedule is a daily prompt that an operator adds, or what becomes of one that
// is changed.
type NewSchedule struct {
	Type     wire.ScheduleType `json:"type" enum:"fixed,random" doc:"fixed: every day at at; random: every day at another time between from and to."`
	At       string            `json:"at,omitempty" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" doc:"Local HH:MM of a fixed schedule. The prompt goes out a little before it, which must not be in the person's quiet hours."`
	From     string            `json:"from,omitempty" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" doc:"Local HH:MM at which the window of a random schedule begins."`
	To       string            `json:"to,omitempty" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" doc:"Local HH:MM at which the window ends; before from: over midnight."`
	Timezone string            `json:"timezone,omitempty" maxLength:"64" doc:"IANA name; the person's own zone when left out, and the schedule moves with them."`
	First    FirstPrompt       `json:"first,omitempty" enum:"now,tomorrow" doc:"Needed where today's prompt would go out at once, because its time is almost there; 409 without it. now: it does. tomorrow: today has none."`
	DryRun   bool              `json:"dry_run,omitempty" doc:"Answer what would come of it, and change nothing."`
}

// FirstPrompt says whether a daily prompt begins at once.
type FirstPrompt string

const (
	FirstNow      FirstPrompt = "now"
	FirstTomorrow FirstPrompt = "tomorrow"
)

// PromptMove moves the next prompt of a schedule alone.
type PromptMove struct {
	To     time.Time `json:"to" doc:"When it goes out instead, to the minute: in the future, outside the person's quiet hours, and before the prompt that follows."`
	DryRun bool      `json:"dry_run,omitempty" doc:"Answer what would come of it, and change nothing."`
}
