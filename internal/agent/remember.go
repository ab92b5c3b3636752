package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"coachline/internal/agent/plan"
	"coachline/internal/agent/recall"
	"coachline/internal/calls"
	"coachline/models"
)

// memoryStepFor says when the memory step of a turn runs. At a terminal, where
// no delivery by a carrier has to be awaited, it comes first; a channel may
// have none, and so has a person whose number may have gone to another.
func (a *Agent) memoryStepFor(t turn) MemoryStep {
	if !models.ChannelSpecOf(t.context.Turn.Channel).MemoryStep || t.context.Participant.DoubtedAt != nil {
		return MemoryOff
	}
	if a.Settings.MemoryStep == MemoryAfter && models.ChannelSpecOf(t.context.Participant.Channel).RemembersFirst {
		return MemoryBefore
	}
	return a.Settings.MemoryStep
}

// rememberFirst runs the memory step before the model is asked, within its time
// limit, and adds its outcome to the block of memory.
func (a *Agent) rememberFirst(ctx context.Context, tr *trace, t turn, block string) string {
	ctx, cancel := context.WithTimeout(ctx, a.limitOf(smallLimit))
	defer cancel()
	known, err := a.memoryOf(ctx, t.context)
	if err == nil {
		var outcome string
		if outcome, err = a.runMemoryStep(ctx, tr, t, known.Facts); err == nil && outcome != "" {
			return joinLines(dropEmpty(block, "Of the newest text: "+outcome))
		}
	}
	if err != nil {
		tr.noteError(models.StageMemory, err)
	}
	return block
}

func personTexts(c models.TurnContext) string {
	var lines []string
	for _, entry := range c.Window {
		if entry.TurnID == c.Turn.ID && entry.Role == models.RoleUser {
			lines = append(lines, entry.Text)
		}
	}
	return joinLines(lines)
}

// isTransient reports whether a memory step may succeed later: not when the
// model refused it for good, the memory is full or the person has left.
func isTransient(err error) bool {
	var model *models.ModelError
	var field *models.FieldError
	switch {
	case err == nil, errors.Is(err, models.ErrMemoryFull), errors.Is(err, models.ErrNotFound), errors.As(err, &field):
		return false
	case errors.As(err, &model):
		return model.Class == models.ModelBusy
	}
	return true
}

// trimToReply returns the turn as it was when its reply went out, without later
// messages, so that a late attempt asks what the first one asked.
func (t turn) trimToReply() turn {
	for i, entry := range slices.Backward(t.context.Window) {
		if entry.TurnID == t.context.Turn.ID {
			t.context.Window = t.context.Window[:i+1]
			break
		}
	}
	return t
}

// saveStages stores what the stages after a reply decided.
func (a *Agent) saveStages(ctx context.Context, tr *trace) error {
	for i, row := range tr.stages {
		hash, err := hashOf([]any{row.TurnID, row.Name, i})
		if err != nil {
			return err
		}
		row.Number = stageNumber(hash)
		if err := a.Journal.SaveStage(ctx, row); err != nil {
			return fmt.Errorf("keeping stage %s: %w", row.Name, err)
		}
		if row.Model != "" {
			calls.Settle(ctx, row.Model, row.Usage)
		}
	}
	return nil
}

// runMemoryStep asks a model what of the text is worth keeping, and saves or
// updates that fact, or leaves the memory as it is.
func (a *Agent) runMemoryStep(ctx context.Context, tr *trace, t turn, facts []models.Fact) (string, error) {
	query := personTexts(t.context)
	if query == "" {
		query = t.queryText()
	}
	alerts := slices.ContainsFunc(t.context.Window, func(m models.Message) bool { return m.TurnID == t.context.Turn.ID && m.Danger != models.DangerNone })
	occasion := recall.Occasion{Rights: recall.Rights{Save: true, Update: true}, Acknowledges: !plan.Needed(query), Alerts: alerts, Query: query}
	if due, reason := occasion.Due(); !due {
		tr.note(models.StageMemory, "memory skip "+reason)
		return "", nil
	}
	shown := a.changeableFacts(ctx, tr, t.participantID(), query, facts)
	if slices.ContainsFunc(facts, func(fact models.Fact) bool { return fact.TurnID == t.context.Turn.ID }) {
		// An earlier attempt got this far.
		tr.note(models.StageMemory, "memory skip done")
		return "", nil
	}
	ask := recall.StepAsk{
		Query: query, Profile: ProfileLines(t.context.Profile), Dialogue: plan.Dialogue(t.messagesBefore()), Facts: shown,
		Rights: occasion.Rights, Zone: t.zone, Model: a.Settings.SmallModel,
	}
	var faults []recall.Fault
	for {
		op, fault, err := a.askForOperation(ctx, tr, ask, t)
		if err != nil {
			return "", err
		}
		id := op.ID
		if fault == recall.FaultNone && op.Action != recall.ActionNone {
			id, fault, err = a.storeOperation(ctx, tr, t, op)
		}
		if err != nil {
			return "", err
		}
		if fault == recall.FaultNone {
			tr.note(models.StageMemory, op.Decision())
			return op.Outcome(id, fault), nil
		}
		faults = append(faults, fault)
		if !recall.Retry(faults) {
			tr.note(models.StageMemory, fault.Decision())
			return op.Outcome(id, fault), nil
		}
		ask.Fault, ask.Tries, ask.Facts = fault, len(faults), facts
	}
}

// askForOperation asks a model for one operation of the memory step.
func (a *Agent) askForOperation(ctx context.Context, tr *trace, ask recall.StepAsk, t turn) (recall.Operation, recall.Fault, error) {
	request, err := recall.StepRequest(a.Prompts, ask)
	if err != nil {
		return recall.Operation{}, recall.FaultNone, fmt.Errorf("writing memory step: %w", err)
	}
	answer, err := a.askSmallModel(ctx, tr, question{stage: models.StageMemory, request: request, limit: smallLimit})
	if err != nil {
		return recall.Operation{}, recall.FaultNone, err
	}
	op, fault := recall.ParseStep(answer, recall.Known{Facts: ask.Facts, Rights: ask.Rights, Coach: coachTexts(t.context.Window)})
	return op, fault, nil
}

// coachTexts returns what the coach wrote, so that it is not taken for the
// person's.
func coachTexts(entries []models.Message) []string {
	var texts []string
	for _, entry := range entries {
		if entry.Role == models.RoleAssistant && entry.Kind != models.KindToolCall {
			texts = append(texts, entry.Text)
		}
	}
	return texts
}

// storeOperation stores what the memory step decided, once for a turn.
func (a *Agent) storeOperation(ctx context.Context, tr *trace, t turn, op recall.Operation) (string, recall.Fault, error) {
	var vector []float32
	if vectors, err := a.embedTexts(ctx, tr, []string{op.Text}); err == nil {
		vector = vectors[0]
	}
	near, err := a.Memory.Find(ctx, models.FactQuery{
		ParticipantID: t.participantID(), Vector: vector, Words: recall.Words(op.Text), Limit: topFacts,
	})
	if err != nil {
		return "", recall.FaultNone, fmt.Errorf("looking for duplicates: %w", err)
	}
	if id, found := op.Duplicate(near); found {
		return id, recall.FaultDuplicate, nil
	}
	fact := models.Fact{
		ID: op.ID, ParticipantID: t.participantID(), Kind: op.Kind, Text: op.Text, SourceID: lastTextID(t.context), TurnID: t.context.Turn.ID,
		CreatedAt: t.now.UTC(), UpdatedAt: t.now.UTC(),
	}
	store := a.Memory.SaveFact
	if op.Action == recall.ActionUpdate {
		store = a.Memory.UpdateFact
	}
	stored, err := store(ctx, fact, vector)
	var duplicate *models.DuplicateFactError
	switch {
	case errors.As(err, &duplicate):
		return duplicate.FactID, recall.FaultDuplicate, nil
	case errors.Is(err, models.ErrNotFound) && op.Action == recall.ActionUpdate:
		return "", recall.FaultUnknownID, nil
	case err != nil:
		return "", recall.FaultNone, fmt.Errorf("storing fact: %w", err)
	}
	return stored.ID, recall.FaultNone, nil
}

// lastTextID returns the entry that a fact of this turn was learnt from.
func lastTextID(c models.TurnContext) int64 {
	for _, entry := range slices.Backward(c.Window) {
		if entry.Role == models.RoleUser && entry.TurnID == c.Turn.ID {
			return entry.ID
		}
	}
	return 0
}
