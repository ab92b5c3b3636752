package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"coachline/internal/prices"
	"coachline/internal/segments"
	"coachline/models"
)

// costBatch bounds the references that one transaction turns into costs.
const costBatch = 200

// costRef is one row of table cost_queue: something that cost something and has no
// row of costs yet. Triggers write it.
type costRef struct {
	ID     int64 `gorm:"primaryKey"`
	Source string
	Ref    string
}

// TableName is the table's name.
func (costRef) TableName() string { return "cost_queue" }

// RecordCosts writes a row of costs for each call of a model and each text since
// the last time, at the prices of now. Safe to repeat and to run in several
// processes: a row is counted once.
func (s *Store) RecordCosts(ctx context.Context, list *prices.List) error {
	for {
		var waiting int64
		if err := s.reader(ctx).Model(&costRef{}).Limit(1).Count(&waiting).Error; err != nil {
			return fmt.Errorf("counting costs to record: %w", classify(err))
		}
		if waiting == 0 {
			return nil // the usual case takes no write lock
		}
		err := s.write(ctx, func(tx *gorm.DB) error { return recordBatch(tx, list) })
		if err != nil {
			return fmt.Errorf("recording costs: %w", err)
		}
		if waiting <= costBatch {
			return nil
		}
	}
}

func recordBatch(tx *gorm.DB, list *prices.List) error {
	var refs []costRef
	if err := forUpdate(tx).Order("id").Limit(costBatch).Find(&refs).Error; err != nil || len(refs) == 0 {
		return err
	}
	ids := make([]int64, len(refs))
	for i, ref := range refs {
		ids[i] = ref.ID
		rows, err := costsOf(tx, list, ref)
		if errors.Is(err, gorm.ErrRecordNotFound) {
			continue // erased meanwhile
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", ref.Source, ref.Ref, err)
		}
		for _, row := range rows {
			if _, err := insertOnce(tx, &row); err != nil {
				return err
			}
		}
	}
	return tx.Where("id IN ?", ids).Delete(&costRef{}).Error
}

// costsOf prices what a reference names.
func costsOf(tx *gorm.DB, list *prices.List, ref costRef) ([]models.Cost, error) {
	switch ref.Source {
	case "step":
		return costsOfStep(tx, list, ref.Ref)
	case "stage":
		return costsOfStage(tx, list, ref.Ref)
	case "outbox":
		return costsOfOutbox(tx, list, ref.Ref)
	case "voice":
		return costsOfVoice(tx, list, ref.Ref)
	case "inbound":
		return costsOfInbound(tx, list, ref.Ref)
	}
	return nil, fmt.Errorf("source %q is unknown", ref.Source)
}

// numbered is the turn and the number that a reference consists of.
func numbered(tx *gorm.DB, ref string) (turn models.Turn, number int, err error) {
	cut := strings.LastIndexByte(ref, '/')
	if number, err = strconv.Atoi(ref[cut+1:]); err != nil {
		return turn, 0, err
	}
	err = tx.Select("id", "participant_id").Where("id = ?", ref[:max(cut, 0)]).Take(&turn).Error
	return turn, number, err
}

// costsOfStep has a row for each call of the chat model in a round, which its
// trace lists; for a round whose trace was erased, one for the call it kept.
func costsOfStep(tx *gorm.DB, list *prices.List, ref string) ([]models.Cost, error) {
	turn, number, err := numbered(tx, ref)
	if err != nil {
		return nil, err
	}
	var step models.Step
	if err := tx.Select("turn_id", "number", "model", "usage", "trace", "created_at").
		Where("turn_id = ? AND number = ?", turn.ID, number).Take(&step).Error; err != nil {
		return nil, err
	}
	var out []models.Cost
	for i, call := range step.ModelCalls() {
		if call.Model == "" {
			call.Model = step.Model
		}
		call.CreatedAt = step.CreatedAt
		out = append(out, callCost(list, fmt.Sprintf("step/%s/%d", ref, i), turn.ParticipantID, call))
	}
	return out, nil
}

func costsOfStage(tx *gorm.DB, list *prices.List, ref string) ([]models.Cost, error) {
	turn, number, err := numbered(tx, ref)
	if err != nil {
		return nil, err
	}
	var stage models.Stage
	if err := tx.Select("turn_id", "number", "name", "model", "usage", "created_at").
		Where("turn_id = ? AND number = ?", turn.ID, number).Take(&stage).Error; err != nil {
		return nil, err
	}
	return []models.Cost{callCost(list, "stage/"+ref, turn.ParticipantID, stage)}, nil
}

// callCost prices a call. What a lost call used is not known, and so it has no
// price.
func callCost(list *prices.List, ref, participantID string, call models.Stage) models.Cost {
	used := prices.Used{
		Input: int64(call.Usage.Prompt), Cached: int64(call.Usage.Cached), Output: int64(call.Usage.Completion), AudioMillis: int64(call.Usage.Audio),
	}
	cost := models.Cost{
		Ref: ref, ParticipantID: participantID, Day: dayOf(call.CreatedAt), Kind: models.CostModel, Model: call.Model, Stage: call.Name,
		InputTokens: used.Input, CachedTokens: used.Cached, OutputTokens: used.Output, AudioMillis: used.AudioMillis, Currency: list.Currency(),
	}
	if call.Name != models.StageLost {
		cost.Micros = list.Model(call.Model, used)
	}
	return cost
}

func costsOfOutbox(tx *gorm.DB, list *prices.List, id string) ([]models.Cost, error) {
	var row models.Outbox
	if err := tx.Where("id = ?", id).Take(&row).Error; err != nil {
		return nil, err
	}
	var person models.Participant
	if err := tx.Where("id = ?", row.ParticipantID).Take(&person).Error; err != nil {
		return nil, err
	}
	number := person.Phone
	if row.FormerPhoneID != 0 {
		var former models.FormerPhone
		if err := tx.Where("id = ?", row.FormerPhoneID).Take(&former).Error; err != nil {
			return nil, err
		}
		number = former.Phone
	}
	at := row.UpdatedAt
	if row.AcceptedAt != nil {
		at = *row.AcceptedAt
	}
	count := int64(segments.Count(row.Body).Segments)
	return []models.Cost{{
		Ref: "outbox/" + id, ParticipantID: row.ParticipantID, Day: dayOf(at), Kind: models.CostOutbound,
		Segments: count, Micros: list.Outbound(number, count), Currency: list.Currency(),
	}}, nil
}

func costsOfInbound(tx *gorm.DB, list *prices.List, id string) ([]models.Cost, error) {
	var row models.Inbound
	if err := tx.Where("id = ?", id).Take(&row).Error; err != nil {
		return nil, err
	}
	count := max(int64(segments.Count(row.Body).Segments), 1) // a picture alone is a text too
	return []models.Cost{{
		Ref: "inbound/" + id, ParticipantID: row.ParticipantID, Day: dayOf(row.ReceivedAt), Kind: models.CostInbound,
		Segments: count, Micros: list.Inbound(row.From, count), Currency: list.Currency(),
	}}, nil
}

// costsOfVoice has a row for each call that it took to write a voice note down.
func costsOfVoice(tx *gorm.DB, list *prices.List, ref string) ([]models.Cost, error) {
	id, index, _ := strings.Cut(ref, "/")
	var row models.Inbound
	if err := tx.Where("id = ?", id).Take(&row).Error; err != nil {
		return nil, err
	}
	var out []models.Cost
	for _, note := range row.VoiceNotes() {
		if strconv.Itoa(note.Index) != index {
			continue
		}
		for i, call := range note.Calls {
			stage := models.Stage{Name: models.StageTranscribe, Model: call.Model, Usage: call.Usage, CreatedAt: row.ReceivedAt}
			if call.Lost {
				stage.Name = models.StageLost
			}
			out = append(out, callCost(list, fmt.Sprintf("voice/%s/%d", ref, i), row.ParticipantID, stage))
		}
	}
	return out, nil
}

func dayOf(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// costColumns are what costs are grouped by.
var costColumns = map[models.CostGroup]string{
	models.CostByDay: "day", models.CostByPerson: "participant_id", models.CostByModel: "model", models.CostByKind: "kind",
	models.CostByStudy: "study_id",
}

// Costs adds up the costs of some days, the groups in the order of their keys. By
// model, texts are left out.
func (s *Store) Costs(ctx context.Context, q models.CostQuery) ([]models.CostSum, error) {
	column, known := costColumns[q.By]
	if !known {
		return nil, models.BadField("by", "must be day, person, study, model or kind")
	}
	find := s.reader(ctx).Model(&models.Cost{}).Select(column+` AS "key", COUNT(*) AS calls, `+
		"SUM(input_tokens) AS input_tokens, SUM(cached_tokens) AS cached_tokens, SUM(output_tokens) AS output_tokens, "+
		"SUM(CASE WHEN kind = 'outbound' THEN segments ELSE 0 END) AS segments_out, "+
		"SUM(CASE WHEN kind = 'inbound' THEN segments ELSE 0 END) AS segments_in, "+
		"SUM(audio_millis) AS audio_millis, SUM(CASE WHEN stage = 'lost' THEN 1 ELSE 0 END) AS lost, "+
		"COALESCE(SUM(micros), 0) AS micros, SUM(CASE WHEN micros IS NULL THEN 1 ELSE 0 END) AS unpriced").
		Where("day >= ? AND day <= ?", q.From, q.Until).Group(column).Order("COALESCE(" + column + ", '')")
	if q.By == models.CostByStudy {
		find = find.Joins("LEFT JOIN participants ON participants.id = costs.participant_id")
	}
	if q.By == models.CostByModel {
		find = find.Where("kind = ?", models.CostModel)
	}
	var sums []models.CostSum
	if err := find.Scan(&sums).Error; err != nil {
		return nil, fmt.Errorf("adding up costs: %w", classify(err))
	}
	if q.By == models.CostByPerson {
		return s.withNames(ctx, q, sums)
	}
	return sums, nil
}

// withNames adds the names of the people whose costs are added up.
func (s *Store) withNames(ctx context.Context, q models.CostQuery, sums []models.CostSum) ([]models.CostSum, error) {
	var people []models.Participant
	err := s.reader(ctx).Select("id", "name").
		Where("id IN (SELECT participant_id FROM costs WHERE day >= ? AND day <= ?)", q.From, q.Until).Find(&people).Error
	if err != nil {
		return nil, fmt.Errorf("reading names: %w", classify(err))
	}
	names := map[string]string{}
	for _, p := range people {
		names[p.ID] = p.Name
	}
	for i := range sums {
		sums[i].Name = names[sums[i].Key]
	}
	return sums, nil
}
