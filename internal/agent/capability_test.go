package agent_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

// serverFunc is a model server that is asked.
type serverFunc func() (models.ModelFacts, error)

func (f serverFunc) Describe(context.Context, string) (models.ModelFacts, error) { return f() }

// TestCapabilityHoldsNobody: while a slow server is asked again, other turns go on with
// what was known.
func TestCapabilityHoldsNobody(t *testing.T) {
	w := newWorld(t).useSmallModel()
	w.openAgent()
	asked := 0
	w.pipe.Server = serverFunc(func() (models.ModelFacts, error) {
		if asked++; asked > 1 {
			require.Equal(t, 4096, w.pipe.Capability(t.Context()).ContextTokens)
		}
		return models.ModelFacts{ContextTokens: 4096 * asked}, nil
	})
	require.Equal(t, 4096, w.pipe.Capability(t.Context()).ContextTokens)
	w.now = w.now.Add(time.Hour)
	require.Equal(t, 8192, w.pipe.Capability(t.Context()).ContextTokens)
	require.Equal(t, 2, asked)
}
