package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"coachline/internal/agent/plan"
	"coachline/internal/agent/recall"
	"coachline/internal/calls"
	"coachline/models"
)

// stepFacts are how many facts the memory step is shown at first.
const stepFacts = 30

// Worth reports whether a finished turn leaves anything to remember or to sum
// up: a person's text that is more than a greeting, thanks or assent. Without a
// memory step after the reply only a summary or a note may be due.
func (a *Agent) Worth(c models.TurnContext) bool {
	if c.Turn.Kind != models.TurnReply || !plan.Needed(personTexts(c)) {
		return false
	}
	return a.memoryStepFor(turn{context: c}) == MemoryAfter || len(c.Steps) > 0 && isSummaryDue(c.Steps[len(c.Steps)-1])
}

// needsSummary reports whether a summary or a note should not wait for a later
// turn: since this turn, or every few turns from then on, because one that
// is being written may still fail.
func (a *Agent) needsSummary(ctx context.Context, t turn) bool {
	known, err := a.memoryOf(ctx, t.context)
	pressing := func(entries []models.Message) bool {
		session := recall.SummaryInput{Entries: entries, Summary: known.Summary, ContextTokens: t.capability.ContextTokens}
		diary := recall.NoteInput{ParticipantID: t.participantID(), Entries: entries, Notes: known.Notes, Zone: t.zone}
		return session.NeedsSummary(a.Settings.HistoryLimit) || diary.DayOver()
	}
	seen, again := t.context.Window, t.context.Turn.Number%turnsPerCheck == 0
	return err == nil && pressing(seen) && (again || !pressing(seen[:max(0, len(seen)-turnEntries)]))
}

// turnsPerCheck is a number of turns, turnEntries the entries of a plain one.
const turnsPerCheck, turnEntries = 4, 2

// isSummaryDue reports whether the preparation of a step noted that a summary
// or a note is due.
func isSummaryDue(step models.Step) bool {
	var kept struct {
		Prepared struct {
			NeedsSummary bool `json:"presses"`
		}
	}
	return json.Unmarshal([]byte(step.Trace), &kept) == nil && kept.Prepared.NeedsSummary
}

// memoryStepFor says when the memory step of a turn runs. At a terminal, where
// no delivery by a carrier has to be awaited, it comes first; a channel may
// have none.
func (a *Agent) memoryStepFor(t turn) MemoryStep {
	if !t.context.Turn.Channel.Spec().MemoryStep {
		return MemoryOff
	}
	if a.Settings.MemoryStep == MemoryAfter && t.context.Participant.Channel.Spec().RemembersFirst {
		return MemoryBefore
	}
	return a.Settings.MemoryStep
}

// rememberFirst runs the memory step before the model is asked, within its time
// limit, and adds its outcome to the block of memory.
func (a *Agent) rememberFirst(ctx context.Context, tr *trace, t turn, block string) string {
	ctx, cancel := context.WithTimeout(ctx, smallLimit)
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

// personTexts returns what the person wrote in a turn.
func personTexts(c models.TurnContext) string {
	var lines []string
	for _, entry := range c.Window {
		if entry.TurnID == c.Turn.ID && entry.Role == models.RoleUser {
			lines = append(lines, entry.Text)
		}
	}
	return joinLines(lines)
}

// Remember runs what follows a reply: the memory step where it comes after, a
// new summary when the conversation has outgrown the window, the note of a day
// that is over. Summary and note are left for the next turn when they fail, and
// the memory step is an error where a later attempt may succeed; a retry pays
// no model twice and stores nothing twice.
func (a *Agent) Remember(ctx context.Context, c models.TurnContext) error {
	clean, err := a.clean.Turn(c)
	if err != nil {
		return err
	}
	tr := &trace{turnID: clean.Turn.ID, now: a.Now}
	zone := a.zoneOf(tr, &clean.Participant)
	t := turn{context: clean, mode: clean.Turn.Mode, kind: clean.Turn.Kind, zone: zone, now: a.Now(), capability: a.capabilityOf(ctx)}
	t, _ = a.digestOlder(ctx, tr, t, nil)
	known, err := a.Memory.Recall(ctx, t.participantID())
	if err != nil {
		return fmt.Errorf("recalling: %w", err)
	}
	if a.memoryStepFor(t) == MemoryAfter {
		_, err := a.runMemoryStep(ctx, tr, t.trimToReply(), known.Facts)
		if isTransient(err) {
			// No later turn reads this text again.
			return err
		}
		if err != nil {
			tr.noteError(models.StageMemory, err)
		}
	}
	a.writeSummary(ctx, tr, t, known.Summary)
	a.writeNotes(ctx, tr, t, known.Notes)
	return a.saveStages(ctx, tr)
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
	occasion := recall.Occasion{Rights: recall.Rights{Save: true, Update: true}, Acknowledges: !plan.Needed(query), Query: query}
	if due, reason := occasion.Due(); !due {
		tr.note(models.StageMemory, "memory skip "+reason)
		return "", nil
	}
	if slices.ContainsFunc(facts, func(fact models.Fact) bool { return fact.TurnID == t.context.Turn.ID }) {
		// An earlier attempt got this far.
		tr.note(models.StageMemory, "memory skip done")
		return "", nil
	}
	ask := recall.StepAsk{
		Query: query, Profile: ProfileLines(t.context.Profile), Dialogue: plan.Dialogue(t.messagesBefore()), Facts: facts[:min(len(facts), stepFacts)],
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
		ParticipantID: t.participantID(), Vector: vector, Words: recall.Words(op.Text), Limit: topFacts, MinScore: recall.MinScore,
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

// writeSummary stores a new summary when one is due.
func (a *Agent) writeSummary(ctx context.Context, tr *trace, t turn, summary models.Summary) {
	summary.ParticipantID = t.participantID()
	drawn, due := recall.PlanSummary(recall.SummaryInput{Entries: t.context.Window, Summary: summary, ContextTokens: t.capability.ContextTokens})
	if !due {
		return
	}
	request, err := drawn.Request(a.Prompts, a.Settings.SmallModel)
	if err == nil {
		var answer string
		if answer, err = a.askSmallModel(ctx, tr, question{stage: models.StageSummarise, request: request, limit: summaryLimit}); err == nil {
			next, ok := drawn.Merge(answer, t.now.UTC())
			if !ok {
				tr.note(models.StageSummarise, "summary left")
				return
			}
			err = a.Diary.PutSummary(ctx, next)
		}
	}
	a.noteOutcome(tr, models.StageSummarise, err)
}

// writeNotes writes the notes of days that are over; the current day still
// belongs to the window.
func (a *Agent) writeNotes(ctx context.Context, tr *trace, t turn, notes []models.Note) {
	today := t.now.In(t.zone).Format(time.DateOnly)
	for _, open := range recall.PlanNotes(recall.NoteInput{ParticipantID: t.participantID(), Entries: t.context.Window, Notes: notes, Zone: t.zone}) {
		if open.Earlier.LocalDate >= today {
			return
		}
		request, err := open.Request(a.Prompts, a.Settings.SmallModel)
		if err == nil {
			var answer string
			if answer, err = a.askSmallModel(ctx, tr, question{stage: models.StageNote, request: request, limit: summaryLimit}); err == nil {
				next, ok := open.Merge(answer, t.now.UTC())
				if !ok {
					tr.note(models.StageNote, "note left")
					return
				}
				err = a.Diary.PutNote(ctx, next)
			}
		}
		a.noteOutcome(tr, models.StageNote, err)
	}
}

// noteOutcome records how a step after the reply ended. A result of another
// turn that was faster is as good.
func (a *Agent) noteOutcome(tr *trace, stage models.StageName, err error) {
	switch {
	case err == nil:
		tr.note(stage, string(stage)+" written")
	case errors.Is(err, models.ErrStale):
		tr.note(stage, string(stage)+" overtaken")
	default:
		tr.noteError(stage, err)
	}
}
