package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coachline/internal/agent/plan"
	"coachline/internal/agent/recall"
	"coachline/internal/segments"
	"coachline/internal/study"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
)

// FactStore keeps facts that people said about themselves.
type FactStore interface {
	Facts(ctx context.Context, participantID string) ([]models.Fact, error)
	Find(ctx context.Context, q models.FactQuery) ([]models.FoundFact, error)
	Forget(ctx context.Context, f models.Forgetting) error
	ForgetAll(ctx context.Context, f models.Forgetting) (int, error)
}

// Embedder turns texts into vectors of one length, one for each.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

const (
	// searchHits are how many facts a search of the model's brings up.
	searchHits = 6
	// vectorLimit bounds the vector of a search; without it keywords decide.
	vectorLimit = 5 * time.Second
	// byParticipant is who had something forgotten.
	byParticipant = "participant"
)

// memories are the facts of one person, for the tools: a tool names no
// participant, so it cannot reach another one's.
type memories struct {
	tools         *ToolActivities
	participantID string
	zone          *time.Location
}

// SearchMemory implements tools.Recaller.
func (m memories) SearchMemory(ctx context.Context, query string) ([]string, error) {
	q := models.FactQuery{ParticipantID: m.participantID, Words: recall.Words(query), Limit: searchHits, Diary: true, Messages: true}
	embedCtx, cancel := context.WithTimeout(ctx, vectorLimit)
	defer cancel()
	// A model that gives no vectors leaves the search by keywords.
	if vectors, err := m.tools.Embedder.Embed(embedCtx, []string{query}); err == nil && len(vectors) == 1 {
		q.Vector = vectors[0]
	}
	found, err := m.tools.Facts.Find(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("searching memory: %w", err)
	}
	facts := recall.Merge(found, recall.Bounds{ParticipantID: m.participantID})
	return recall.Lines(facts, m.zone), nil
}

// ListMemories implements tools.Lister.
func (m memories) ListMemories(ctx context.Context, topic string) (tools.Memories, error) {
	facts, err := m.tools.Facts.Facts(ctx, m.participantID)
	if err != nil {
		return tools.Memories{}, fmt.Errorf("listing memories: %w", err)
	}
	out := tools.Memories{}
	if topic != "" {
		facts, out.Sure = recall.About(facts, topic)
	}
	for _, fact := range facts {
		out.IDs = append(out.IDs, fact.ID)
	}
	out.Lines = recall.Lines(facts, m.zone)
	out.Text = recall.List(facts, m.zone, func(text string) bool {
		return segments.Split(segments.Smart(text), segments.Options{}).LeftOut == 0
	}).Text
	return out, nil
}

// ForgetMemories implements tools.Forgetter.
func (m memories) ForgetMemories(ctx context.Context, ids []string) ([]string, error) {
	var gone []string
	for _, id := range ids {
		err := m.tools.Facts.Forget(ctx, m.newForgetting(id))
		if errors.Is(err, models.ErrNotFound) {
			continue
		}
		if err != nil {
			return gone, fmt.Errorf("forgetting: %w", err)
		}
		gone = append(gone, id)
	}
	return gone, nil
}

// ForgetAll implements tools.Forgetter.
func (m memories) ForgetAll(ctx context.Context) (int, error) {
	return m.tools.Facts.ForgetAll(ctx, m.newForgetting(""))
}

func (m memories) newForgetting(id string) models.Forgetting {
	return models.Forgetting{ParticipantID: m.participantID, FactID: id, Actor: byParticipant, At: m.tools.Now().UTC()}
}

// finder looks through the tools of a mode.
type finder struct {
	tools    *ToolActivities
	mode     wire.Mode
	settings study.Settings
}

// FindTools implements tools.Finder.
func (f finder) FindTools(query string) string {
	return plan.SearchTools(query, f.settings.Offer(f.tools.Tools.For(f.mode)))
}
