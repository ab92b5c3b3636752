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
	"coachline/models"
)

// stepFacts are how many facts the memory step is shown at first.
const stepFacts = 30

// Worth reports whether a finished turn leaves anything to remember or to sum
// up: a person's text that is more than a greeting, thanks or assent (C10, D2).
// Without a memory step behind the reply there is something now and then only.
func (a *Agent) Worth(c models.TurnContext) bool {
	if c.Turn.Kind != models.KindReply || !plan.Needed(toldIn(c)) {
		return false
	}
	return a.stepFor(turn{context: c}) == MemoryAfter || len(c.Steps) > 0 && pressed(c.Steps[len(c.Steps)-1])
}

// presses reports whether a summary or a note should not wait for a later turn:
// since this turn, or every few turns from then on, because the one that is on
// its way may still fail.
func (a *Agent) presses(ctx context.Context, t turn) bool {
	known, err := a.memoryOf(ctx, t.context)
	pressing := func(entries []models.Message) bool {
		session := recall.SummaryInput{Entries: entries, Summary: known.Summary, ContextTokens: t.cap.ContextTokens}
		diary := recall.NoteInput{ParticipantID: t.id(), Entries: entries, Notes: known.Notes, Zone: t.zone}
		return session.Presses(a.Settings.HistoryLimit) || diary.DayOver()
	}
	seen, again := t.context.Window, t.context.Turn.Number%lookAgain == 0
	return err == nil && pressing(seen) && (again || !pressing(seen[:max(0, len(seen)-turnEntries)]))
}

// lookAgain is a number of turns, turnEntries the entries of a plain one.
const lookAgain, turnEntries = 4, 2

func pressed(step models.Step) bool {
	var kept struct{ Prepared struct{ Presses bool } }
	return json.Unmarshal([]byte(step.Trace), &kept) == nil && kept.Prepared.Presses
}

// stepFor is when the memory step of a turn runs. At a terminal, where nobody
// waits for a carrier, it comes first (D2); a channel may have none (O41).
func (a *Agent) stepFor(t turn) MemoryStep {
	if !t.context.Turn.Channel.Rights().MemoryStep {
		return MemoryOff
	}
	if a.Settings.MemoryStep == MemoryAfter && t.context.Participant.Channel == models.ChannelTerminal {
		return MemoryBefore
	}
	return a.Settings.MemoryStep
}

// beforehand runs the memory step before the model is asked, within its time,
// and adds what came of it to what the model is told.
func (a *Agent) beforehand(ctx context.Context, tr *trace, t turn, block string) string {
	ctx, cancel := context.WithTimeout(ctx, smallLimit)
	defer cancel()
	known, err := a.memoryOf(ctx, t.context)
	if err == nil {
		var outcome string
		if outcome, err = a.remember(ctx, tr, t, known.Facts); err == nil && outcome != "" {
			return joined(filled(block, "Of the newest text: "+outcome))
		}
	}
	if err != nil {
		tr.errored(models.StageMemory, err)
	}
	return block
}

// toldIn is what the person wrote in a turn.
func toldIn(c models.TurnContext) string {
	var lines []string
	for _, entry := range c.Window {
		if entry.TurnID == c.Turn.ID && entry.Role == models.RoleUser {
			lines = append(lines, entry.Text)
		}
	}
	return joined(lines)
}

// Remember is what follows a reply: the memory step where it comes after, a new
// summary when the conversation has outgrown the window, the note of a day that
// is over. Summary and note are left for the next turn when they fail, and the
// memory step is an error where a later attempt may succeed; a retry pays no
// model twice and stores nothing twice.
func (a *Agent) Remember(ctx context.Context, c models.TurnContext) error {
	clean, err := a.clean.Turn(c)
	if err != nil {
		return err
	}
	tr := &trace{turnID: clean.Turn.ID, now: a.Now}
	zone := a.zoneOf(tr, &clean.Participant)
	t := turn{context: clean, mode: clean.Turn.Mode, kind: clean.Turn.Kind, zone: zone, now: a.Now(), cap: a.capabilityOf(ctx)}
	t, _ = a.withOlder(ctx, tr, t, nil)
	known, err := a.Memory.Recall(ctx, t.id())
	if err != nil {
		return fmt.Errorf("recalling: %w", err)
	}
	if a.stepFor(t) == MemoryAfter {
		_, err := a.remember(ctx, tr, t.ended(), known.Facts)
		if transient(err) {
			// No later turn looks at these words again.
			return err
		}
		if err != nil {
			tr.errored(models.StageMemory, err)
		}
	}
	a.summarise(ctx, tr, t, known.Summary)
	a.note(ctx, tr, t, known.Notes)
	return a.keep(ctx, tr)
}

// transient reports whether a memory step may succeed later: not when the model
// turned it down for good, the memory is full or the person has left.
func transient(err error) bool {
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

// ended is a turn as it was when its reply went out, without what was said
// since, so that a late attempt asks what the first one asked.
func (t turn) ended() turn {
	for i, entry := range slices.Backward(t.context.Window) {
		if entry.TurnID == t.context.Turn.ID {
			t.context.Window = t.context.Window[:i+1]
			break
		}
	}
	return t
}

// keep stores what the stages behind a reply decided.
func (a *Agent) keep(ctx context.Context, tr *trace) error {
	for i, row := range tr.stages {
		hash, err := hashOf([]any{row.TurnID, row.Name, i})
		if err != nil {
			return err
		}
		row.Number = stageNumber(hash)
		if err := a.Journal.SaveStage(ctx, row); err != nil {
			return fmt.Errorf("keeping stage %s: %w", row.Name, err)
		}
	}
	return nil
}

// remember is the final memory step (O26-O30): a model says what of the text is
// worth keeping, and it is saved, updated or left alone.
func (a *Agent) remember(ctx context.Context, tr *trace, t turn, facts []models.Fact) (string, error) {
	query := toldIn(t.context)
	if query == "" {
		query = t.query()
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
		Query: query, Profile: ProfileLines(t.context.Profile), Dialogue: plan.Dialogue(t.before()), Facts: facts[:min(len(facts), stepFacts)],
		Rights: occasion.Rights, Zone: t.zone, Model: a.Settings.SmallModel,
	}
	var faults []recall.Fault
	for {
		op, fault, err := a.operation(ctx, tr, ask, t)
		if err != nil {
			return "", err
		}
		id := op.ID
		if fault == recall.FaultNone && op.Action != recall.ActionNone {
			id, fault, err = a.carryOut(ctx, t, op)
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

func (a *Agent) operation(ctx context.Context, tr *trace, ask recall.StepAsk, t turn) (recall.Operation, recall.Fault, error) {
	request, err := recall.StepRequest(a.Prompts, ask)
	if err != nil {
		return recall.Operation{}, recall.FaultNone, fmt.Errorf("writing memory step: %w", err)
	}
	answer, err := a.ask(ctx, tr, question{stage: models.StageMemory, request: request, limit: smallLimit})
	if err != nil {
		return recall.Operation{}, recall.FaultNone, err
	}
	op, fault := recall.ParseStep(answer, recall.Known{Facts: ask.Facts, Rights: ask.Rights, Coach: coachTexts(t.context.Window)})
	return op, fault, nil
}

// coachTexts are the coach's own words, which are not the person's.
func coachTexts(entries []models.Message) []string {
	var texts []string
	for _, entry := range entries {
		if entry.Role == models.RoleAssistant && entry.Kind != models.KindToolCall {
			texts = append(texts, entry.Text)
		}
	}
	return texts
}

// carryOut stores what the memory step decided, once for a turn.
func (a *Agent) carryOut(ctx context.Context, t turn, op recall.Operation) (string, recall.Fault, error) {
	var vector []float32
	if vectors, err := a.embed(ctx, []string{op.Text}); err == nil {
		vector = vectors[0]
	}
	near, err := a.Memory.Find(ctx, models.FactQuery{
		ParticipantID: t.id(), Vector: vector, Words: recall.Words(op.Text), Limit: topFacts, MinScore: recall.MinScore,
	})
	if err != nil {
		return "", recall.FaultNone, fmt.Errorf("looking for duplicates: %w", err)
	}
	if id, found := op.Duplicate(near); found {
		return id, recall.FaultDuplicate, nil
	}
	fact := models.Fact{
		ID: op.ID, ParticipantID: t.id(), Kind: op.Kind, Text: op.Text, SourceID: lastTold(t.context), TurnID: t.context.Turn.ID,
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

// lastTold is the entry that a fact of this turn was learnt from.
func lastTold(c models.TurnContext) int64 {
	for _, entry := range slices.Backward(c.Window) {
		if entry.Role == models.RoleUser && entry.TurnID == c.Turn.ID {
			return entry.ID
		}
	}
	return 0
}

func (a *Agent) summarise(ctx context.Context, tr *trace, t turn, summary models.Summary) {
	summary.ParticipantID = t.id()
	drawn, due := recall.PlanSummary(recall.SummaryInput{Entries: t.context.Window, Summary: summary, ContextTokens: t.cap.ContextTokens})
	if !due {
		return
	}
	request, err := drawn.Request(a.Prompts, a.Settings.SmallModel)
	if err == nil {
		var answer string
		if answer, err = a.ask(ctx, tr, question{stage: models.StageSummarise, request: request, limit: summaryLimit}); err == nil {
			next, ok := drawn.Merge(answer, t.now.UTC())
			if !ok {
				tr.note(models.StageSummarise, "summary left")
				return
			}
			err = a.Diary.PutSummary(ctx, next)
		}
	}
	a.settled(tr, models.StageSummarise, err)
}

// note writes the notes of days that are over: today's belongs to the window
// still.
func (a *Agent) note(ctx context.Context, tr *trace, t turn, notes []models.Note) {
	today := t.now.In(t.zone).Format(time.DateOnly)
	for _, open := range recall.PlanNotes(recall.NoteInput{ParticipantID: t.id(), Entries: t.context.Window, Notes: notes, Zone: t.zone}) {
		if open.Earlier.LocalDate >= today {
			return
		}
		request, err := open.Request(a.Prompts, a.Settings.SmallModel)
		if err == nil {
			var answer string
			if answer, err = a.ask(ctx, tr, question{stage: models.StageNote, request: request, limit: summaryLimit}); err == nil {
				next, ok := open.Merge(answer, t.now.UTC())
				if !ok {
					tr.note(models.StageNote, "note left")
					return
				}
				err = a.Diary.PutNote(ctx, next)
			}
		}
		a.settled(tr, models.StageNote, err)
	}
}

// settled records how a step behind the reply ended. Another turn that was
// faster is as good.
func (a *Agent) settled(tr *trace, stage models.StageName, err error) {
	switch {
	case err == nil:
		tr.note(stage, string(stage)+" written")
	case errors.Is(err, models.ErrStale):
		tr.note(stage, string(stage)+" overtaken")
	default:
		tr.errored(stage, err)
	}
}
