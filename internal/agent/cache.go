package agent

import (
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"

	"coachline/internal/agent/plan"
	"coachline/internal/agent/recall"
	"coachline/models"
)

// conversations is the size of each cache, in entries (J20). They are bounded
// by use, not by age; a worker that has none of an entry computes it again.
const conversations = 128

// caches hold what would be computed again from the same input. They are
// outsideTools workflow state, and no answer depends on whether an entry is there.
type caches struct {
	// people: what is known of a person at one version of it (J21).
	people *lru.Cache[string, known]
	// extracts, selections and focuses are dropped with their conversation
	// (J22, J23).
	extracts   *lru.Cache[string, recall.Extract]
	selections *lru.Cache[string, plan.Selection]
	focuses    *lru.Cache[string, string]
}

// known is the memory of a person and the versions it was read at.
type known struct {
	stamp  stamp
	memory models.Memory
}

// stamp tells one state of what is known of a person from the next.
type stamp struct {
	profile int64
	memory  int64
}

func newCaches() caches {
	return caches{
		people:     newLRU[string, known](conversations),
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

// fresh drops what a conversation that has ended left behind (2.13).
func (c *caches) fresh(participantID string) {
	drop(c.extracts, participantID)
	drop(c.selections, participantID)
	drop(c.focuses, participantID)
}

func drop[V any](cache *lru.Cache[string, V], participantID string) {
	for _, key := range cache.Keys() {
		if strings.HasPrefix(key, participantID+"/") {
			cache.Remove(key)
		}
	}
}
