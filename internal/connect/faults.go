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
