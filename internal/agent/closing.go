package agent

import (
	"context"
	"fmt"
	"slices"

	"coachline/internal/agent/plan"
	"coachline/internal/agent/recall"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

const (
	// changeable is how many facts a model is shown that may change them; nearFacts
	// of them are those nearest to the text.
	changeable, nearFacts = 80, 20
	// embeddedAtOnce is how many facts get a new vector when a conversation is closed.
	embeddedAtOnce = 64
	// closingTries is how often a conversation is read that got no JSON object.
	closingTries = 2
)

// Worth reports whether a finished turn leaves anything to remember or to sum
// up: a person's text that is more than a greeting, thanks or assent, on a channel of
// which something is remembered.
func (a *Agent) Worth(c models.TurnContext) bool {
	return models.ChannelSpecOf(c.Turn.Channel).MemoryStep && c.Turn.Kind == wire.TurnReply && plan.Needed(personTexts(c))
}

// Remember closes a conversation that rests, up to its newest turn: one call of
// the small model reads what is new and answers the facts of it (where they are
// not stored before the reply), the note of the day, and when it is time the
// summary; all of it is stored at once. An error says that a later attempt may
// succeed. A retry pays no model twice and stores nothing twice.
func (a *Agent) Remember(ctx context.Context, c models.TurnContext) error {
	clean, err := a.clean.Turn(c)
	if err != nil {
		return err
	}
	tr := &trace{turnID: clean.Turn.ID, now: a.Now}
	t := turn{
		context: clean, mode: clean.Turn.Mode, kind: clean.Turn.Kind, zone: a.zoneOf(tr, &clean.Participant), now: a.Now(), capability: a.Capability(ctx),
	}
	t, _ = a.digestOlder(ctx, tr, t, nil)
	t = t.trimToReply()
	known, err := a.Memory.Recall(ctx, t.participantID())
	if err != nil {
		return fmt.Errorf("recalling: %w", err)
	}
	drawn, open := recall.PlanClosing(recall.ClosingInput{
		ParticipantID: t.participantID(), Entries: t.context.Window, Memory: known, Zone: t.zone, ContextTokens: t.capability.ContextTokens,
	})
	if !open {
		// An earlier attempt got this far.
		return nil
	}
	if err := a.closeConversation(ctx, tr, t, drawn, known.Facts); isTransient(err) {
		return err
	} else if err != nil {
		tr.noteError(models.StageClosing, err)
	}
	a.embedAnew(ctx, tr, t.participantID())
	return a.saveStages(ctx, tr)
}

// embedAnew gives facts a vector that have none of the model in use: it was changed, or its
// server was away. Some at a time, since a conversation is closed often; the workers close
// one person's by one of them. What fails is tried with the next conversation.
func (a *Agent) embedAnew(ctx context.Context, tr *trace, participantID string) {
	facts, err := a.Memory.FactsWithoutVector(ctx, participantID, embeddedAtOnce)
	if err != nil || len(facts) == 0 {
		return
	}
	texts := make([]string, len(facts))
	for i, fact := range facts {
		texts[i] = fact.Text
	}
	vectors, err := a.embedTexts(ctx, tr, texts)
	if err == nil {
		err = a.Memory.KeepVectors(ctx, participantID, facts, vectors)
	}
	if err != nil {
		tr.noteError(models.StageEmbed, err)
		return
	}
	tr.note(models.StageEmbed, fmt.Sprintf("embed anew %d", len(facts)))
}

// closeConversation asks for what a conversation came to, and stores it.
func (a *Agent) closeConversation(ctx context.Context, tr *trace, t turn, drawn recall.ClosingPlan, facts []models.Fact) error {
	ask := recall.ClosingAsk{Zone: t.zone, Model: a.Settings.SmallModel}
	if a.memoryStepFor(t) == MemoryAfter {
		ask.Profile = ProfileLines(t.context.Profile)
		ask.Facts = a.changeableFacts(ctx, tr, t.participantID(), drawn.Says(), facts)
	}
	known := recall.Known{Facts: facts, Rights: recall.Rights{Save: ask.Facts != nil, Update: ask.Facts != nil}, Coach: coachTexts(t.context.Window)}
	var closed recall.Closed
	for read := false; !read && ask.Tries < closingTries; ask.Tries++ {
		request, err := drawn.Request(a.Prompts, ask)
		if err != nil {
			return fmt.Errorf("writing closing: %w", err)
		}
		answer, err := a.askSmallModel(ctx, tr, question{stage: models.StageClosing, request: request, limit: closingLimit})
		if err != nil {
			return err
		}
		if closed, read = drawn.Read(answer, known, t.now.UTC()); !read {
			tr.note(models.StageClosing, recall.FaultUnreadable.Decision())
		}
	}
	for _, fault := range closed.Faults {
		tr.note(models.StageClosing, fault.Decision())
	}
	for _, op := range closed.Operations {
		tr.note(models.StageClosing, op.Decision())
	}
	if closed.IsMinor { // First: a conversation that is closed is not read again.
		if err := a.raiseMinor(ctx, tr, t); err != nil {
			return fmt.Errorf("raising attention for a minor: %w", err)
		}
	}
	err := a.Diary.CloseConversation(ctx, models.Closing{
		ParticipantID: t.participantID(), MemoryVersion: t.context.Participant.MemoryVersion,
		Facts: a.changesOf(ctx, tr, t, closed.Operations), Note: closed.Note, Summary: closed.Summary,
	})
	return wrap.Error(err, "storing what a conversation came to")
}

// raiseMinor has an operator told of a person who is younger than 18 by what they wrote, in
// words that no rule of the screening knows. They are coached on until the operator decides.
func (a *Agent) raiseMinor(ctx context.Context, tr *trace, t turn) error {
	tr.note(models.StageClosing, "closing minor")
	if a.Attention == nil {
		return nil
	}
	_, err := a.Attention.RaiseAttention(ctx, models.AttentionEntry{
		ParticipantID: t.participantID(), Kind: wire.AttentionMinor, Ref: t.context.Turn.ID, RaisedAt: t.now.UTC(),
	})
	return err
}

// changesOf makes changes of facts of what a model answered, with the vectors of
// their texts where a model gives them.
func (a *Agent) changesOf(ctx context.Context, tr *trace, t turn, operations []recall.Operation) []models.FactChange {
	var changes []models.FactChange
	var texts []string
	for _, op := range operations {
		changes = append(changes, models.FactChange{Fact: models.Fact{
			ID: op.ID, ParticipantID: t.participantID(), Kind: op.Kind, Text: op.Text, SourceID: lastTextID(t.context), TurnID: t.context.Turn.ID,
			CreatedAt: t.now.UTC(), UpdatedAt: t.now.UTC(),
		}})
		texts = append(texts, op.Text)
	}
	if len(texts) == 0 {
		return nil
	}
	vectors, err := a.embedTexts(ctx, tr, texts)
	if err != nil {
		tr.noteError(models.StageEmbed, err)
		return changes
	}
	for i := range changes {
		changes[i].Vector = vectors[i]
	}
	return changes
}

// changeableFacts returns the facts that a text may change, for a model to
// choose from: those nearest to it, then who the person is, what they want and
// cannot do, then the newest of the rest. It is never nil.
func (a *Agent) changeableFacts(ctx context.Context, tr *trace, participantID, said string, facts []models.Fact) []models.Fact {
	if len(facts) <= changeable {
		return append([]models.Fact{}, facts...)
	}
	query := models.FactQuery{ParticipantID: participantID, Words: recall.Words(said), Limit: nearFacts}
	if vectors, err := a.embedTexts(ctx, tr, []string{said}); err == nil {
		query.Vector = vectors[0]
	}
	found, err := a.Memory.Find(ctx, query)
	if err != nil {
		tr.noteError(models.StageRecall, err)
	}
	shown := make([]models.Fact, 0, changeable)
	add := func(fact models.Fact) {
		same := func(other models.Fact) bool { return other.ID == fact.ID }
		if len(shown) < changeable && !slices.ContainsFunc(shown, same) {
			shown = append(shown, fact)
		}
	}
	for _, hit := range found {
		add(hit.Fact)
	}
	for _, fact := range facts {
		if fact.Kind == models.FactIdentity || fact.Kind == models.FactGoal || fact.Kind == models.FactConstraint {
			add(fact)
		}
	}
	for _, fact := range facts {
		add(fact)
	}
	return shown
}
