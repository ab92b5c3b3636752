// Package study says what is in force for a person: what their study and their
// arm change of the installation's configuration. A Resolver keeps the studies in
// memory and reads them again when their version changes, so that no reply waits
// for the database because of them. A setting that cannot be used is reported and
// left as the installation has it.
package study

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
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
	Prompts *prompts.Library
	// PromptsDir is the folder of the study's own texts; empty for the installation's.
	PromptsDir        string
	Model, SmallModel string
	// Advice says which drafts are judged before they are sent; empty as the installation.
	Advice   models.AdviceCheck
	ToolsOff []string
	// HistoryLimit bounds the messages that the model reads; nil: as installed.
	HistoryLimit *int
	// FeedbackHistory takes its place in mode FEEDBACK; nil: as installed.
	FeedbackHistory *int
	// DecisionPoints: each slot of a prompt is one.
	DecisionPoints bool

	quiet               *coach.QuietHours
	reminders, checkIns *bool
	maxPerDay           *int
	reminderDelay       *time.Duration
	backOff             *bool
	support, terms      string
	safety              string
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
	if s.reminderDelay != nil {
		rules.ReminderDelay = *s.reminderDelay
	}
	rules.ReminderDelay = chooseSpan(s.reminders, rules.ReminderDelay, reminderDelay)
	rules.CheckIn = chooseSpan(s.checkIns, rules.CheckIn, checkInInterval)
	if s.maxPerDay != nil {
		rules.MaxInitiated, rules.BackOff = *s.maxPerDay, *s.maxPerDay > 0
	}
	if s.backOff != nil {
		rules.BackOff = *s.backOff
	}
	rules.NoReminders = s.reminders != nil && !*s.reminders || s.reminderDelay != nil && *s.reminderDelay == 0
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
	if library != nil {
		facts := library.Facts()
		facts.Support, facts.Terms = cmp.Or(s.support, facts.Support), cmp.Or(s.terms, facts.Terms)
		facts.Safety = s.safety
		if s.maxPerDay != nil {
			facts.MaxPerDay = *s.maxPerDay
		}
		library = library.With(facts)
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

// quietOff is the text of quiet hours that turns them off.
const quietOff = "off"

// parseQuiet reads quiet hours of a study; nil leaves the installation's.
func parseQuiet(text string) (*coach.QuietHours, error) {
	switch text {
	case "":
		return nil, nil //nolint:nilnil // nothing is changed
	case quietOff:
		return &coach.QuietHours{}, nil
	}
	quiet, err := coach.ParseQuietHours(text)
	return &quiet, err
}

// parseDelay reads the delay of a study's reminder; nil leaves the installation's. A negative
// one is 0.
func parseDelay(text string) (*time.Duration, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // nothing is changed
	}
	delay, err := time.ParseDuration(text)
	if err != nil || delay > longestDelay {
		return nil, fmt.Errorf("want a duration of at most %s, or 0 for no reminder", longestDelay)
	}
	delay = max(delay, 0)
	return &delay, nil
}

const (
	// longestDelay keeps a reminder on the prompt's day, and leastHistory is all messages.
	longestDelay = 24 * time.Hour
	leastHistory = -1
)

var (
	number           = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$|^[0-9]{3,8}$`)
	messagingService = regexp.MustCompile(`^MG[0-9a-f]{32}$`)
)

// maxPerDay bounds the daily limit of a study: a typing error is no limit.
const maxPerDay = 50

// maxProgramme bounds a programme's name, which stands in texts of one segment.
const maxProgramme = 60

// Check refuses settings that could not be used: a sender that is no number, quiet
// hours that cannot be read, a tool that there is not, of those in known. The
// error is a *models.FieldError.
func Check(settings models.StudySettings, known []string) error {
	if len(settings.Programme) > maxProgramme || strings.ContainsAny(settings.Programme, "{}") || models.CheckText("programme", settings.Programme, false) != nil {
		return models.BadField("programme", "must be a name of at most %d characters on one line, without braces", maxProgramme)
	}
	for name, text := range map[string]string{"support": settings.Support, "terms_url": settings.TermsURL, "safety_url": settings.SafetyURL} {
		if len(text) > maxProgramme || strings.ContainsAny(text, "{}") || models.CheckText(name, text, false) != nil {
			return models.BadField(name, "must be at most %d characters on one line, without braces", maxProgramme)
		}
	}
	if settings.From != "" && !number.MatchString(settings.From) {
		return models.BadField("from", "must be a number with + and the country code, or a short code")
	}
	if settings.MessagingService != "" && !messagingService.MatchString(settings.MessagingService) {
		return models.BadField("messaging_service", "must be MG and 32 hexadecimal digits")
	}
	if err := checkOverlay("", settings.StudyOverlay, known); err != nil {
		return err
	}
	for i, arm := range settings.Arms {
		if err := checkOverlay(fmt.Sprintf("arms[%d].overlay.", i), arm.Overlay, known); err != nil {
			return err
		}
	}
	return nil
}

func checkOverlay(prefix string, overlay models.StudyOverlay, known []string) error {
	if _, err := parseQuiet(overlay.QuietHours); err != nil {
		return models.BadField(prefix+"quiet_hours", "must be HH:MM-HH:MM or off: %v", err)
	}
	if check := overlay.AdviceCheck; !slices.Contains([]string{"", string(models.AdviceAuto), string(models.AdviceAll), string(models.AdviceNone)}, check) {
		return models.BadField(prefix+"advice_check", "must be auto, on or off")
	}
	if _, err := parseDelay(overlay.ReminderDelay); err != nil {
		return models.BadField(prefix+"reminder_delay", "%v", err)
	}
	for name, limit := range map[string]*int{"history_limit": overlay.HistoryLimit, "feedback_history_limit": overlay.FeedbackHistory} {
		if limit != nil && *limit < leastHistory {
			return models.BadField(prefix+name, "must be %d (all), 0 (none) or more", leastHistory)
		}
	}
	if most := overlay.MaxPerDay; most != nil && (*most < 0 || *most > maxPerDay) {
		return models.BadField(prefix+"max_per_day", "must be 0 (no limit) to %d", maxPerDay)
	}
	for _, name := range overlay.ToolsOff {
		if name == models.ToolReportConcern {
			return models.BadField(prefix+"tools_off", "%s cannot be left out: by it the coach has a person told of danger", name)
		}
		if !slices.Contains(known, name) && !strings.HasPrefix(name, models.OutsideTool) {
			return models.BadField(prefix+"tools_off", "%q is not a tool; there are %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}
