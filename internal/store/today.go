package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"coachline/internal/database"
	"coachline/models"
)

// hoursAhead is how many hours Today counts prompts of.
const hoursAhead = 24

// Today counts, in two statements, who calls for an operator, and who has a prompt in
// each of the 24 hours from the one that holds now. Active people who were not
// heard since silentSince count as silent.
func (s *Store) Today(ctx context.Context, now, silentSince time.Time) (models.Today, error) {
	filters := []models.PeopleFilter{{}, models.SilentFilter(silentSince), {Waiting: true}, {Unreachable: true}}
	for _, kind := range models.Attentions() {
		filters = append(filters, models.PeopleFilter{Attention: kind})
	}
	counts, err := s.countPeople(ctx, filters)
	if err != nil {
		return models.Today{}, fmt.Errorf("counting people: %w", classify(err))
	}
	today := models.Today{
		People: counts[0], Silent: counts[1], Waiting: counts[2], Unreachable: counts[3], Attention: map[models.Attention]int{},
	}
	for i, kind := range models.Attentions() {
		today.Attention[kind] = counts[4+i]
	}
	if today.Hours, err = s.countHours(ctx, now.UTC().Truncate(time.Hour)); err != nil {
		return models.Today{}, fmt.Errorf("counting prompts: %w", classify(err))
	}
	return today, nil
}

// countPeople counts the people whom each filter selects, in one pass.
func (s *Store) countPeople(ctx context.Context, filters []models.PeopleFilter) ([]int, error) {
	var columns []string
	var args []any
	for _, f := range filters {
		condition, values := s.conditionOf(f)
		columns = append(columns, "count(CASE WHEN "+condition+" THEN 1 END)")
		args = append(args, values...)
	}
	return s.scanCounts(ctx, "SELECT "+strings.Join(columns, ", ")+" FROM participants WHERE removed_at IS NULL", args, len(filters))
}

// countHours counts the active people who have a prompt in each hour from first, as
// a filter of the hour selects them.
func (s *Store) countHours(ctx context.Context, first time.Time) ([]models.HourCount, error) {
	tx := s.reader(ctx)
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
		instant(first), instant(first.Add(hoursAhead*time.Hour)), models.StatusActive).Scan(&rows).Error
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

// scanCounts reads a row of n counts.
func (s *Store) scanCounts(ctx context.Context, query string, args []any, n int) ([]int, error) {
	counts, into := make([]int, n), make([]any, n)
	for i := range counts {
		into[i] = &counts[i]
	}
	return counts, s.reader(ctx).Raw(query, args...).Row().Scan(into...)
}
