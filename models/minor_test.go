package models

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestIsMinor(t *testing.T) {
	at := time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)
	for year, want := range map[string]bool{"2009": true, "2008": false, "1980": false, "2010-05-01": true, "May 2012": true, "": false, "unknown": false, "08": false} {
		require.Equal(t, want, IsMinor(year, at), year)
	}
}
