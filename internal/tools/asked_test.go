package tools

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func TestAskForPerson(t *testing.T) {
	out := run(t, models.ToolAskForPerson, `{"reason":" wants to talk about leaving "}`, models.Profile{})
	require.True(t, out.NeedsPerson)
	require.JSONEq(t, `{"ok":true,"reason":"wants to talk about leaving","note":"The team sees it. Say that they have been told and may not answer at once; promise no time and no call."}`, out.Result.Content)
	require.False(t, run(t, models.ToolAskForPerson, `{"reason":" "}`, models.Profile{}).NeedsPerson, "a reason is needed")
	specs := newRegistry(t).Controls(0)
	require.Equal(t, models.ToolAskForPerson, specs[1].Name, "offered whatever the router picks")
}

func TestPausePrompts(t *testing.T) {
	honolulu, err := time.LoadLocation("Pacific/Honolulu")
	require.NoError(t, err)
	late := time.Date(2026, 11, 24, 5, 0, 0, 0, time.UTC) // the evening of the 23rd there
	for _, tt := range []struct {
		name, until string
		want        time.Time
		says        string
		failed      bool
	}{
		{"a day", "2026-12-05", time.Date(2026, 12, 5, 10, 0, 0, 0, time.UTC), `"until":"Sat 2026-12-05"`, false},
		{"tomorrow there", "2026-11-24", time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC), `"until":"Tue 2026-11-24"`, false},
		{"today there ends it", "2026-11-23", time.Time{}, "No pause holds now", false},
		{"the day before", "2026-11-22", time.Time{}, "has passed; today is Mon 2026-11-23", true},
		{"too long", "2027-03-01", time.Time{}, "more than 92 days ahead", true},
		{"no day", "2026-02-31", time.Time{}, "no day of the calendar", true},
		{"words", "next Friday", time.Time{}, "until", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := newRegistry(t).Run(t.Context(), RunInput{
				Call: models.ToolCall{ID: "c1", Name: "pause_prompts", Arguments: `{"until":"` + tt.until + `"}`}, Now: late, Zone: honolulu,
			})
			require.NoError(t, err)
			require.Equal(t, tt.failed, out.Result.Failed)
			require.Contains(t, out.Result.Content, tt.says)
			require.Equal(t, tt.failed, out.PauseUntil == nil)
			if !tt.failed {
				require.True(t, tt.want.Equal(*out.PauseUntil), out.PauseUntil)
			}
		})
	}
}
