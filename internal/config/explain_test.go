package config

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryVariableIsExplained holds that the documentation's table has an
// explanation of each variable and of no other.
func TestEveryVariableIsExplained(t *testing.T) {
	var names []string
	for _, v := range variables() {
		names = append(names, v.name)
	}
	for _, one := range temporalVariables {
		names = append(names, one[0])
	}
	require.ElementsMatch(t, names, slices.Collect(maps.Keys(explanations)))
	for name, about := range explanations {
		require.NotEmpty(t, about.by, name)
		require.NotEmpty(t, about.meaning, name)
		require.NotContains(t, about.meaning, "|", "%s: it would end the cell of the table", name)
		require.NotContains(t, Explain(name), "`", name)
		require.NotContains(t, Explain(name), "](", name)
	}
	require.Equal(t, "JSON file of keys", Explain(keysFile))
	require.Empty(t, Explain("COACH_UNKNOWN"))
}
