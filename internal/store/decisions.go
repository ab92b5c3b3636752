package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"gorm.io/gorm"

	"coachline/internal/build"
	"coachline/internal/trial"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// Why a person was not available at a decision point, beside the reasons of missed
// prompts.
const unavailableUnreachable = "unreachable"

// missedByDecision is the reason of a prompt that was not sent because its decision
// point drew an option without one.
const missedByDecision = "decision"

// slotOf is a prompt slot of a person, at which a decision is due.
type slotOf struct {
	promptID, scheduleID string
	slot                 wire.Slot
	// reason says why the person is not available; empty is available.
	reason string
	at     time.Time
	// by is what the decision rests on; nil where probabilities are fixed.
	by *models.Posterior
}

// decideSlot returns what was decided at a slot, and decides and records it where
// nothing was. False where the person's study has no decision points. The
// participant's row is locked, so that their points are numbered without a gap.
func decideSlot(tx *gorm.DB, p models.Participant, s slotOf) (models.DecisionPoint, bool, error) {
	study, err := readStudy(tx, p.StudyID)
	if err != nil || !strings.Contains(study.Settings, `"decision_points"`) {
		return models.DecisionPoint{}, false, err
	}
	settings, err := study.ReadSettings()
	if err != nil || settings.DecisionPoints == nil {
		return models.DecisionPoint{}, false, err
	}
	var known []models.DecisionPoint
	if err := tx.Where("id = ?", s.promptID).Find(&known).Error; err != nil {
		return models.DecisionPoint{}, false, err
	}
	if len(known) > 0 {
		return known[0], true, nil
	}
	row, err := addDecision(tx, study, *settings.DecisionPoints, p, s)
	return row, err == nil, err
}

// newDecision draws the option of a decision point; a person who is not available
// gets none.
func newDecision(study models.Study, points models.DecisionPoints, head models.DecisionHead, s slotOf) (models.DecisionPoint, error) {
	number := head.Number + 1
	row := models.DecisionPoint{
		ID: s.promptID, StudyID: study.ID, ParticipantID: head.ParticipantID, Number: number, ScheduleID: s.scheduleID, LocalDate: s.slot.Date,
		DecidedAt: instant(s.at), Available: s.reason == "", Reason: s.reason, Policy: points.Policy, Counter: number,
		Algorithm: trial.AlgorithmVersion, Build: build.Version(), OutcomeHours: points.Hours(),
	}
	comparison := points.Options[len(points.Options)-1]
	err := setProbabilities(&row, &points, s.by)
	if err != nil {
		return row, err
	}
	if row.DayInStudy, err = dayInStudy(head.DayOne, s.slot.Date); err != nil || !row.Available {
		return row, err
	}
	drawn, err := trial.Decide(study.Seed, head.ParticipantID, number, points.Options)
	if err != nil {
		return row, err
	}
	row.Option, row.Send, row.Instruction, row.Draw = drawn.Option.Name, drawn.Option.Send, drawn.Option.Instruction, drawn.Draw
	row.Intervention = row.Option != comparison.Name
	return row, nil
}

// setProbabilities sets the probabilities of a row: those of the study, or of a
// posterior, which the options are given then.
func setProbabilities(row *models.DecisionPoint, points *models.DecisionPoints, by *models.Posterior) error {
	if by != nil {
		points.Options = trial.WithProbabilities(points.Options, *by)
		text, err := json.Marshal(by)
		if err != nil {
			return err
		}
		row.Posterior = string(text)
	}
	probabilities := map[string]float64{}
	for _, option := range points.Options {
		probabilities[option.Name] = option.Probability
	}
	row.RandProb = 1 - points.Options[len(points.Options)-1].Probability
	if by != nil {
		row.RandProb = by.Clipped
	}
	text, err := json.Marshal(probabilities)
	row.Options = string(text)
	return err
}

// dayInStudy counts local dates from the person's day 1.
func dayInStudy(dayOne, date string) (int, error) {
	first, err := time.Parse(time.DateOnly, dayOne)
	if err != nil {
		return 0, fmt.Errorf("counting the day in the study: %w", err)
	}
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return 0, fmt.Errorf("counting the day in the study: %w", err)
	}
	const hours = 24
	return int(day.Sub(first).Hours())/hours + 1, nil
}

// decidePrompt decides whether the prompt of a turn is written. Skip: it is not, and
// is recorded as missed.
func (b *begunTurn) decidePrompt(tx *gorm.DB, in wire.PrepareTurnInput, reason string) error {
	plan := in.Plan
	if plan.Kind != wire.TurnPrompt {
		return nil
	}
	switch {
	case reason != "":
	case b.participant.Status != wire.StatusActive: // the workflow has not heard of it yet
		reason = string(b.participant.Status)
	case b.participant.UnreachableAt != nil:
		reason = unavailableUnreachable
	}
	s := slotOf{promptID: plan.PromptID, scheduleID: plan.ScheduleID, slot: plan.Slot, reason: reason, at: in.Now}
	row, found, err := decideSlot(tx, b.participant, s)
	if err != nil || !found {
		return err
	}
	b.instruction = row.Instruction
	if row.Available && row.Send {
		return nil
	}
	b.Skip = true
	missed := row.Reason
	if row.Available {
		missed = missedByDecision
	}
	return missPrompt(tx, b.participant.ID, plan, missed)
}

// decideBarred records the decision point of a person who opted out meanwhile.
func (b *begunTurn) decideBarred(tx *gorm.DB, in wire.PrepareTurnInput) error {
	if b.participant.Status != wire.StatusOptedOut {
		return nil
	}
	return b.decidePrompt(tx, in, string(wire.StatusOptedOut))
}

// missPrompt records the prompt of a turn as missed, and the decision point at which
// the person was not available.
func (b *begunTurn) missPrompt(tx *gorm.DB, in wire.PrepareTurnInput, reason string) error {
	if err := b.decidePrompt(tx, in, reason); err != nil {
		return err
	}
	return missPrompt(tx, b.participant.ID, in.Plan, reason)
}

// decideMissed records the decision points of prompts that the rules did not send.
func decideMissed(tx *gorm.DB, p models.Participant, in wire.SaveStateInput) error {
	for _, m := range in.Missed {
		id := models.PromptID(in.ParticipantID, m.ScheduleID, m.Slot.Date)
		at := in.Now
		if m.Slot.SendAt.Before(at) {
			at = m.Slot.SendAt // it may be recorded later, as after an outage
		}
		_, _, err := decideSlot(tx, p, slotOf{promptID: id, scheduleID: m.ScheduleID, slot: m.Slot, reason: m.Reason, at: at})
		if err != nil {
			return err
		}
	}
	return nil
}

// readInstruction returns what the decision of a prompt adds to its request.
func readInstruction(tx *gorm.DB, promptID string) (text string, err error) {
	err = tx.Model(&models.DecisionPoint{}).Where("id = ?", promptID).Select("instruction").Scan(&text).Error
	return text, err
}

// Decisions returns a page of a study's decision points after an id, in the order of
// their ids, each with its outcome at the instant now. The outcome is found when it
// is read: the texts are the only record of it, so it cannot disagree with them, and
// one that came late counts by when it was received. A limit outside 1..200 counts
// as 200.
func (s *Studies) Decisions(ctx context.Context, q models.DecisionQuery) ([]models.DecisionOutcome, error) {
	var out []models.DecisionOutcome
	err := s.db.Snapshot(ctx, func(tx *gorm.DB) error {
		var rows []models.DecisionPoint
		err := tx.Where("study_id = ? AND id > ?", q.StudyID, q.After).Order("id").Limit(pageLimit(q.Limit)).Find(&rows).Error
		if err != nil {
			return err
		}
		out, err = withOutcomes(tx, rows, q.Now)
		return err
	})
	return out, wrap.Error(classify(err), "reading decisions")
}

// withOutcomes adds to decision points their outcomes at an instant: whether the person
// wrote in the hours after it. A STOP or a HELP is no answer; such texts have no number.
func withOutcomes(tx *gorm.DB, rows []models.DecisionPoint, now time.Time) ([]models.DecisionOutcome, error) {
	if len(rows) == 0 {
		return []models.DecisionOutcome{}, nil
	}
	texts, err := answersTo(tx, rows)
	if err != nil {
		return nil, err
	}
	holding, err := alertsThatHeld(tx, rows)
	if err != nil {
		return nil, err
	}
	reported, err := reportsOf(tx, rows)
	if err != nil {
		return nil, err
	}
	out := make([]models.DecisionOutcome, len(rows))
	for i, row := range rows {
		out[i].DecisionPoint = row
		out[i].AlertID, out[i].AlertMark = holding[row.ID].ID, holding[row.ID].Mark
		out[i].Reported = reported[row.ID]
		until := endOfOutcome(row)
		if until.After(now) {
			continue // not known yet
		}
		own := texts[row.ParticipantID]
		first := sort.Search(len(own), func(n int) bool { return own[n].After(row.DecidedAt) })
		answered := first < len(own) && !own[first].After(until)
		out[i].Answered = &answered
	}
	return out, nil
}

// reportsOf reads what was reported of the prompts of decision points, by id.
func reportsOf(tx *gorm.DB, rows []models.DecisionPoint) (map[string]models.PromptOutcome, error) {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	var prompts []models.Prompt
	err := tx.Select("id", "outcome").Where("id IN ? AND outcome <> ''", ids).Find(&prompts).Error
	out := map[string]models.PromptOutcome{}
	for _, prompt := range prompts {
		out[prompt.ID] = prompt.Outcome
	}
	return out, err
}

// endOfOutcome is the last instant at which a text counts as an answer.
func endOfOutcome(row models.DecisionPoint) time.Time {
	return row.DecidedAt.Add(time.Duration(row.OutcomeHours) * time.Hour)
}

// answersTo reads when the people of decision points wrote, in order, from the first
// of the points until the end of the last one's hours.
func answersTo(tx *gorm.DB, rows []models.DecisionPoint) (map[string][]time.Time, error) {
	var people []string
	out := map[string][]time.Time{}
	from, until := rows[0].DecidedAt, endOfOutcome(rows[0])
	for _, row := range rows {
		if _, known := out[row.ParticipantID]; !known {
			out[row.ParticipantID] = nil
			people = append(people, row.ParticipantID)
		}
		if row.DecidedAt.Before(from) {
			from = row.DecidedAt
		}
		if end := endOfOutcome(row); end.After(until) {
			until = end
		}
	}
	var texts []models.Inbound
	err := tx.Select("participant_id", "received_at").Where("participant_id IN ? AND seq > 0 AND received_at > ? AND received_at <= ?",
		people, instant(from), instant(until)).Order("participant_id, received_at").Find(&texts).Error
	for _, text := range texts {
		out[text.ParticipantID] = append(out[text.ParticipantID], text.ReceivedAt)
	}
	return out, err
}

// sendingTime is how long after its decision a prompt may be held by an alert that was
// raised while it was written.
const sendingTime = time.Hour

// alertsThatHeld finds, by decision point, the alert because of which no prompt went out:
// the oldest that was open, before it one that no operator called wrong.
func alertsThatHeld(tx *gorm.DB, rows []models.DecisionPoint) (map[string]models.Alert, error) {
	var ids, people, written []string
	for _, row := range rows {
		ids, people = append(ids, row.ID), append(people, row.ParticipantID)
	}
	err := tx.Model(&models.Prompt{}).Where("id IN ? AND reason = ?", ids, heldForAttention).Pluck("id", &written).Error
	if err != nil {
		return nil, err
	}
	var alerts []models.Alert
	err = tx.Select("id", "participant_id", "mark", "created_at", "cleared_at").
		Where("participant_id IN ? AND pages", people).Order("created_at, id").Find(&alerts).Error
	if err != nil {
		return nil, err
	}
	held := map[string]models.Alert{}
	for _, row := range rows {
		until := row.DecidedAt
		switch {
		case row.Available && slices.Contains(written, row.ID):
			until = until.Add(sendingTime)
		case row.Reason != heldForAttention && row.Reason != models.MissedTakenOver:
			continue
		}
		if alert, isHeld := oldestOpen(alerts, row, until); isHeld {
			held[row.ID] = alert
		}
	}
	return held, nil
}

// oldestOpen returns the oldest alert of a person that was open at a decision or raised
// until an instant; before it one that no operator called wrong.
func oldestOpen(alerts []models.Alert, row models.DecisionPoint, until time.Time) (oldest models.Alert, isHeld bool) {
	for _, alert := range alerts {
		isOpen := alert.ParticipantID == row.ParticipantID && !alert.CreatedAt.After(until) && (alert.ClearedAt == nil || alert.ClearedAt.After(row.DecidedAt))
		if isOpen && (!isHeld || oldest.Mark == models.MarkWrong && alert.Mark != models.MarkWrong) {
			oldest, isHeld = alert, true
		}
	}
	return oldest, isHeld
}
