package coach

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNeedsNotice(t *testing.T) {
	const hour, day = time.Hour, 24 * time.Hour
	zone, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	now := time.Date(2026, 6, 10, 18, 0, 0, 0, zone)
	for name, tt := range map[string]struct {
		last, talk, heard time.Duration // before now
		daily, started    bool
		want              bool
	}{
		"never told, where the law asks":             {last: 900 * day, talk: 0, heard: day, daily: true, want: true},
		"never told, elsewhere":                      {last: 900 * day, talk: 0, heard: day},
		"told today":                                 {last: 10 * hour, talk: 0, heard: 9 * hour, daily: true},
		"told yesterday":                             {last: 19 * hour, talk: 0, heard: 19 * hour, daily: true, want: true},
		"told yesterday, elsewhere":                  {last: 19 * hour, talk: 0, heard: 19 * hour},
		"three hours of one conversation":            {last: 3 * hour, talk: 3 * hour, heard: hour / 2, daily: true, want: true},
		"three hours, told within them":              {last: 2 * hour, talk: 4 * hour, heard: hour / 2, daily: true},
		"long, but another conversation":             {last: 9 * hour, talk: 2 * hour, heard: 3 * hour, daily: true},
		"a prompt of the day":                        {last: 24 * hour, talk: 0, heard: day, daily: true, started: true, want: true},
		"a text after a week, anywhere":              {last: 30 * day, talk: 0, heard: 7 * day, want: true},
		"after a week, told in the same talk":        {last: hour / 2, talk: hour, heard: 8 * day},
		"a prompt in a week of silence, anywhere":    {last: 30 * day, talk: 0, heard: 8 * day, started: true, want: true},
		"the next prompt in the silence is not told": {last: day, talk: 0, heard: 9 * day, started: true},
		"after six days":                             {last: 30 * day, talk: 0, heard: 6 * day},
	} {
		require.Equal(t, tt.want, NeedsNotice(NoticeInput{
			Now: now, Last: now.Add(-tt.last), Talk: now.Add(-tt.talk), Heard: now.Add(-tt.heard), IsDaily: tt.daily, IsStarted: tt.started, Zone: zone,
		}), name)
	}
	for phone, want := range map[string]bool{"+12127350123": true, "+18017350123": true, "+12067350123": true, "+12105550123": false, "+4915112345678": false} {
		require.Equal(t, want, AsksNotice(phone), phone)
	}
}
