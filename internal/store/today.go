package store

import (
	"context"
	"fmt"
	"time"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// hoursAhead is how many hours Today counts prompts of.
const hoursAhead = 24

// Today counts, in two statements, who calls for an operator, and who has a prompt in
// each of the 24 hours from the one that holds now. Active people who were not
// heard since silentSince count as silent.
func (s *Reports) Today(ctx context.Context, now, silentSince time.Time) (models.Today, error) {
	today, err := s.countToday(ctx, silentSince)
	if err != nil {
		return models.Today{}, fmt.Errorf("counting people: %w", classify(err))
	}
	today.Hours, err = s.countHours(ctx, now.UTC().Truncate(time.Hour))
	return today, wrap.Error(classify(err), "counting prompts")
}

// countToday counts the people whom each list behind Today shows, each by an index
// that has those it counts and little else.
func (s *Reports) countToday(ctx context.Context, silentSince time.Time) (models.Today, error) {
	today := models.Today{Attention: map[wire.Attention]int{}}
	silent, args := s.people.conditionOf(models.SilentFilter(silentSince))
	query := "SELECT (SELECT count(*) FROM participants WHERE removed_at IS NULL), (SELECT count(*) FROM participants WHERE " + silent + "), " +
		"(SELECT count(*) FROM participants WHERE removed_at IS NULL AND unreachable_at IS NOT NULL), " +
		"(SELECT count(DISTINCT participant_id) FROM inbound WHERE waiting AND participant_id IN (SELECT id FROM participants WHERE removed_at IS NULL))"
	counts := make([]int, len(wire.Attentions()))
	into := []any{&today.People, &today.Silent, &today.Unreachable, &today.Waiting}
	for i, kind := range wire.Attentions() {
		// A person has one open row of a kind.
		query += ", (SELECT count(*) FROM attention JOIN participants AS them ON them.id = attention.participant_id " +
			"WHERE kind = ? AND ended_at IS NULL AND them.removed_at IS NULL)"
		args, into = append(args, kind), append(into, &counts[i])
	}
	err := s.db.Reader(ctx).Raw(query, args...).Row().Scan(into...)
	for i, kind := range wire.Attentions() {
		today.Attention[kind] = counts[i]
	}
	return today, err
}

// countHours counts the active people who have a prompt in each hour from first, as
// a filter of the hour selects them.
func (s *Reports) countHours(ctx context.Context, first time.Time) ([]models.HourCount, error) {
	tx := s.db.Reader(ctx)
	hour := "substr(next_at, 1, 13)" // instants are stored in UTC
	if database.IsPostgres(tx) {
		hour = "to_char(next_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24')"
	}
	var rows []struct {
		Hour   string
		People int
	}
	err := tx.Raw("SELECT "+hour+" AS hour, count(DISTINCT participant_id) AS people FROM schedules "+
		"JOIN participants ON participants.id = schedules.participant_id "+
		"WHERE next_at >= ? AND next_at < ? AND participants.status = ? AND participants.removed_at IS NULL GROUP BY 1",
		instant(first), instant(first.Add(hoursAhead*time.Hour)), wire.StatusActive).Scan(&rows).Error
	counts := map[string]int{}
	for _, row := range rows {
		counts[row.Hour] = row.People
	}
	hours := make([]models.HourCount, hoursAhead)
	for i := range hours {
		from := first.Add(time.Duration(i) * time.Hour)
		hours[i] = models.HourCount{From: from, People: counts[from.Format("2006-01-02 15")]}
	}
	return hours, err
}
