package config_test

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
			rules, err := config.Coaching{DefaultRegion: tt.region, QuietHours: "21:00-08:00"}.Rules()
			require.NoError(t, err)
			var names []string
			for _, zone := range rules.Band {
				names = append(names, zone.String())
			}
			require.Equal(t, tt.want, names)
		})
	}
}
