package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
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

// Costs keeps the ledger of what was spent.
type Costs struct{ db *database.Database }

// RecordCosts writes a row of costs for each call of a model and each text since
// the last time, at the prices of now. Safe to repeat and to run in several
// processes: a row is counted once.
func (s *Costs) RecordCosts(ctx context.Context, list *prices.List) error {
	for {
		var waiting int64
		if err := s.db.Reader(ctx).Model(&costRef{}).Limit(1).Count(&waiting).Error; err != nil {
			return fmt.Errorf("counting costs to record: %w", classify(err))
		}
		if waiting == 0 {
			return nil // the usual case takes no write lock
		}
		err := s.db.Write(ctx, func(tx *gorm.DB) error { return recordBatch(tx, list) })
		if err != nil {
			return fmt.Errorf("recording costs: %w", err)
		}
		if waiting <= costBatch {
			return nil
		}
	}
}

// recordWaiting records all that waits, within a transaction.
func recordWaiting(tx *gorm.DB, list *prices.List) error {
	for {
		var waiting int64
		if err := tx.Model(&costRef{}).Limit(1).Count(&waiting).Error; err != nil || waiting == 0 {
			return err
		}
		if err := recordBatch(tx, list); err != nil {
			return err
		}
	}
}

func recordBatch(tx *gorm.DB, list *prices.List) error {
	var refs []costRef
	if err := forUpdate(tx).Order("id").Limit(costBatch).Find(&refs).Error; err != nil || len(refs) == 0 {
		return err
	}
	batch := costRows{list: list}
	if err := batch.read(tx, refs); err != nil {
		return err
	}
	ids := make([]int64, len(refs))
	for i, ref := range refs {
		ids[i] = ref.ID
		rows, err := batch.costsOf(ref)
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

// costRows are the rows that a batch of references names, which one statement for
// each table reads. What was erased meanwhile is missing.
type costRows struct {
	list      *prices.List
	turns     map[string]models.Turn
	steps     map[string]models.Step
	stages    map[string]models.Stage
	outbox    map[string]models.Outbox
	phones    map[string]string // of participants
	former    map[int64]string
	inbound   map[string]models.Inbound
	hints     map[string]models.Hint
	readers   map[string]string // of hints: numbers
	turnOfRef map[string]string
}

func (c *costRows) read(tx *gorm.DB, refs []costRef) error {
	named := map[string][]string{}
	c.turnOfRef = map[string]string{}
	turns := map[string][]string{}
	for _, ref := range refs {
		named[ref.Source] = append(named[ref.Source], ref.Ref)
		if ref.Source == costVoice {
			named["inbound"] = append(named["inbound"], textOfVoice(ref.Ref))
		}
		if ref.Source == "step" || ref.Source == "stage" {
			turn := ref.Ref[:max(strings.LastIndexByte(ref.Ref, '/'), 0)]
			c.turnOfRef[ref.Ref] = turn
			turns[ref.Source] = append(turns[ref.Source], turn)
		}
	}
	return errors.Join(c.readCalls(tx, turns["step"], turns["stage"]), c.readOutbox(tx, named["outbox"]), c.readInbound(tx, named["inbound"]), c.readHints(tx, named[costHint]))
}

// readCalls reads the steps and stages of some turns.
func (c *costRows) readCalls(tx *gorm.DB, ofSteps, ofStages []string) error {
	turns, err := rowsIn[models.Turn](tx.Select("id", "participant_id"), "id", slices.Concat(ofSteps, ofStages))
	if err != nil {
		return err
	}
	steps, err := rowsIn[models.Step](tx.Select("turn_id", "number", "model", "usage", "trace", "created_at"), "turn_id", ofSteps)
	if err != nil {
		return err
	}
	stages, err := rowsIn[models.Stage](tx.Select("turn_id", "number", "name", "model", "usage", "created_at"), "turn_id", ofStages)
	c.turns = mapBy(turns, func(turn models.Turn) string { return turn.ID })
	c.steps = mapBy(steps, func(step models.Step) string { return numberedRef(step.TurnID, step.Number) })
	c.stages = mapBy(stages, func(stage models.Stage) string { return numberedRef(stage.TurnID, stage.Number) })
	return err
}

// readOutbox reads outbox rows and the numbers that they went to.
func (c *costRows) readOutbox(tx *gorm.DB, ids []string) error {
	rows, err := rowsIn[models.Outbox](tx.Select("id", "participant_id", "former_phone_id", "body", "accepted_at", "updated_at"), "id", ids)
	if err != nil {
		return err
	}
	var participants []string
	var former []int64
	for _, row := range rows {
		if row.FormerPhoneID != 0 {
			former = append(former, row.FormerPhoneID)
		}
		participants = append(participants, row.ParticipantID)
	}
	people, err := rowsIn[models.Participant](tx.Select("id", "phone"), "id", participants)
	if err != nil {
		return err
	}
	phones, err := rowsIn[models.FormerPhone](tx.Select("id", "participant_id", "until_at", "phone"), "id", former)
	c.outbox = mapBy(rows, func(row models.Outbox) string { return row.ID })
	c.phones, c.former = map[string]string{}, map[int64]string{}
	for _, person := range people {
		c.phones[person.ID] = person.Phone
	}
	for _, phone := range phones {
		c.former[phone.ID] = phone.Phone
	}
	return err
}

// costHint is the source of texts to people who are not enrolled; a reference is the id of
// the hint and its segments.
const costHint = "hint"

func (c *costRows) readHints(tx *gorm.DB, refs []string) error {
	ids := make([]string, len(refs))
	for i, ref := range refs {
		ids[i], _, _ = strings.Cut(ref, "/")
	}
	rows, err := rowsIn[models.Hint](tx, "id", ids)
	if err != nil {
		return err
	}
	c.hints, c.readers = mapBy(rows, func(row models.Hint) string { return row.ID }), map[string]string{}
	for _, row := range rows {
		to, err := readerOfHint(tx, row)
		if err := ignoreMissing(err); err != nil {
			return err
		}
		c.readers[row.ID] = to.phone
	}
	return nil
}

// costsOfHint prices a text to a person who is not enrolled, and so of no participant.
func (c *costRows) costsOfHint(ref string) []models.Cost {
	id, counted, _ := strings.Cut(ref, "/")
	row, isThere := c.hints[id]
	count, err := strconv.ParseInt(counted, 10, 64)
	if !isThere || err != nil {
		return nil
	}
	return []models.Cost{{
		Ref: "hint/" + id, Day: dayOf(row.UpdatedAt), Kind: models.CostOutbound,
		Segments: count, Micros: c.list.Outbound(c.readers[id], count), Currency: c.list.Currency(),
	}}
}

func (c *costRows) readInbound(tx *gorm.DB, refs []string) error {
	ids := make([]int64, len(refs))
	for i, ref := range refs {
		var err error
		if ids[i], err = strconv.ParseInt(ref, 10, 64); err != nil {
			return err
		}
	}
	rows, err := rowsIn[models.Inbound](tx.Select("id", "provider_sid", "channel", "participant_id", "from", "body", "voice", "received_at"), "id", ids)
	c.inbound = mapBy(rows, func(row models.Inbound) string { return strconv.FormatInt(row.ID, 10) })
	return err
}

// rowsIn reads the rows of a query that have one of some values in a column.
func rowsIn[T any, V comparable](query *gorm.DB, column string, values []V) ([]T, error) {
	if len(values) == 0 {
		return nil, nil
	}
	var rows []T
	err := query.Where(column+" IN ?", values).Find(&rows).Error
	return rows, err
}

func mapBy[T any](rows []T, key func(T) string) map[string]T {
	all := make(map[string]T, len(rows))
	for _, row := range rows {
		all[key(row)] = row
	}
	return all
}

func numberedRef(turnID string, number int) string { return turnID + "/" + strconv.Itoa(number) }

// costsOf prices what a reference names; none when it was erased or no carrier had a
// part in it.
func (c *costRows) costsOf(ref costRef) ([]models.Cost, error) {
	switch ref.Source {
	case "step":
		return c.costsOfStep(ref.Ref), nil
	case "stage":
		turn, isKept := c.turns[c.turnOfRef[ref.Ref]]
		stage, isThere := c.stages[ref.Ref]
		if !isKept || !isThere {
			return nil, nil
		}
		return []models.Cost{callCost(c.list, "stage/"+ref.Ref, turn.ParticipantID, stage)}, nil
	case "outbox":
		return c.costsOfOutbox(ref.Ref), nil
	case costVoice:
		return c.costsOfVoice(ref.Ref), nil
	case "inbound":
		return c.costsOfInbound(ref.Ref), nil
	case costHint:
		return c.costsOfHint(ref.Ref), nil
	}
	return nil, fmt.Errorf("source %q is unknown", ref.Source)
}

// costsOfStep has a row for each call of the chat model in a step, which its
// trace lists; for a step whose trace was erased, one for the call it kept.
func (c *costRows) costsOfStep(ref string) []models.Cost {
	turn, isKept := c.turns[c.turnOfRef[ref]]
	step, isThere := c.steps[ref]
	if !isKept || !isThere {
		return nil
	}
	var out []models.Cost
	for i, call := range step.ModelCalls() {
		if call.Model == "" {
			call.Model = step.Model
		}
		call.CreatedAt = step.CreatedAt
		out = append(out, callCost(c.list, fmt.Sprintf("step/%s/%d", ref, i), turn.ParticipantID, call))
	}
	return out
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

func (c *costRows) costsOfOutbox(id string) []models.Cost {
	row, isThere := c.outbox[id]
	number, isKept := c.phones[row.ParticipantID]
	if isKept && row.FormerPhoneID != 0 {
		number, isKept = c.former[row.FormerPhoneID]
	}
	if !isThere || !isKept {
		return nil
	}
	at := row.UpdatedAt
	if row.AcceptedAt != nil {
		at = *row.AcceptedAt
	}
	count := int64(segments.Count(row.Body).Segments)
	return []models.Cost{{
		Ref: "outbox/" + id, ParticipantID: row.ParticipantID, Day: dayOf(at), Kind: models.CostOutbound,
		Segments: count, Micros: c.list.Outbound(number, count), Currency: c.list.Currency(),
	}}
}

func (c *costRows) costsOfInbound(id string) []models.Cost {
	row, isThere := c.inbound[id]
	if !isThere || !isCarried(row) {
		return nil
	}
	count := max(int64(segments.Count(row.Body).Segments), 1) // a picture alone is a text too
	return []models.Cost{{
		Ref: "inbound/" + id, ParticipantID: row.ParticipantID, Day: dayOf(row.ReceivedAt), Kind: models.CostInbound,
		Segments: count, Micros: c.list.Inbound(row.From, count), Currency: c.list.Currency(),
	}}
}

func dayOf(at time.Time) string { return at.UTC().Format(time.DateOnly) }

var costColumns = map[models.CostGroup]string{
	models.CostByDay: "day", models.CostByPerson: "participant_id", models.CostByModel: "model", models.CostByKind: "kind",
	models.CostByStudy: "study_id",
}

// Sum adds up the costs of some days, the groups in the order of their keys. By
// model, texts are left out.
func (s *Costs) Sum(ctx context.Context, q models.CostQuery) ([]models.CostRow, error) {
	column, known := costColumns[q.By]
	if !known {
		return nil, models.BadField("by", "must be day, person, study, model or kind")
	}
	find := s.db.Reader(ctx).Model(&models.Cost{}).Select(column+` AS "key", COUNT(*) AS calls, `+
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
	var sums []models.CostRow
	if err := find.Scan(&sums).Error; err != nil {
		return nil, fmt.Errorf("adding up costs: %w", classify(err))
	}
	if q.By == models.CostByPerson {
		return s.withNames(ctx, q, sums)
	}
	return sums, nil
}

// withNames adds the names of the people whose costs are added up.
func (s *Costs) withNames(ctx context.Context, q models.CostQuery, sums []models.CostRow) ([]models.CostRow, error) {
	var people []models.Participant
	err := s.db.Reader(ctx).Select("id", "name").
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
