package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// Attention keeps what operators should look at.
type Attention struct{ db *database.Database }

// RaiseAttention opens attention of the entry's kind, and reports whether it did:
// it writes nothing while attention of the kind is open, or the participant is
// unknown or removed. Safe to retry.
func (s *Attention) RaiseAttention(ctx context.Context, entry models.AttentionEntry) (raised bool, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		raised = false
		_, err := database.LockEnrolled(tx, entry.ParticipantID)
		if errors.Is(err, gorm.ErrRecordNotFound) || errors.Is(err, models.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		raised, err = raiseAttention(tx, entry)
		return err
	})
	return raised, wrap.Error(err, "raising attention")
}

const maxAttentionPage = 200

// RaiseAdvice raises attention where more than models.AdviceMost per cent of the last days'
// replies in the person's study were changed or not sent for what they advised, and none of
// the study is open for that. Safe to retry.
func (s *Attention) RaiseAdvice(ctx context.Context, entry models.AttentionEntry) (raised bool, err error) {
	isHigh, err := s.isAdviceHigh(ctx, entry)
	if err != nil || !isHigh {
		return false, wrap.Error(database.Classify(err), "counting changed drafts")
	}
	return s.RaiseAttention(ctx, entry)
}

func (s *Attention) isAdviceHigh(ctx context.Context, entry models.AttentionEntry) (bool, error) {
	tx := s.db.Reader(ctx)
	var studies []string
	if err := tx.Model(&models.Participant{}).Where("id = ?", entry.ParticipantID).Pluck("study_id", &studies).Error; err != nil || len(studies) == 0 {
		return false, err
	}
	people := tx.Model(&models.Participant{}).Select("id").Where("study_id = ?", studies[0])
	var open, changed, replies int64
	err := tx.Model(&models.AttentionEntry{}).Where("kind = ? AND ended_at IS NULL AND participant_id IN (?)", wire.AttentionAdvice, people).Count(&open).Error
	if err != nil || open > 0 {
		return false, err
	}
	turns := tx.Model(&models.Turn{}).Select("id").
		Where("kind = ? AND started_at > ? AND participant_id IN (?)", wire.TurnReply, database.Instant(entry.RaisedAt.Add(-models.AdviceSpan)), people)
	if err = tx.Table("(?) AS replies", turns).Count(&replies).Error; err != nil || replies < models.AdviceLeast {
		return false, err
	}
	verdicts := []string{}
	for _, verdict := range []models.AdviceVerdict{models.AdviceRewrite, models.AdviceRefuse, models.AdviceFailed} {
		for _, kind := range append(models.AdviceKinds(), "") {
			verdicts = append(verdicts, models.DescribeAdvice(verdict, kind))
		}
	}
	err = tx.Model(&models.Stage{}).Where("name = ? AND decision IN ? AND turn_id IN (?)", models.StageAdvice, verdicts, turns).
		Distinct("turn_id").Count(&changed).Error
	return 100*changed > models.AdviceMost*replies, err
}

// OpenAttention returns a page of the open entries of enrolled participants, of numbers
// that are not enrolled, and of erased ones where the erasure needs an operator, oldest
// first. A limit outside 1..200 counts as 200. A name or number that cannot be opened with
// the payload keys is left empty.
func (s *Attention) OpenAttention(ctx context.Context, q models.AttentionQuery) ([]models.OpenAttention, error) {
	limit := q.Limit
	if limit < 1 || limit > maxAttentionPage {
		limit = maxAttentionPage
	}
	tx := s.db.Reader(database.AllowUnreadable(ctx))
	find := tx.Joins("LEFT JOIN participants ON participants.id = attention.participant_id").
		Where("participants.removed_at IS NULL OR attention.kind = ?", wire.AttentionErasure).
		Where("attention.ended_at IS NULL AND attention.id > ?", q.AfterID)
	if q.Kind != "" {
		find = find.Where("attention.kind = ?", q.Kind)
	}
	if q.ParticipantID != "" || q.Strangers {
		find = find.Where("attention.participant_id = ?", q.ParticipantID)
	}
	var rows []models.AttentionEntry
	if err := find.Order("attention.id").Limit(limit).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("listing open attention: %w", err)
	}
	out, err := s.addPeople(ctx, rows)
	if err != nil {
		return nil, fmt.Errorf("reading who needs attention: %w", err)
	}
	if err := addAcknowledged(s.db.Reader(ctx), out); err != nil {
		return nil, wrap.Error(err, "reading who acknowledged alerts")
	}
	if err := addNumbers(tx, out); err != nil {
		return nil, wrap.Error(err, "reading the numbers that are not enrolled")
	}
	err = addReasons(s.db.Reader(database.AllowUnreadable(ctx)), out)
	return out, wrap.Error(err, "reading why a human was asked for")
}

// addNumbers adds the numbers that are not enrolled.
func addNumbers(tx *gorm.DB, rows []models.OpenAttention) error {
	for i, row := range rows {
		if row.ParticipantID != "" {
			continue
		}
		var in models.Inbound
		if err := tx.Where("id = ?", row.Ref).Limit(1).Find(&in).Error; err != nil {
			return err
		}
		rows[i].Phone = in.From
	}
	return nil
}

// addReasons adds why people asked for a human, as the result of the call says it.
func addReasons(tx *gorm.DB, rows []models.OpenAttention) error {
	var turns []string
	for _, row := range rows {
		if row.Kind == wire.AttentionPerson {
			turns = append(turns, row.Ref)
		}
	}
	if len(turns) == 0 {
		return nil
	}
	var runs []models.ToolRun
	if err := tx.Where("turn_id IN ? AND name = ? AND NOT failed", turns, models.ToolAskForPerson).Find(&runs).Error; err != nil {
		return err
	}
	for _, run := range runs {
		var result models.ToolResult
		var said struct{ Reason string }
		// A result that cannot be opened has no reason.
		if json.Unmarshal([]byte(run.Result), &result) != nil || json.Unmarshal([]byte(result.Content), &said) != nil {
			continue
		}
		for i := range rows {
			if rows[i].Kind == wire.AttentionPerson && rows[i].Ref == run.TurnID {
				rows[i].Reason = said.Reason
			}
		}
	}
	return nil
}

func (s *Attention) addPeople(ctx context.Context, rows []models.AttentionEntry) ([]models.OpenAttention, error) {
	var ids []string
	for _, row := range rows {
		ids = append(ids, row.ParticipantID)
	}
	var people []models.Participant
	err := s.db.Reader(database.AllowUnreadable(ctx)).Select("id", "name", "taken_over_by", "taken_over_at", "taken_over_until").
		Where("id IN ?", ids).Find(&people).Error
	if err != nil {
		return nil, err
	}
	known := map[string]models.Participant{}
	for _, p := range people {
		known[p.ID] = p
	}
	out := make([]models.OpenAttention, 0, len(rows))
	for _, row := range rows {
		out = append(out, models.OpenAttention{AttentionEntry: row, Person: known[row.ParticipantID]})
	}
	return out, nil
}

// addAcknowledged adds to the crises who acknowledged the alerts, where that was
// done with all of a person.
func addAcknowledged(tx *gorm.DB, rows []models.OpenAttention) error {
	var ids []string
	for _, row := range rows {
		if row.Kind == wire.AttentionCrisis {
			ids = append(ids, row.ParticipantID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var alerts []models.Alert
	err := tx.Select("participant_id", "acknowledged_at", "acknowledged_by").
		Where("participant_id IN ? AND pages AND cleared_at IS NULL", ids).Find(&alerts).Error
	if err != nil {
		return err
	}
	last, open := map[string]models.Alert{}, map[string]bool{}
	for _, alert := range alerts {
		before := last[alert.ParticipantID].AcknowledgedAt
		switch {
		case alert.AcknowledgedAt == nil:
			open[alert.ParticipantID] = true
		case before == nil || alert.AcknowledgedAt.After(*before):
			last[alert.ParticipantID] = alert
		}
	}
	for i, row := range rows {
		if row.Kind == wire.AttentionCrisis && !open[row.ParticipantID] {
			rows[i].AcknowledgedBy, rows[i].AcknowledgedAt = last[row.ParticipantID].AcknowledgedBy, last[row.ParticipantID].AcknowledgedAt
		}
	}
	return nil
}

// CountAttention counts the entries of each kind, the most urgent kind first.
// Open ones are of enrolled participants and of numbers that are not enrolled.
func (s *Attention) CountAttention(ctx context.Context) ([]models.AttentionCount, error) {
	var rows []models.AttentionCount
	err := s.db.Reader(ctx).Model(&models.AttentionEntry{}).
		Select("attention.kind, count(*) AS raised, " +
			"sum(CASE WHEN attention.ended_at IS NULL AND (participants.removed_at IS NULL OR attention.kind = 'erasure') THEN 1 ELSE 0 END) AS open").
		Joins("LEFT JOIN participants ON participants.id = attention.participant_id").Group("attention.kind").Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("counting attention: %w", err)
	}
	found := map[wire.Attention]models.AttentionCount{}
	for _, row := range rows {
		found[row.Kind] = row
	}
	var out []models.AttentionCount
	for _, kind := range wire.Attentions() {
		out = append(out, models.AttentionCount{Kind: kind, Raised: found[kind].Raised, Open: found[kind].Open})
	}
	return out, nil
}

// ParticipantFlags reads what the search attributes are to show of a participant.
func (s *Attention) ParticipantFlags(ctx context.Context, p models.Participant) (wire.ParticipantFlags, error) {
	flags, err := flagsOf(s.db.Reader(ctx), p)
	return flags, wrap.Error(err, "reading the participant's flags")
}

func joinKinds(kinds []wire.Attention) string {
	var words []string
	for _, kind := range kinds {
		words = append(words, string(kind))
	}
	return strings.Join(words, ",")
}
