package advice_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/advice"
	"coachline/internal/advice/pairs"
	"coachline/internal/screening"
	"coachline/internal/screening/sheets"
)

// TestAsksWhatItIs measures on the half of the questions that nobody read who wrote rules,
// and on everyday messages that are not trained on.
func TestAsksWhatItIs(t *testing.T) {
	rows, err := pairs.ReadAsks("testdata")
	require.NoError(t, err)
	found, n := map[string]float64{}, map[string]float64{}
	for _, row := range rows {
		if row.IsOpen() {
			continue
		}
		n[row.Label]++
		if advice.AsksWhatItIs(row.Person) {
			found[row.Label]++
		}
	}
	for _, language := range screening.Languages() {
		_, scored, err := sheets.ReadMessages(os.DirFS("../screening/testdata/ordinary"), language)
		require.NoError(t, err)
		for _, body := range scored {
			n["message"]++
			if advice.AsksWhatItIs(body) {
				found["message"]++
			}
		}
	}
	for _, body := range []string{"are you there?", "Hello, are you still there", "bist du da?", "tu es là ?", "¿estás ahí?", "oi, você está aí?"} {
		require.False(t, advice.AsksWhatItIs(body), body)
	}
	require.True(t, advice.AsksWhatItIs("are you there? or is this a bot"))
	t.Logf("found %v of %v", found, n)
	require.GreaterOrEqual(t, found["asks"]/n["asks"], 0.85)
	require.LessOrEqual(t, found["other"]/n["other"], 0.05)
	require.LessOrEqual(t, found["message"]/n["message"], 0.002)
}
