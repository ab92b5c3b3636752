package screening_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"coachline/models"
)

// TestKeywordsInDisguise: STOP counts in letters of other scripts that look alike, turned
// around by a mark, in markup and as its sign alone.
func TestKeywordsInDisguise(t *testing.T) {
	for _, body := range []string{
		"ЅТОР", "ѕтор", "SΤΟΡ", "StΟp", "\u202ePOTS", "\u202ePOTS\u202c", "<b>STOP</b>", "**STOP**", "[STOP]", "_stop_", "`STOP`", "<p>stop</p>", "~~STOP~~",
		"\U0001f6d1", "\U0001f6d1\U0001f6d1", " \U0001f6d1\ufe0f ",
	} {
		intent, _ := screenConsent(body, "")
		assert.Equal(t, models.IntentStop, intent, "%q", body)
	}
	for body, want := range map[string]models.Intent{
		"<b>START</b>": models.IntentStart, "<i>HELP</i>": models.IntentHelp, "ѕтаrt": models.IntentStart, "\u202ePLEH": models.IntentHelp,
	} {
		intent, _ := screenConsent(body, "")
		assert.Equal(t, want, intent, "%q", body)
	}
}

// TestStopAroundALongText: STOP before or behind 1,500 characters is asked about at least.
func TestStopAroundALongText(t *testing.T) {
	long := strings.Repeat("I walked to the lake and back again today. ", 35)
	for _, body := range []string{"STOP " + long, long + "STOP", "STOP.\n" + long, long + "\nstop", "Stop\n\n" + long, "UNSUBSCRIBE\n" + long} {
		intent, _ := screenConsent(body, "")
		assert.Contains(t, []models.Intent{models.IntentStop, models.IntentUnclear}, intent, "%.30q", body)
	}
	intent, _ := screenConsent(long, "")
	assert.Equal(t, models.IntentNone, intent)
}
