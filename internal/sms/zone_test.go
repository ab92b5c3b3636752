package sms

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSuggestZone(t *testing.T) {
	for phone, want := range map[string]string{
		"+12125550101": "America/New_York", "+14155550101": "America/Los_Angeles", "+4930901820": "Europe/Berlin", "+819012345678": "Asia/Tokyo",
		"+18005550101": "", "+883510000000": "", "nonsense": "", // of several zones, of none, and no number
	} {
		zone, found := SuggestZone(phone)
		require.Equal(t, want, zone, phone)
		require.Equal(t, want != "", found, phone)
	}
}
