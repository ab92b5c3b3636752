package wait

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		require.NoError(t, For(t.Context(), time.Hour))
		require.Equal(t, time.Hour, time.Since(begun))
		require.NoError(t, For(t.Context(), 0))
		require.NoError(t, For(t.Context(), -time.Second))

		reason := errors.New("the server stops")
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { cancel(reason) }()
		require.ErrorIs(t, For(ctx, time.Hour), reason)
		require.ErrorIs(t, For(ctx, 0), reason)
		require.Equal(t, time.Hour, time.Since(begun))
	})
}
