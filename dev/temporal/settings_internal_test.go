package temporal

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
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

// TestRunsAtRestAreLetGo: the server's own default keeps every run at hand that
// it has worked on, for an hour and longer.
func TestRunsAtRestAreLetGo(t *testing.T) {
	values := dynamicconfig.NewCollection(newSettings(), log.NewNoopLogger())
	require.Equal(t, time.Minute, dynamicconfig.HistoryCacheTTL.Get(values)())
	evict := dynamicconfig.HistoryCacheBackgroundEvict.Get(values)()
	require.True(t, evict.Enabled)
	require.LessOrEqual(t, evict.LoopInterval, time.Minute)
	require.Positive(t, evict.MaxEntryPerCall)
	require.Less(t, dynamicconfig.XDCCacheMaxSizeBytes.Get(values)(), 1<<20)
}
