package throttle

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var start = time.Date(2026, 11, 24, 13, 0, 0, 0, time.UTC)

func TestTake(t *testing.T) {
	limits := New(2, time.Minute)
	require.Zero(t, limits.Wait("ada", start))
	for left := 1; left >= 0; left-- {
		got, wait := limits.Take("ada", start)
		require.Equal(t, left, got)
		require.Zero(t, wait)
	}
	_, wait := limits.Take("ada", start.Add(30*time.Second))
	require.Equal(t, 30*time.Second, wait)
	require.Equal(t, 30*time.Second, limits.Wait("ada", start.Add(30*time.Second)))
	_, wait = limits.Take("bob", start)
	require.Zero(t, wait, "each key by itself")
	_, wait = limits.Take("ada", start.Add(time.Minute))
	require.Zero(t, wait)
}

func TestQuietKeysAreForgotten(t *testing.T) {
	limits := New(2, time.Minute)
	for i := range maxKeys + 10 {
		limits.Take(strconv.Itoa(i), start.Add(time.Duration(i)*time.Hour))
	}
	require.LessOrEqual(t, len(limits.limiters), maxKeys)
	for i := range maxKeys + 10 { // none is quiet
		limits.Take("busy"+strconv.Itoa(i), start)
	}
	require.LessOrEqual(t, len(limits.limiters), maxKeys)
}
