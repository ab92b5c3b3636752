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
	// topFacts come with every turn, without a model (C6, O11).
	topFacts = 3
	// deepFacts bound what a deep search adds (J44).
	deepFacts = 6
	// extractTries is how often the extractor is asked (J42).
	extractTries = 2
)

// search is one look into a person's memory.
type search struct {
	agent  *Agent
	trace  *trace
	turn   turn
	query  string
	plan   plan.Plan
	vector []float32
	found  []models.FoundFact
}

// remembered is the block of what is known of the person: profile facts and
// notes on every turn (J53), the facts nearest to the text, and what a deep
// search brings up where it is worth one (stage 8, C6). Without a text nothing
// is searched for. Whatever fails is left out.
func (a *Agent) remembered(ctx context.Context, tr *trace, t turn, drawn plan.Plan) string {
	known, err := a.memoryOf(ctx, t.context)
	if err != nil {
		tr.errored(models.StageRecall, err)
		return ""
	}
	if len(known.Facts) == 0 && len(known.Notes) == 0 && known.Summary.Text == "" {
		return ""
	}
	warm := recall.NewWarm(recall.WarmInput{ParticipantID: t.id(), Facts: known.Facts, Zone: t.zone})
	s := search{agent: a, trace: tr, turn: t, query: t.query(), plan: drawn}
	var lines []string
	if s.query != "" && len(known.Facts) > len(warm.IDs) {
		s.nearest(ctx)
		s.deep(ctx)
		facts := recall.Merge(s.found, recall.Bounds{
			ParticipantID: t.id(), MinScore: recall.MinScore, Shown: warm.IDs, Most: topFacts + deepFacts,
		})
		lines = recall.Lines(facts, t.zone)
	}
	tr.note(models.StageRecall, fmt.Sprintf("recall %d of %d facts", len(warm.IDs)+len(lines), len(known.Facts)))
	found := joined(lines)
	if drawn.Kind != plan.KindReplyOnly {
		found = a.digested(ctx, tr, s.query, lines)
	}
	parts := []string{warm.User, warm.Directives, found}
	parts = append(parts, recall.NotesText(known.Notes, t.id(), t.now.In(t.zone).Format(time.DateOnly)))
	if known.Summary.Text != "" {
		parts = append(parts, "Earlier in this conversation: "+known.Summary.Text)
	}
	block, err := recall.Framed(a.Prompts, parts...)
	if err != nil {
		tr.errored(models.StageRecall, err)
		return ""
	}
	return marks.Neutralise(block)
}

// memoryOf reads what is known of a person, or takes it from the cache while
// neither memory nor profile has changed. Nobody's memory is read who has none.
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
	a.caches.people.Add(c.Participant.ID, known{stamp: now, memory: memory})
	return memory, nil
}

func (s *search) terms() recall.Search {
	return recall.Search{ParticipantID: s.turn.id(), Query: s.query, Vector: s.vector, MinScore: recall.MinScore}
}

func (s *search) look(ctx context.Context, q models.FactQuery) []models.FoundFact {
	hits, err := s.agent.Memory.Find(ctx, q)
	if err != nil {
		s.trace.errored(models.StageRecall, err)
	}
	return hits
}

// nearest finds the facts nearest to the text. Small talk is not worth a
// vector.
func (s *search) nearest(ctx context.Context) {
	if s.plan.Kind != plan.KindReplyOnly {
		vectors, err := s.agent.embed(ctx, []string{s.query})
		if err != nil {
			s.trace.errored(models.StageEmbed, err)
		} else {
			s.vector = vectors[0]
		}
	}
	s.found = append(s.found, s.look(ctx, recall.Top(s.terms()))...)
}

// deep asks what to look up, and looks it up, unless the gate holds that the
// conversation has it already.
func (s *search) deep(ctx context.Context) {
	verdict := recall.Gate(recall.Question{Query: s.query, Window: s.turn.hot(s.agent.Settings.Hot), Ruling: s.ruling()})
	s.trace.note(models.StageGate, verdict.Decision())
	if !verdict.Recall {
		return
	}
	found := s.extract(ctx)
	q := recall.Deep(s.terms(), found)
	q.Limit = deepFacts
	s.found = append(s.found, s.look(ctx, q)...)
	if answers, ok := recall.Answers(s.terms(), found); ok {
		s.found = append(s.found, recall.Lasting(s.look(ctx, answers))...)
	}
}

func (s *search) ruling() recall.Ruling {
	wanted, decided := s.plan.NeedsRecall()
	switch {
	case !decided:
		return recall.RulingOpen
	case wanted:
		return recall.RulingWanted
	}
	return recall.RulingUnwanted
}

// hot is the part of the window that belongs to the conversation of now (D1).
func (t turn) hot(span time.Duration) []models.Message {
	since := t.now.Add(-span)
	first := slices.IndexFunc(t.context.Window, func(m models.Message) bool { return !m.At.Before(since) })
	if first < 0 {
		return nil
	}
	return t.context.Window[first:]
}

// extract asks a small model what to look up; empty when it does not say.
func (s *search) extract(ctx context.Context) recall.Extract {
	p := s.agent
	ask := recall.Ask{
		Query: s.query, Topic: s.plan.Topic, Dialogue: plan.Dialogue(s.turn.before()),
		Context: s.turn.moment(), Model: p.Settings.SmallModel,
	}
	key := s.turn.id() + "/" + ask.Key()
	if kept, ok := p.caches.extracts.Get(key); ok {
		return kept
	}
	for range extractTries {
		request, err := recall.ExtractRequest(p.Prompts, ask)
		if err != nil {
			s.trace.errored(models.StageExtract, err)
			return recall.Extract{}
		}
		answer, err := p.ask(ctx, s.trace, question{stage: models.StageExtract, request: request, limit: smallLimit})
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

// digested shortens what was found for a small model (J97).
func (a *Agent) digested(ctx context.Context, tr *trace, query string, lines []string) string {
	if !recall.IsDigestEnabled(a.Settings.Digests, a.capabilityOf(ctx).Size) {
		return joined(lines)
	}
	drawn := recall.PlanMemory(lines)
	answers := make([]recall.DigestAnswer, len(drawn.Batches))
	for i, batch := range drawn.Batches {
		request, err := recall.MemoryDigestRequest(a.Prompts, recall.DigestInput{Query: query, Batch: batch, Model: a.Settings.SmallModel})
		if err == nil {
			answers[i].Text, err = a.ask(ctx, tr, question{stage: models.StageDigest, request: request, limit: smallLimit})
		}
		answers[i].Failed = err != nil
	}
	out := drawn.Memory(answers)
	tr.note(models.StageDigest, out.Decision)
	return out.Text
}
