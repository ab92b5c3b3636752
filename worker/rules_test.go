package worker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/coach"
	"coachline/internal/config"
)

// TestBandOfRegion: the region decides where quiet hours count for people
// whose zone is assumed.
func TestBandOfRegion(t *testing.T) {
	for _, tt := range []struct {
		name, region string
		want         []string
	}{
		{"US", "US", coach.RegionZones("US")},
		{"another", "GB", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rules, err := coachingRules(config.Coaching{DefaultRegion: tt.region, QuietHours: "21:00-08:00"})
			require.NoError(t, err)
			var names []string
			for _, zone := range rules.Band {
				names = append(names, zone.String())
			}
			require.Equal(t, tt.want, names)
		})
	}
}

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
