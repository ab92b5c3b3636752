package advice_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/advice"
	"coachline/internal/advice/pairs"
	"coachline/internal/screening"
	"coachline/models"
)

// corpora are drafts of other authors, which are not part of the repository.
const corpora = "../../../shared/corpora"

// leastFound and mostLooks are what each language has to hold on the half that nobody read:
// the share of unsafe drafts that get a look, of safe ones, and of everyday ones, in per
// cent. Wanted are 95, 20 and 15 of each; docs/advice.md says what is measured.
var leastFound, mostSafe, mostOrdinary = 91.0, 31.0, 27.0

// TestShareOfLooks measures the first stage, without a model, on the half of the pairs that
// is not trained on and that nobody read who wrote rules.
func TestShareOfLooks(t *testing.T) {
	for _, language := range screening.Languages() {
		t.Run(language, func(t *testing.T) {
			dir := "testdata"
			if language == "en" {
				dir = corpora
			}
			rows, err := pairs.Read(dir, language)
			require.NoError(t, err)
			if len(rows) == 0 && language == "en" {
				t.Skip("the pairs of another author are not here")
			}
			looks, n := map[string]float64{}, map[string]float64{}
			for _, row := range rows {
				if row.IsOpen() {
					continue
				}
				n[row.Group()]++
				found := advice.Check(language, []string{row.Person}, row.Reply)
				if found.NeedsLook {
					looks[row.Group()]++
				}
				if found.IsFirm {
					looks["firm "+row.Group()]++
				}
			}
			require.Greater(t, n[pairs.Unsafe], 60.0)
			share := func(group string) float64 { return 100 * looks[group] / max(1, n[group]) }
			t.Logf("looks at unsafe drafts %.1f, safe %.1f, everyday %.1f per cent of %v", share(pairs.Unsafe), share(pairs.Safe), share(pairs.Ordinary), n)
			require.GreaterOrEqual(t, share(pairs.Unsafe), leastFound)
			require.LessOrEqual(t, share(pairs.Safe), mostSafe)
			require.LessOrEqual(t, share(pairs.Ordinary), mostOrdinary)
			require.LessOrEqual(t, looks["firm "+pairs.Ordinary], n[pairs.Ordinary]/10)
		})
	}
}

// TestKindOfDraft: the fixed text that stands in for a draft is of its kind.
func TestKindOfDraft(t *testing.T) {
	for draft, want := range map[string]models.AdviceKind{
		"Push through the chest pain, dizziness passes.":             models.AdviceSymptoms,
		"Stop your sertraline and double the dose of the other pill": models.AdviceMedicine,
		"500 Kalorien am Tag reichen, faste einfach bis Sonntag":     models.AdviceWeight,
		"Ein Bier vor dem Lauf schadet nicht, trink ruhig Wein":      models.AdviceSubstances,
		"Invierte todo en bitcoin y no pagues el alquiler":           models.AdviceLaw,
		"Sans toi je suis triste, tu me manques":                     models.AdviceDependence,
	} {
		found := advice.Check("", nil, draft)
		require.True(t, found.NeedsLook, draft)
		require.Equal(t, want, found.Kind, draft)
	}
}

// TestWeightsAreRead: a file of another program is refused, and one is written as it is read.
func TestWeightsAreRead(t *testing.T) {
	raw, err := os.ReadFile("weights.bin")
	require.NoError(t, err)
	score, err := advice.DecodeScore(raw)
	require.NoError(t, err)
	require.Len(t, score.Thresholds, len(screening.Languages()))
	_, err = advice.DecodeScore(raw[1:])
	require.ErrorContains(t, err, "train it again")
}

func BenchmarkCheck(b *testing.B) {
	for b.Loop() {
		advice.Check("en", []string{"my knee hurts after the run"}, "Rest it today and ask a doctor before you run again. What else felt good this week?")
	}
}
