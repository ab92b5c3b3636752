package starter

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/memory"
	"coachline/internal/store"
	"coachline/internal/study"
	"coachline/models"
)

// maxNotes is how many daily notes are shown: those of a year.
const maxNotes = 366

// memoryRoutes answers what is remembered of a person.
type memoryRoutes struct {
	base
	memory   *memory.Store
	people   *store.People
	resolver *study.Resolver
	// promptsDir is the folder of the installation's own texts; empty for none.
	promptsDir string
}

func (h *memoryRoutes) register(router huma.API) {
	missing := []int{http.StatusNotFound}
	register(router, route{method: http.MethodGet, path: participantPath + "/memories", id: "get-memories", needs: auth.MemoryRead, reads: readMemory,
		summary: "What is remembered of the person", errors: missing}, h.getMemories)
	register(router, route{method: http.MethodDelete, path: participantPath + "/memories", id: "forget-memories", needs: auth.MemoryChange,
		summary: "Erase everything that is remembered; after removal too", errors: missing}, h.forgetMemories)
	register(router, route{method: http.MethodDelete, path: participantPath + "/memories/{fact}", id: "forget-memory", needs: auth.MemoryChange,
		summary: "Erase a fact in all its versions; after removal too", errors: missing}, h.forgetMemory)
	h.registerExport(router)
}

// getMemories shows what is remembered of a person: facts with what they said
// before, the notes of a year, the summary.
func (h *memoryRoutes) getMemories(ctx context.Context, in *personRequest) (*answer[api.Memory], error) {
	known, histories, err := h.readMemory(ctx, in.ID, maxNotes)
	return newAnswer("", toMemory(known, histories)), h.toFailure("get-memories", err)
}

// readMemory reads all facts with their versions, at most so many notes, and the
// summary.
func (h *memoryRoutes) readMemory(ctx context.Context, id string, notes int) (models.Memory, map[string][]models.FactVersion, error) {
	known, err := h.memory.Recall(ctx, id)
	if err != nil {
		return models.Memory{}, nil, fmt.Errorf("reading memories: %w", err)
	}
	if known.Notes, err = h.memory.Notes(ctx, id, notes); err != nil {
		return models.Memory{}, nil, fmt.Errorf("reading notes: %w", err)
	}
	histories := map[string][]models.FactVersion{}
	for _, fact := range known.Facts {
		if fact.Version == 1 {
			continue
		}
		versions, err := h.memory.History(ctx, id, fact.ID)
		if err != nil && !errors.Is(err, models.ErrNotFound) { // forgotten a moment ago
			return models.Memory{}, nil, fmt.Errorf("reading the history of a fact: %w", err)
		}
		histories[fact.ID] = versions
	}
	return known, histories, nil
}

type factRequest struct {
	ID   string `path:"id" maxLength:"64"`
	Fact string `path:"fact" maxLength:"20" pattern:"^f[0-9]+$" doc:"Id of the fact, such as f3."`
}

// forgetMemory erases one fact in all its versions, for people who were removed
// too; audited. A repeat changes nothing.
func (h *memoryRoutes) forgetMemory(ctx context.Context, in *factRequest) (*answer[api.Forgotten], error) {
	err := h.memory.Forget(ctx, models.Forgetting{ParticipantID: in.ID, FactID: in.Fact, Actor: actorOf(ctx), At: h.now()})
	return newAnswer("", api.Forgotten{Facts: 1}), h.toFailure("forget-memory", asMissing("participant or fact", err))
}

// forgetMemories erases all facts, notes and the summary of a person, removed or
// not; audited. A repeat changes nothing.
func (h *memoryRoutes) forgetMemories(ctx context.Context, in *personRequest) (*answer[api.Forgotten], error) {
	facts, err := h.memory.ForgetAll(ctx, models.Forgetting{ParticipantID: in.ID, Actor: actorOf(ctx), At: h.now()})
	return newAnswer("", api.Forgotten{Facts: facts}), h.toFailure("forget-memories", err)
}

// toMemory leaves out notes and summaries that were erased.
func toMemory(known models.Memory, histories map[string][]models.FactVersion) api.Memory {
	out := api.Memory{Facts: []models.Fact{}, Notes: []models.Note{}}
	for _, fact := range known.Facts {
		out.Facts = append(out.Facts, toFact(fact, histories[fact.ID]))
	}
	for _, note := range known.Notes {
		if note.Text != "" {
			out.Notes = append(out.Notes, note)
		}
	}
	if known.Summary.Text != "" {
		out.Summary = api.Summary{Text: known.Summary.Text, At: toUTC(&known.Summary.UpdatedAt)}
	}
	return out
}

func toFact(fact models.Fact, versions []models.FactVersion) models.Fact {
	fact.Before = []models.FactVersion{}
	for _, old := range versions {
		if old.Version < fact.Version {
			fact.Before = append(fact.Before, old)
		}
	}
	return fact
}
