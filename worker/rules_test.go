package worker

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRememberedZones(t *testing.T) {
	zones := rememberedZones()
	first, err := zones("Europe/Berlin")
	require.NoError(t, err)
	again, err := zones("Europe/Berlin")
	require.NoError(t, err)
	require.Equal(t, "Europe/Berlin", first.String())
	require.Same(t, first, again)
	for range 2 {
		_, err = zones("Europe/Nowhere")
		require.Error(t, err)
	}
}
