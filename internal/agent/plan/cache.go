package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"coachline/models"
	"coachline/models/wire"
)

// CacheKey is everything that a selection depends on. Query is redacted.
type CacheKey struct {
	Query    string
	Strategy Strategy
	Tools    []string
	Mode     wire.Mode
	Channel  wire.Channel
	Focus    string
	Locale   string
}

// Hash returns the key as hex digits, from which the text cannot be read. The
// order of the tools does not matter.
func (k CacheKey) Hash() string {
	k.Tools = slices.Sorted(slices.Values(k.Tools))
	// Quoted fields do not run together.
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", k))
	return hex.EncodeToString(sum[:])
}

// Cacheable reports whether a selection may be reused for the same key: not
// when it is the whole catalogue, which means that nothing was decided, and not
// when the strategy asked for had failed. Only a Selection is ever cached,
// never what AllowTools makes of it.
func (s Selection) Cacheable(tools []models.ToolSpec) bool {
	if s.Fallback {
		return false
	}
	for _, tool := range tools {
		if !hasItem(s.Names, tool.Name) {
			return true
		}
	}
	return false
}
