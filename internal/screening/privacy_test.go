package screening_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/internal/screening"
	"coachline/models"
)

// TestDataRequests reads a sheet by the author of the patterns: it shows what they are
// for, and is no estimate.
func TestDataRequests(t *testing.T) {
	sheet, err := os.ReadFile("testdata/requests/data.tsv")
	require.NoError(t, err)
	want := map[string]models.Intent{"data": models.IntentData, "erasure": models.IntentErasure, "none": models.IntentNone}
	texts := 0
	for line := range strings.Lines(string(sheet)) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		require.Len(t, cells, 3)
		texts++
		require.Contains(t, want, cells[1])
		assert.Equal(t, want[cells[1]], screening.DataRequest(cells[2]), cells[2])
		if cells[1] != "none" {
			assert.Equal(t, want[cells[1]], screening.Screen(screening.Message{Body: cells[2]}).Intent, cells[2])
		}
	}
	require.Greater(t, texts, 50)
}

// TestDataRequestsLeaveOrdinaryMessages counts ordinary messages of other authors.
func TestDataRequestsLeaveOrdinaryMessages(t *testing.T) {
	for _, language := range screening.Languages() {
		read, counted := readOrdinary(t, language)
		found := 0
		for _, text := range append(read, counted...) {
			if asked := screening.DataRequest(text); asked != models.IntentNone {
				found++
				t.Log(language, asked, text)
			}
		}
		require.LessOrEqual(t, found*1000, len(read)+len(counted), language)
	}
}

func TestHasMoreThanData(t *testing.T) {
	for body, want := range map[string]bool{
		"who reads my answers?": false, "Hi, what data do you store about me?": false, "Bitte: wer liest meine Antworten? Danke!": false,
		"done, who reads my answers?": true, "oui, dix minutes, qui lit mes réponses ?": true, "GDPR? No idea, and I walked today": true, "I walked today": false,
	} {
		require.Equal(t, want, screening.HasMoreThanData(body), body)
	}
}
