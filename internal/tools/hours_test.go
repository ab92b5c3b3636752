package tools_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/coach"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
)

// TestNightHour: a daily text at night needs the hour in the person's own words, or their
// yes to a question that names it.
func TestNightHour(t *testing.T) {
	quiet, err := coach.ParseQuietHours("21:00-08:00")
	require.NoError(t, err)
	user := func(text string) models.Message { return models.Message{Role: models.RoleUser, Text: text} }
	coachSays := func(text string) models.Message { return models.Message{Role: models.RoleAssistant, Text: text} }
	for _, tt := range []struct {
		name, at string
		window   []models.Message
		want     string
	}{
		{"nobody asked for it", "03:00", []models.Message{user("I like tea")}, "03:00"},
		{"by day", "08:00", []models.Message{user("I like tea")}, ""},
		{"named", "06:00", []models.Message{user("please at 6am")}, ""},
		{"named in words", "06:30", []models.Message{user("halb sieben oder um sechs")}, ""},
		{"named in the evening", "22:00", []models.Message{user("at ten in the evening")}, ""},
		{"named in the text before", "05:00", []models.Message{user("5 is good"), coachSays("Every day?"), user("every day")}, ""},
		{"named long ago", "05:00", []models.Message{user("5 is good"), user("my dog is ill"), coachSays("Oh."), user("he eats")}, "05:00"},
		{"agreed", "05:00", []models.Message{user("early"), coachSays("Shall I text you at 05:00?"), user("yes")}, ""},
		{"agreed with an OK", "22:30", []models.Message{user("my morning coffee"), coachSays("Shall I text you every day at 22:30?"), user("ok")}, ""},
		{"declined", "22:30", []models.Message{user("my morning coffee"), coachSays("Shall I text you every day at 22:30?"), user("no, not so late")}, "22:30"},
		{"agreed to something else", "05:00", []models.Message{user("early"), coachSays("Shall I forget the tea?"), user("yes")}, "05:00"},
		{"another hour", "03:00", []models.Message{user("at 7 am")}, "03:00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ask := wire.ScheduleAsk{Action: wire.ScheduleCreate, Type: wire.ScheduleFixed, At: tt.at}
			got := ""
			if tools.IsNightTime(ask, quiet) && !tools.HasChosenHour(ask.At, tt.window) {
				got = ask.At
			}
			require.Equal(t, tt.want, got)
		})
	}
}
