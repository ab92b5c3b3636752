// Package study says what is in force for a person: what their study and their
// arm change of the installation's configuration. A Resolver keeps the studies in
// memory and reads them again when their version changes, so that no reply waits
// for the database because of them. A setting that cannot be used is reported and
// left as the installation has it.
package study

import (
	"slices"
	"time"

	"coachline/internal/coach"
	"coachline/models"
	"coachline/prompts"
)

// Settings are what is in force for the people of one arm of a study. An empty
// field leaves what the installation has.
type Settings struct {
	Study string
	// Version is that of the study's row; 0 where the study is unknown.
	Version   int64
	Arm       string
	State     models.StudyState
	Programme string
	Sender    models.Sender
	// Prompts is nil where the installation's texts are in force.
	Prompts           *prompts.Library
	Model, SmallModel string
	ToolsOff          []string
	// DecisionPoints: each slot of a prompt is one.
	DecisionPoints bool

	quiet               *coach.QuietHours
	reminders, checkIns *bool
	maxPerDay           *int
	backOff             *bool
}

// What stands in where a study turns a message on that the installation has off.
const (
	reminderDelay   = 5 * time.Hour
	checkInInterval = 72 * time.Hour
)

// Rules returns the rules of the installation as these settings change them.
func (s Settings) Rules(rules coach.Rules) coach.Rules {
	if s.quiet != nil {
		rules.Quiet = *s.quiet
	}
	rules.ReminderDelay = chooseSpan(s.reminders, rules.ReminderDelay, reminderDelay)
	rules.CheckIn = chooseSpan(s.checkIns, rules.CheckIn, checkInInterval)
	if s.maxPerDay != nil {
		rules.MaxInitiated, rules.BackOff = *s.maxPerDay, *s.maxPerDay > 0
	}
	if s.backOff != nil {
		rules.BackOff = *s.backOff
	}
	rules.NoReminders = s.reminders != nil && !*s.reminders
	rules.DecisionPoints = s.DecisionPoints
	rules.Silent = s.State != "" && !s.State.CanStart()
	return rules
}

// chooseSpan returns a duration that a study turns on or off; 0 is off.
func chooseSpan(on *bool, now, otherwise time.Duration) time.Duration {
	switch {
	case on == nil:
		return now
	case !*on:
		return 0
	case now > 0:
		return now
	}
	return otherwise
}

// Texts returns the library that is in force and the programme's name.
func (s Settings) Texts(library *prompts.Library, programme string) (*prompts.Library, string) {
	if s.Prompts != nil {
		library = s.Prompts
	}
	if s.maxPerDay != nil && library != nil {
		library = library.WithMaxPerDay(*s.maxPerDay)
	}
	if s.Programme != "" {
		programme = s.Programme
	}
	return library, programme
}

// LeavesOut reports whether a tool is left out.
func (s Settings) LeavesOut(name string) bool {
	return slices.Contains(s.ToolsOff, name)
}

// Offer returns the tools that are not left out, in their order.
func (s Settings) Offer(specs []models.ToolSpec) []models.ToolSpec {
	if len(s.ToolsOff) == 0 {
		return specs
	}
	left := make([]models.ToolSpec, 0, len(specs))
	for _, spec := range specs {
		if !s.LeavesOut(spec.Name) {
			left = append(left, spec)
		}
	}
	return left
}
