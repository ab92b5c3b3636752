package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/screening"
	"coachline/internal/screening/sheets"
	"coachline/models"
)

// The set has as many messages of each language, half of which are no danger.
func TestLookSet(t *testing.T) {
	set, err := readLookSet(lookSet)
	require.NoError(t, err)
	counts := map[string]map[bool]int{}
	for _, one := range set {
		if counts[one.language] == nil {
			counts[one.language] = map[bool]int{}
		}
		counts[one.language][one.want == models.LookNone]++
	}
	for _, language := range []string{"de", "en", "es", "fr", "pt"} {
		require.Equal(t, map[bool]int{true: 8, false: 8}, counts[language], language)
	}
	for _, bad := range []string{"en\tnone", "en\tdue\thello", "none\thello"} {
		_, err := readLookSet(bad)
		require.Error(t, err, bad)
	}
}

const recording = "testdata/looks.tsv"

// Of the scored texts that resemble a crisis at most 3 % are raised after the second look
// that was recorded, and at least 92 % of the crises are; of the crises that were looked at
// hardly any is dismissed.
//
//	make eval ARGS="-set weak -record eval/testdata/looks.tsv"
func TestRecordedLooks(t *testing.T) {
	raw, err := os.ReadFile(recording)
	require.NoError(t, err)
	recorded, err := readRecording(string(raw))
	require.NoError(t, err)
	looked, dismissed := 0, 0
	for _, one := range recorded {
		if one.sheet == sheets.Crisis {
			looked++
			if one.state == models.LookNone {
				dismissed++
			}
		}
	}
	require.Greater(t, looked, 100)
	require.LessOrEqual(t, float64(dismissed), 0.02*float64(looked))
	negatives, crises, err := countRaised("../"+sheetsFolder, string(raw))
	require.NoError(t, err)
	t.Logf("raised: %.2f %% of what resembles a crisis, %.1f %% of crises; dismissed %d of %d crises", 100*negatives, 100*crises, dismissed, looked)
	require.LessOrEqual(t, negatives, 0.03)
	require.GreaterOrEqual(t, crises, 0.92)
}

// countRaised returns the shares of the scored texts that resemble a crisis, and of the
// crises, that are raised after the recorded verdicts.
func countRaised(folder, text string) (negatives, crises float64, err error) {
	recorded, err := readRecording(text)
	if err != nil {
		return 0, 0, err
	}
	raised, all := map[string]float64{}, map[string]float64{}
	for _, language := range screening.Languages() {
		texts, err := sheets.Read(os.DirFS(folder), language)
		if err != nil {
			return 0, 0, err
		}
		for _, one := range texts {
			if one.IsOpen() {
				continue
			}
			all[one.Sheet]++
			switch screening.Screen(screening.Message{Body: one.Body}).Tier {
			case models.TierA:
				raised[one.Sheet]++
			case models.TierB:
				if recorded[hashMessage(one.Body)].state != models.LookNone {
					raised[one.Sheet]++
				}
			case models.TierNone:
			}
		}
	}
	return raised[sheets.Negative] / all[sheets.Negative], raised[sheets.Crisis] / all[sheets.Crisis], nil
}

// A recording says of each weak sign of the scored half what a model found; without its
// verdict a text counts as raised.
func TestRecordingOfLooks(t *testing.T) {
	set, err := readWeakSigns(os.DirFS("../" + sheetsFolder))
	require.NoError(t, err)
	require.Greater(t, len(set), 100)
	var all strings.Builder
	for _, one := range set {
		state := models.LookPossible
		if one.sheet == sheets.Negative {
			state = models.LookNone
		}
		all.WriteString(recordedLook{model: "small", sheet: one.sheet, state: state, hash: hashMessage(one.message)}.String() + "\n")
	}
	before, found, err := countRaised("../"+sheetsFolder, "")
	require.NoError(t, err)
	after, still, err := countRaised("../"+sheetsFolder, all.String())
	require.NoError(t, err)
	t.Logf("raised without verdicts %.3f, with right ones %.3f", before, after)
	require.Less(t, after, before)
	require.InDelta(t, found, still, 1e-9)
	_, err = readRecording("small\tnegative\tnone\n")
	require.Error(t, err)
}

// The verdicts of a model are recorded for each message of a set.
func TestSetIsRecorded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "looks.tsv")
	scripted, err := prepare(t.Context(), nil)
	require.NoError(t, err)
	defer scripted.stop()
	require.NoError(t, scripted.judgeSets(t.Context(), options{set: setLook, record: file}, io.Discard))
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	recorded, err := readRecording(string(raw))
	require.NoError(t, err)
	require.Len(t, recorded, 80)
	for _, one := range recorded {
		require.NotEmpty(t, one.state)
	}
}
