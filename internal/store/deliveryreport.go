package store

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/models"
)

// maxLateness bounds the prompts whose lateness one report reads.
const maxLateness = 100_000

// DeliveryReport reads, in three statements, what became of the texts that were
// written from one instant until another, the texts that came on those UTC days,
// and how late the prompts of the span were. Texts of channels without a carrier
// are left out. Texts that came are those of the ledger of costs, which lags
// behind by a minute at most. A sender selects the prompts that it posted; the
// groups are those of every sender.
func (s *Reports) DeliveryReport(ctx context.Context, from, until time.Time, sender string) (models.DeliveryReport, error) {
	var report models.DeliveryReport
	tx := s.db.Reader(ctx)
	if err := scanDelivery(tx, from, until, &report.Groups); err != nil {
		return report, fmt.Errorf("counting texts: %w", classify(err))
	}
	err := tx.Model(&models.Cost{}).Select("day, count(*) AS texts").
		Where("day >= ? AND day <= ? AND kind = ?", dayOf(from), dayOf(until), models.CostInbound).
		Group("day").Order("day").Scan(&report.Inbound).Error
	if err != nil {
		return report, fmt.Errorf("counting texts that came: %w", classify(err))
	}
	var prompts []models.Prompt
	find := tx.Select("target_at", "sent_at").Where("target_at >= ? AND target_at < ? AND sent_at IS NOT NULL", instant(from), instant(until))
	if sender != "" {
		// A prompt's text is written within a day of its target.
		find = find.Where("id IN (SELECT prompt_id FROM outbox WHERE created_at >= ? AND created_at < ? AND kind = ? AND part = 1 AND sent_from = ?)",
			instant(from.AddDate(0, 0, -1)), instant(until), models.KindPrompt, sender)
	}
	err = find.
		Order("target_at DESC").Limit(maxLateness + 1).Find(&prompts).Error
	if err != nil {
		return report, fmt.Errorf("reading the lateness of prompts: %w", classify(err))
	}
	report.Cut = len(prompts) > maxLateness
	for _, p := range prompts[:min(len(prompts), maxLateness)] {
		report.Lateness = append(report.Lateness, max(p.SentAt.Sub(p.TargetAt), 0))
	}
	return report, nil
}

// scanDelivery groups the texts by their day, sender, status and code.
func scanDelivery(tx *gorm.DB, from, until time.Time, into *[]models.DeliveryGroup) error {
	day := "substr(created_at, 1, 10)" // instants are stored in UTC
	seconds := func(aggregate string) string { return "CAST(strftime('%s', " + aggregate + ") AS integer)" }
	if database.IsPostgres(tx) {
		day = "to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')"
		seconds = func(aggregate string) string { return "CAST(floor(extract(epoch FROM " + aggregate + ")) AS bigint)" }
	}
	return tx.Raw("SELECT "+day+" AS day, sent_from AS sender, status, error_code AS code, count(*) AS texts, "+
		"sum(COALESCE(segments, 1)) AS segments, sum(CASE WHEN segments IS NULL THEN 1 ELSE 0 END) AS uncounted, "+
		seconds("max(updated_at)")+" AS newest, "+seconds("min(created_at)")+" AS oldest FROM outbox "+
		"WHERE created_at >= ? AND created_at < ? AND "+carried("channel")+" GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4",
		instant(from), instant(until)).Scan(into).Error
}
