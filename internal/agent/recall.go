package agent

import (
	"context"
	"fmt"
	"slices"
	"time"

	"coachline/internal/agent/marks"
	"coachline/internal/agent/plan"
	"coachline/internal/agent/recall"
	"coachline/models"
)

const (
	// topFacts come with every turn, without a model.
	topFacts = 3
	// fullNotes is from how many notes on there may be older ones to search.
	fullNotes = 3
	// deepFacts bound what a deep search adds.
	deepFacts = 6
	// extractTries is how often the extractor is asked.
	extractTries = 2
)

// search is one search of a person's memory.
type search struct {
	agent  *Agent
	trace  *trace
	turn   turn
	query  string
	plan   plan.Plan
	vector []float32
	found  []models.FoundFact
}

// composeMemory returns the block of what is known of the person: profile facts
// and notes on every turn, the facts nearest to the text, and what a deep
// search finds where it is worth one. Without a text nothing is searched for. A
// part that fails is left out.
func (a *Agent) composeMemory(ctx context.Context, tr *trace, t turn, drawn plan.Plan) string {
	known, err := a.memoryOf(ctx, t.context)
	if err != nil {
		tr.noteError(models.StageRecall, err)
		return ""
	}
	if len(known.Facts) == 0 && len(known.Notes) == 0 && known.Summary.Text == "" {
		return ""
	}
	warm := recall.NewWarm(recall.WarmInput{ParticipantID: t.participantID(), Facts: known.Facts, Zone: t.zone})
	s := search{agent: a, trace: tr, turn: t, query: t.queryText(), plan: drawn}
	var lines []string
	if s.query != "" && (len(known.Facts) > len(warm.IDs) || len(known.Notes) >= fullNotes) {
		s.findNearest(ctx)
		s.searchDeep(ctx)
		facts := recall.Merge(s.found, recall.Bounds{
			ParticipantID: t.participantID(), Shown: warm.IDs, Most: topFacts + a.Settings.Limits.Facts,
		})
		lines = recall.Lines(facts, t.zone)
	}
	tr.note(models.StageRecall, fmt.Sprintf("recall %d of %d facts", len(warm.IDs)+len(lines), len(known.Facts)))
	diary := []string{recall.NotesText(known.Notes, t.participantID(), t.now.In(t.zone).Format(time.DateOnly))}
	if known.Summary.Text != "" {
		diary = append(diary, "Earlier in this conversation: "+known.Summary.Text)
	}
	found := append([]string{joinLines(lines)}, diary...)
	if s.query != "" && drawn.Kind != plan.KindReplyOnly && makesDigests(a.Settings.Digests, a.Capability(ctx)) {
		found = []string{a.digestMemory(ctx, tr, s.query, append(lines, diary...))}
	}
	block, err := recall.Framed(a.Prompts, append([]string{warm.User, warm.Directives}, found...)...)
	if err != nil {
		tr.noteError(models.StageRecall, err)
		return ""
	}
	return marks.Neutralise(block)
}

// memoryOf reads what is known of a person, or takes it from the cache while
// neither memory nor profile has changed. Without a memory nothing is read.
func (a *Agent) memoryOf(ctx context.Context, c models.TurnContext) (models.Memory, error) {
	now := stamp{profile: c.Profile.Version, memory: c.Participant.MemoryVersion}
	if now.memory == 0 {
		return models.Memory{}, nil
	}
	if kept, ok := a.caches.people.Get(c.Participant.ID); ok && kept.stamp == now {
		return kept.memory, nil
	}
	memory, err := a.Memory.Recall(ctx, c.Participant.ID)
	if err != nil {
		return models.Memory{}, fmt.Errorf("recalling: %w", err)
	}
	a.caches.people.Add(c.Participant.ID, cachedMemory{stamp: now, memory: memory})
	return memory, nil
}

// searchTerms returns the parameters of a search of memory.
func (s *search) searchTerms() recall.Search {
	return recall.Search{ParticipantID: s.turn.participantID(), Query: s.query, Vector: s.vector}
}

// findFacts runs one query; a failure is noted and finds no facts.
func (s *search) findFacts(ctx context.Context, q models.FactQuery) []models.FoundFact {
	hits, err := s.agent.Memory.Find(ctx, q)
	if err != nil {
		s.trace.noteError(models.StageRecall, err)
	}
	return hits
}

// findNearest adds the facts nearest to the text. Small talk is not worth a
// vector.
func (s *search) findNearest(ctx context.Context) {
	if s.plan.Kind != plan.KindReplyOnly {
		vectors, err := s.agent.embedTexts(ctx, s.trace, []string{s.query})
		if err != nil {
			s.trace.noteError(models.StageEmbed, err)
		} else {
			s.vector = vectors[0]
		}
	}
	s.found = append(s.found, s.findFacts(ctx, recall.Top(s.searchTerms()))...)
}

// searchDeep asks what to search for and searches for it, unless the recall check holds
// that the conversation has it already.
func (s *search) searchDeep(ctx context.Context) {
	sure := slices.ContainsFunc(s.found, func(hit models.FoundFact) bool { return !hit.ByField })
	verdict := recall.Decide(recall.Question{Query: s.query, Window: s.turn.hotMessages(s.agent.Settings.Hot), Ruling: s.planRuling(), Found: sure})
	s.trace.note(models.StageRecallCheck, verdict.Code())
	if !verdict.Recall {
		return
	}
	found := s.askForExtract(ctx)
	q := recall.Deep(s.searchTerms(), found)
	q.Limit = s.agent.Settings.Limits.Facts
	s.found = append(s.found, s.findFacts(ctx, q)...)
	if answers, ok := recall.Answers(s.searchTerms(), found); ok {
		s.found = append(s.found, recall.Lasting(s.findFacts(ctx, answers))...)
	}
}

// planRuling returns what the plan says about a search of memory.
func (s *search) planRuling() recall.Ruling {
	wanted, decided := s.plan.NeedsRecall()
	switch {
	case !decided:
		return recall.RulingOpen
	case wanted:
		return recall.RulingWanted
	}
	return recall.RulingUnwanted
}

// hotMessages returns the part of the window that belongs to the current
// conversation.
func (t turn) hotMessages(span time.Duration) []models.Message {
	since := t.now.Add(-span)
	first := slices.IndexFunc(t.context.Window, func(m models.Message) bool { return !m.At.Before(since) })
	if first < 0 {
		return nil
	}
	return t.context.Window[first:]
}

// askForExtract asks a small model what to search for. It returns an empty
// extract when no answer can be read.
func (s *search) askForExtract(ctx context.Context) recall.Extract {
	p := s.agent
	ask := recall.Ask{
		Query: s.query, Topic: s.plan.Topic, Dialogue: plan.Dialogue(s.turn.messagesBefore()),
		Context: s.turn.momentLine(), Model: p.Settings.SmallModel,
	}
	key := s.turn.participantID() + "/" + ask.Key()
	if kept, ok := p.caches.extracts.Get(key); ok {
		return kept
	}
	for range extractTries {
		request, err := recall.ExtractRequest(p.Prompts, ask)
		if err != nil {
			s.trace.noteError(models.StageExtract, err)
			return recall.Extract{}
		}
		answer, err := p.askSmallModel(ctx, s.trace, question{stage: models.StageExtract, request: request, limit: smallLimit})
		if err != nil {
			return recall.Extract{}
		}
		if found, ok := recall.ParseExtract(answer, ask); ok {
			p.caches.extracts.Add(key, found)
			return found
		}
		ask.Context += " Answer with the JSON object only."
	}
	return recall.Extract{}
}

// digestMemory shortens what was found, the notes and the summary for a small model.
func (a *Agent) digestMemory(ctx context.Context, tr *trace, query string, lines []string) string {
	drawn := recall.PlanMemory(lines)
	answers := make([]recall.DigestAnswer, len(drawn.Batches))
	for i, batch := range drawn.Batches {
		request, err := recall.MemoryDigestRequest(a.Prompts, recall.DigestInput{Query: query, Batch: batch, Model: a.Settings.SmallModel})
		if err == nil {
			answers[i].Text, err = a.askSmallModel(ctx, tr, question{stage: models.StageDigest, request: request, limit: smallLimit})
		}
		answers[i].Failed = err != nil
	}
	out := drawn.Memory(answers)
	tr.note(models.StageDigest, out.Decision)
	return out.Text
}
