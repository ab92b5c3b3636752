package sizes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent/sizes"
)

func TestSizes(t *testing.T) {
	all, err := sizes.Measure(t.Context())
	require.NoError(t, err)
	t.Log(sizes.Names)
	for _, one := range all {
		t.Log(one)
		if one.IsPlain {
			require.LessOrEqual(t, one.Total, 3000, one.Name)
			// Of a small model's short request what is new is a larger part.
			require.GreaterOrEqual(t, one.SharedPercent(), map[bool]int{false: 80, true: 75}[one.Small], one.Name)
		}
		if one.Name == "hi" && one.Small {
			require.LessOrEqual(t, one.Total, 1500)
		}
	}
}

func TestCountCalls(t *testing.T) {
	all, err := sizes.CountCalls(t.Context())
	require.NoError(t, err)
	for _, one := range all {
		t.Logf("%s: %.2f calls", one.Name, one.PerTurn())
		require.LessOrEqual(t, one.PerTurn(), one.Limit, one.Name)
		require.GreaterOrEqual(t, one.Calls, one.Turns, one.Name)
	}
}
