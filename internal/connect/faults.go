package connect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"coachline/internal/coach"
	"coachline/internal/config"
	"coachline/internal/region"
	"coachline/internal/store"
	"coachline/models"
)

// alertGrace is how old an alert must be before it counts as one that was not told or
// paged.
const alertGrace = 2 * time.Minute

// CheckWebhooks reports which receivers take no events, since when, why and what to do.
func CheckWebhooks(ctx context.Context, cfg config.Config) (string, error) {
	base, err := OpenDatabase(ctx, cfg)
	if err != nil {
		return "", err
	}
	failing, err := store.FailingWebhooks(ctx, base)
	wrong := []error{err}
	for _, w := range failing {
		wrong = append(wrong, describeWebhook(w))
	}
	return "", errors.Join(append(wrong, base.Close())...)
}

// describeWebhook names a webhook by its id: its address may hold a token.
func describeWebhook(w models.Webhook) error {
	if w.State == models.WebhookDisabled {
		return fmt.Errorf("%s is disabled since %s by its receiver (%s); coachline webhook change %s --state active, or webhook remove",
			w.ID, w.UpdatedAt.UTC().Format(time.RFC3339), w.LastError, w.ID)
	}
	return fmt.Errorf("%s fails since %s: %s; mend the receiver, or coachline webhook change %s --state disabled",
		w.ID, w.FailingSince.UTC().Format(time.RFC3339), w.LastError, w.ID)
}

// CheckAlerts reports alerts whose safety text and page were not begun, and pages that
// no receiver took where there is an address for them; a Warning where there is none.
func CheckAlerts(ctx context.Context, cfg config.Config) error {
	base, err := OpenDatabase(ctx, cfg)
	if err != nil {
		return err
	}
	late, err := store.FindLateAlerts(ctx, base, time.Now().Add(-alertGrace))
	wrong := []error{err}
	if late.Untold > 0 {
		wrong = append(wrong, fmt.Errorf("%s of %s: neither safety text nor page was begun; see that starter and Temporal run",
			countAlerts(late.Untold), late.UntoldSince.UTC().Format(time.RFC3339)))
	}
	paged := cfg.Worker.AlertURL.Reveal() != ""
	if paged && late.Unpaged > 0 {
		wrong = append(wrong, fmt.Errorf("%s of %s: the page was not taken and no operator acknowledged; see coachline alerts, and that COACH_ALERT_URL answers 2xx and a worker runs",
			countAlerts(late.Unpaged), late.UnpagedSince.UTC().Format(time.RFC3339)))
	}
	err = errors.Join(append(wrong, base.Close())...)
	if err == nil && !paged {
		err = Warning("no person is paged in a crisis: set COACH_ALERT_URL")
	}
	return err
}

// CheckHelplines names the countries of enrolled people for which there are no numbers to
// call in danger, as a Warning: they read "your local emergency number".
func CheckHelplines(ctx context.Context, cfg config.Config) error {
	base, err := OpenDatabase(ctx, cfg)
	if err != nil {
		return err
	}
	lacks := map[string]int{}
	err = store.EachAddress(ctx, base, func(phone, locale string) {
		if country := region.CountryOf(phone, locale); !cfg.Worker.Helplines.Has(country) {
			lacks[cmp.Or(country, "no country")]++
		}
	})
	if err = errors.Join(err, base.Close()); err != nil || len(lacks) == 0 {
		return err
	}
	var named []string
	for _, country := range slices.Sorted(maps.Keys(lacks)) {
		named = append(named, fmt.Sprintf("%s (%d)", country, lacks[country]))
	}
	return Warning("no numbers for people in danger in " + strings.Join(named, ", ") + ": they read \"your local emergency number\"; name a table in COACH_HELPLINES_FILE")
}

// CheckSender warns of people in countries whose networks block or rename senders of other
// countries, and of hours in which a Compliance Toolkit of the carrier would move or block
// what we start.
func CheckSender(ctx context.Context, cfg config.Config) error {
	base, err := OpenDatabase(ctx, cfg)
	if err != nil {
		return err
	}
	from := region.CountryOf(cfg.Carrier.From, "")
	foreign, american := map[string]int{}, 0
	err = store.EachAddress(ctx, base, func(phone, _ string) {
		country := region.CountryOf(phone, "")
		if slices.Contains(closedCountries, country) && from != "" && country != from {
			foreign[country]++
		}
		if country == "US" {
			american++
		}
	})
	var rows []models.Study
	if err == nil {
		err = base.Reader(ctx).Select("id", "settings").Order("id").Find(&rows).Error
	}
	if err = errors.Join(err, base.Close()); err != nil {
		return fmt.Errorf("reading people and studies: %w", err)
	}
	var found []string
	for _, country := range slices.Sorted(maps.Keys(foreign)) {
		found = append(found, fmt.Sprintf("%d people in %s, whose networks block senders of %s: text them from a number of %s (a study's from)", foreign[country], country, from, country))
	}
	if open := openAtNight(cfg.Coaching.QuietHours, rows); american > 0 && len(open) > 0 {
		found = append(found, "quiet hours that leave out some of 21:00-08:00 for people of the US ("+strings.Join(open, ", ")+
			"): Twilio's Compliance Toolkit, where it is on, moves or blocks what they get then (30610, 30047); widen quiet_hours, or have Twilio turn it off")
	}
	if len(found) == 0 {
		return nil
	}
	return Warning(strings.Join(found, "; "))
}

// closedCountries have networks that block foreign senders, or replace them.
var closedCountries = []string{"AU", "ES", "GB", "IE"}

// openAtNight names the quiet hours that allow texts at a time when the carrier's Compliance
// Toolkit does not: those of the installation and of studies and arms.
func openAtNight(installed string, rows []models.Study) []string {
	var open []string
	check := func(name, hours string) {
		quiet, err := coach.ParseQuietHours(hours)
		night := coach.QuietHours{From: 21 * 60, To: 8 * 60}
		for clock := range coach.Clock(24 * 60) {
			if err == nil && night.ContainsClock(clock) && !quiet.ContainsClock(clock) {
				open = append(open, name)
				return
			}
		}
	}
	check("COACH_QUIET_HOURS", installed)
	for _, row := range rows {
		settings, err := row.ReadSettings()
		if err != nil {
			continue // the worker reports it
		}
		overlays := map[string]models.StudyOverlay{row.ID: settings.StudyOverlay}
		for _, arm := range settings.Arms {
			overlays[row.ID+", arm "+arm.Name] = arm.Overlay
		}
		for _, name := range slices.Sorted(maps.Keys(overlays)) {
			switch hours := overlays[name].QuietHours; hours {
			case "":
			case "off":
				check(name, "")
			default:
				check(name, hours)
			}
		}
	}
	return open
}

// Warning is a finding of a check that nothing fails of, and that should be mended before
// people take part.
type Warning string

func (w Warning) Error() string { return string(w) }

// countAlerts says how many alerts, before the instant of the first one.
func countAlerts(count int64) string {
	if count == 1 {
		return "1 alert,"
	}
	return fmt.Sprintf("%d alerts, the first", count)
}
