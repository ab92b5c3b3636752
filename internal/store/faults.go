package store

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
)

// FailingWebhooks lists the webhooks of a database whose receivers take nothing: those
// that fail, and those that a receiver had disabled. They come without their secrets.
func FailingWebhooks(ctx context.Context, base *database.Database) ([]models.Webhook, error) {
	var rows []models.Webhook
	err := base.Reader(ctx).Select("id", "state", "failing_since", "last_error", "updated_at").
		Where("state = ? AND failing_since IS NOT NULL OR state = ? AND last_error <> ''", models.WebhookActive, models.WebhookDisabled).
		Order("created_at, id").Find(&rows).Error
	return rows, wrap.Error(classify(err), "reading the webhooks that fail")
}

// LateAlerts says what should have been done for alerts long ago and was not.
type LateAlerts struct {
	// Untold alerts are those that Temporal was not told of: no safety text was sent and
	// no person paged. Unpaged are those whose page no receiver took, of which no
	// operator has acknowledged or judged.
	Untold, Unpaged int64
	// UntoldSince and UnpagedSince are when the oldest of them was raised.
	UntoldSince, UnpagedSince time.Time
}

// FindLateAlerts reads the alerts of a database that were raised before an instant.
func FindLateAlerts(ctx context.Context, base *database.Database, before time.Time) (LateAlerts, error) {
	var out LateAlerts
	for _, one := range []struct {
		count *int64
		since *time.Time
		where string
	}{
		{&out.Untold, &out.UntoldSince, "told_at IS NULL"},
		{&out.Unpaged, &out.UnpagedSince, "told_at IS NOT NULL AND pages AND folded_into = '' AND paged_at IS NULL AND acknowledged_at IS NULL AND cleared_at IS NULL AND mark = ''"},
	} {
		late := base.Reader(ctx).Model(&models.Alert{}).Where("created_at < ?", instant(before)).Where(one.where)
		if err := late.Count(one.count).Error; err != nil {
			return out, fmt.Errorf("counting late alerts: %w", classify(err))
		}
		if *one.count == 0 {
			continue
		}
		var oldest models.Alert
		if err := late.Select("created_at").Order("created_at").Take(&oldest).Error; err != nil {
			return out, fmt.Errorf("reading the oldest late alert: %w", classify(err))
		}
		*one.since = oldest.CreatedAt
	}
	return out, nil
}

// addressBatch is how many people EachAddress reads at a time.
const addressBatch = 1000

// EachAddress calls a function for the phone and the locale of every enrolled person of a
// database, in no order. A phone that cannot be opened is empty.
func EachAddress(ctx context.Context, base *database.Database, visit func(phone, locale string)) error {
	var people []models.Participant
	err := base.Reader(database.AllowUnreadable(ctx)).Select("id", "phone", "locale").Where("removed_at IS NULL").
		FindInBatches(&people, addressBatch, func(*gorm.DB, int) error {
			for _, p := range people {
				visit(p.Phone, p.Locale)
			}
			return nil
		}).Error
	if err != nil {
		return fmt.Errorf("reading people's countries: %w", classify(err))
	}
	return nil
}
