package config

import (
	"fmt"
	"time"

	"coachline/internal/coach"
)

// checkInCap is the most check-ins of a local day.
const checkInCap = 1

// Rules are the programme's settings as package coach takes them.
func (c Coaching) Rules() (coach.Rules, error) {
	quiet, err := coach.ParseQuietHours(c.QuietHours)
	if err != nil {
		return coach.Rules{}, fmt.Errorf("COACH_QUIET_HOURS: %w", err)
	}
	var band []*time.Location
	for _, name := range coach.RegionZones(c.DefaultRegion) {
		zone, err := time.LoadLocation(name)
		if err != nil {
			return coach.Rules{}, fmt.Errorf("loading the zones of region %s: %w", c.DefaultRegion, err)
		}
		band = append(band, zone)
	}
	return coach.Rules{
		PrepTime: c.PrepTime, PromptSpread: c.PromptSpread, PromptGrace: c.PromptGrace, ReminderDelay: c.ReminderDelay,
		AutoFeedbackDelay: c.AutoFeedbackDelay, FeedbackTimeout: c.FeedbackTimeout,
		FeedbackFollowup: c.FeedbackFollowup, CheckIn: c.CheckIn, CheckInCap: checkInCap,
		MaxInitiated: c.MaxInitiated, BackOff: c.MaxInitiated > 0, Debounce: c.Debounce, DebounceMax: c.DebounceMax, Quiet: quiet, Band: band,
	}, nil
}
