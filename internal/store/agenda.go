package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
)

// Reports counts and lists over many people: what is planned, what was delivered, what the day brought.
type Reports struct {
	db     *database.Database
	people *People
}

// Agenda returns a page of the prompts that are planned, the earliest first. A
// name that cannot be opened with the payload keys is left empty.
func (s *Reports) Agenda(ctx context.Context, q models.AgendaQuery) (list []models.AgendaEntry, err error) {
	if q.After.At.IsZero() {
		q.After.At = q.From
	}
	err = s.db.Snapshot(database.AllowUnreadable(ctx), func(tx *gorm.DB) error {
		list = nil
		var err error
		if list, err = readAgenda(tx, q); err != nil || len(list) == 0 {
			return err
		}
		return markHeld(tx, list, q.Now)
	})
	return list, wrap.Error(classify(err), "reading the agenda")
}

// planned selects the schedules of enrolled people with a prompt in the span of a query.
func planned(tx *gorm.DB, q models.AgendaQuery) *gorm.DB {
	find := tx.Model(&models.ScheduleRow{}).
		Joins("JOIN participants ON participants.id = schedules.participant_id AND participants.removed_at IS NULL").
		Where("schedules.next_at >= ? AND schedules.next_at < ?", instant(q.From), instant(q.Until))
	if q.ParticipantID != "" {
		find = find.Where("schedules.participant_id = ?", q.ParticipantID)
	}
	if q.StudyID != "" {
		find = find.Where("participants.study_id = ?", q.StudyID)
	}
	return find
}

func readAgenda(tx *gorm.DB, q models.AgendaQuery) (list []models.AgendaEntry, err error) {
	var rows []models.ScheduleRow
	err = planned(tx, q).Where("(schedules.next_at, schedules.participant_id, schedules.id) > (?, ?, ?)", instant(q.After.At), q.After.ParticipantID, q.After.ScheduleID).
		Order("schedules.next_at, schedules.participant_id, schedules.id").Limit(q.Limit).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	people := map[string]models.Participant{}
	for _, row := range rows {
		people[row.ParticipantID] = models.Participant{}
	}
	var found []models.Participant
	if err := tx.Where("id IN ?", slices.Collect(maps.Keys(people))).Find(&found).Error; err != nil {
		return nil, err
	}
	for _, p := range found {
		people[p.ID] = p
	}
	for _, row := range rows {
		p := people[row.ParticipantID]
		key := models.AgendaKey{At: row.NextAt.UTC(), ParticipantID: p.ID, ScheduleID: row.ID}
		list = append(list, models.AgendaEntry{Key: key, Zone: cmp.Or(row.Zone, p.Timezone), Participant: p})
	}
	return list, nil
}

// markHeld marks the entries that a hold stops which is in force now.
func markHeld(tx *gorm.DB, list []models.AgendaEntry, now time.Time) error {
	ids, studies := make([]string, 0, len(list)), make([]string, 0, len(list))
	for _, entry := range list {
		ids, studies = append(ids, entry.Key.ParticipantID), append(studies, entry.Participant.StudyID)
	}
	slices.Sort(studies)
	studies = slices.Compact(studies)
	var holds []models.Hold
	err := activeHolds(tx.Select("scope", "scope_id", "until_at"), now).
		Where("(scope = ? OR (scope = ? AND scope_id IN ?) OR (scope = ? AND scope_id IN ?))", models.HoldAll, models.HoldParticipant, ids, models.HoldStudy, studies).
		Find(&holds).Error
	for i := range list {
		list[i].Held = slices.ContainsFunc(holds, func(h models.Hold) bool {
			return h.Stops(list[i].Participant) && h.Until.After(list[i].Key.At)
		})
	}
	return err
}

// CountAgenda counts the planned prompts of each hour in a span of time, the
// earliest first; hours without one are left out.
func (s *Reports) CountAgenda(ctx context.Context, q models.AgendaQuery) ([]models.PlannedHour, error) {
	var rows []struct {
		NextAt  time.Time
		Prompts int
	}
	err := planned(s.db.Reader(ctx), q).Select("schedules.next_at, count(*) AS prompts").Group("schedules.next_at").Order("schedules.next_at").Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("counting the agenda: %w", classify(err))
	}
	var out []models.PlannedHour
	for _, row := range rows {
		hour := row.NextAt.UTC().Truncate(time.Hour)
		if n := len(out); n > 0 && out[n-1].At.Equal(hour) {
			out[n-1].Prompts += row.Prompts
			continue
		}
		out = append(out, models.PlannedHour{At: hour, Prompts: row.Prompts})
	}
	return out, nil
}
