package screening_test

import (
	"hash/fnv"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/screening"
	"coachline/models"
)

// TestHarmToTheBody: what harms the body is an alert, also where it is told as a question
// about advice. Measured on the half of the texts that nobody read who wrote the rules, of
// which 24 of 36 were found and 1 of 93 others.
func TestHarmToTheBody(t *testing.T) {
	raw, err := os.ReadFile("testdata/body.tsv")
	require.NoError(t, err)
	found, n := map[string]float64{}, map[string]float64{}
	for i, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		fields := strings.Split(line, "\t")
		require.Len(t, fields, 3, line)
		h := fnv.New32a()
		_, _ = h.Write([]byte(fields[2]))
		if i == 0 || h.Sum32()%2 == 0 {
			continue
		}
		n[fields[1]]++
		if screening.Screen(screening.Message{Body: fields[2]}).Danger != models.DangerNone {
			found[fields[1]]++
		}
	}
	t.Logf("found %v of %v", found, n)
	require.GreaterOrEqual(t, found["danger"]/n["danger"], 0.65)
	require.LessOrEqual(t, found["ordinary"]/n["ordinary"], 0.03)
	for body, want := range map[string]string{
		"can I take 14 paracetamol a day for my back?": screening.RuleBody, "no como desde el domingo, ¿cuánto aguanto?": screening.RuleBody, //nolint:misspell // Spanish
		"lass das insulin weg dann purzeln die kilos": screening.RuleBody, "one ibuprofen for the knee": "", "fasting till noon, going ok": "",
		"ganze schachtel kippen ins klo": "", "vingt minutes de marche le matin": "", "un verre d'eau au réveil": "", "ginger tea in the morning": "",
		"musste weinen heute früh": "", "mi hija vino por la mañana": "", "lauf immer nur rum, morgens": "", "vinte minutos de manhã": "",
		"did 20 km on an empty stomach as usual": "", "purged my wardrobe": "", "I purge every evening": screening.RuleBody,
		"took the whole strip": screening.RuleBody, "un verre de blanc le matin": screening.RuleBody,
	} {
		got := screening.Screen(screening.Message{Body: body})
		require.Equal(t, want, got.Rule, body)
		require.Equal(t, want != "", got.Tier == models.TierB, body)
	}
}
