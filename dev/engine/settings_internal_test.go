package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/server/common/dynamicconfig"
)

// TestAttributesAreCachedAfterStart: while the server starts, each use of a search
// attribute reads the list of attributes anew; afterwards none does.
func TestAttributesAreCachedAfterStart(t *testing.T) {
	refresh := func(settings *dynamicconfig.MemoryClient) any {
		values := settings.GetValue(dynamicconfig.ForceSearchAttributesCacheRefreshOnRead.Key())
		require.Len(t, values, 1)
		return values[0].Value
	}
	require.Equal(t, true, refresh(newSettings()))
	e, err := Start(t.Context(), Config{UIPort: NoUI})
	require.NoError(t, err)
	t.Cleanup(e.Stop)
	require.Equal(t, false, refresh(e.settings))
}
