package keylock_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/keylock"
)

func TestOneAtATimeForEachKey(t *testing.T) {
	locks := keylock.New()
	unlock, err := locks.Lock(t.Context(), "a")
	require.NoError(t, err)

	other, err := locks.Lock(t.Context(), "b")
	require.NoError(t, err, "another key's lane is free")
	other()

	given, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = locks.Lock(given, "a")
	require.ErrorIs(t, err, context.Canceled)

	entered := make(chan func())
	go func() {
		next, err := locks.Lock(context.Background(), "a")
		if err == nil {
			entered <- next
		}
	}()
	select {
	case <-entered:
		t.Fatal("two in one lane")
	default:
	}
	unlock()
	(<-entered)()
	again, err := locks.Lock(t.Context(), "a")
	require.NoError(t, err)
	again()
}
