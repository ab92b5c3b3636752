package wrap_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/wrap"
)

func TestError(t *testing.T) {
	require.NoError(t, wrap.Error(nil, "reading"))
	require.NoError(t, wrap.Errorf(nil, "reading %d", 1))
	require.ErrorIs(t, wrap.Error(io.EOF, "reading"), io.EOF)
	require.EqualError(t, wrap.Errorf(io.EOF, "reading %q", "100%"), `reading "100%": EOF`)
}
