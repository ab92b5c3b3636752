package lane_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/starter/lane"
)

func TestOneAtATimeForEachKey(t *testing.T) {
	lanes := lane.New()
	leave, err := lanes.Enter(t.Context(), "a")
	require.NoError(t, err)

	other, err := lanes.Enter(t.Context(), "b")
	require.NoError(t, err, "another key's lane is free")
	other()

	given, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = lanes.Enter(given, "a")
	require.ErrorIs(t, err, context.Canceled)

	entered := make(chan func())
	go func() {
		next, err := lanes.Enter(context.Background(), "a")
		if err == nil {
			entered <- next
		}
	}()
	select {
	case <-entered:
		t.Fatal("two in one lane")
	default:
	}
	leave()
	(<-entered)()
	again, err := lanes.Enter(t.Context(), "a")
	require.NoError(t, err)
	again()
}
