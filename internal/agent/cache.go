package agent

import (
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"

	"coachline/internal/agent/plan"
	"coachline/internal/agent/recall"
	"coachline/models"
)

// conversations is the size of each cache, in entries. They are bounded
// by use, not by age; a worker that has none of an entry computes it again.
const conversations = 128

// caches hold what would be computed again from the same input. They are
// outside workflow state, and no answer depends on whether an entry is there.
type caches struct {
	// people: what is known of a person at one version of it.
	people *lru.Cache[string, cachedMemory]
	// extracts, selections and focuses are dropped with their conversation.
	extracts   *lru.Cache[string, recall.Extract]
	selections *lru.Cache[string, plan.Selection]
	focuses    *lru.Cache[string, string]
}

// cachedMemory is the memory of a person and the versions it was read at.
type cachedMemory struct {
	stamp  stamp
	memory models.Memory
}

// stamp holds the versions of a person's profile and memory.
type stamp struct {
	profile int64
	memory  int64
}

func newCaches() caches {
	return caches{
		people:     newLRU[string, cachedMemory](conversations),
		extracts:   newLRU[string, recall.Extract](conversations),
		selections: newLRU[string, plan.Selection](conversations),
		focuses:    newLRU[string, string](conversations),
	}
}

// newLRU fails for no positive size.
func newLRU[K comparable, V any](size int) *lru.Cache[K, V] {
	cache, err := lru.New[K, V](size)
	if err != nil {
		panic(err)
	}
	return cache
}

// dropConversation removes what is cached of a participant's conversation,
// which has ended.
func (c *caches) dropConversation(participantID string) {
	dropEntries(c.extracts, participantID)
	dropEntries(c.selections, participantID)
	dropEntries(c.focuses, participantID)
}

func dropEntries[V any](cache *lru.Cache[string, V], participantID string) {
	for _, key := range cache.Keys() {
		if strings.HasPrefix(key, participantID+"/") {
			cache.Remove(key)
		}
	}
}
