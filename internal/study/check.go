package study

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"coachline/internal/coach"
	"coachline/models"
)

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
	if most := overlay.MaxPerDay; most != nil && (*most < 0 || *most > maxPerDay) {
		return models.BadField(prefix+"max_per_day", "must be 0 (no limit) to %d", maxPerDay)
	}
	for _, name := range overlay.ToolsOff {
		if !slices.Contains(known, name) {
			return models.BadField(prefix+"tools_off", "%q is not a tool; there are %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}
