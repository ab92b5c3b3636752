package zones

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLoad(t *testing.T) {
	first, err := Load("Europe/Berlin")
	require.NoError(t, err)
	again, err := Load("Europe/Berlin")
	require.NoError(t, err)
	require.Equal(t, "Europe/Berlin", first.String())
	require.Same(t, first, again)
	for range 2 {
		_, err = Load("Europe/Nowhere")
		require.Error(t, err)
	}
}
