package fresh

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOneReadsAndTheOthersGoOn(t *testing.T) {
	var v Value[string]
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	read := func(value string) func() string { return func() string { return value } }
	require.Equal(t, "first", v.Read(noon, time.Minute, read("first")))
	require.Equal(t, "first", v.Read(noon.Add(59*time.Second), time.Minute, read("never")))

	later := noon.Add(2 * time.Minute)
	got := v.Read(later, time.Minute, func() string {
		require.Equal(t, "first", v.Read(later, time.Minute, read("never")), "another caller meanwhile")
		return "second"
	})
	require.Equal(t, "second", got)
}

func TestAChangeIsNewerThanWhatIsBeingRead(t *testing.T) {
	var v Value[int]
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	v.Read(noon, time.Minute, func() int { return 1 })
	later := noon.Add(time.Hour)
	got := v.Read(later, time.Minute, func() int {
		v.Change(later.Add(time.Second), func(n int) int { return n + 10 })
		return 2
	})
	require.Equal(t, 11, got)
}
