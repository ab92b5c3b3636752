package trial_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/trial"
	"coachline/models"
)

// integrate returns P(first > second) by Simpson's rule.
func integrate(first, second models.Beta) float64 {
	const steps = 20000
	density := func(at float64, of models.Beta) float64 {
		a, _ := math.Lgamma(float64(of.A))
		b, _ := math.Lgamma(float64(of.B))
		both, _ := math.Lgamma(float64(of.A + of.B))
		return math.Exp(both - a - b + float64(of.A-1)*math.Log(at) + float64(of.B-1)*math.Log(1-at))
	}
	below, sum := 0.0, 0.0
	for i := range steps { // the distribution function of second grows with the sum
		at := (float64(i) + 0.5) / steps
		step := density(at, second) / steps
		sum += density(at, first) / steps * (below + step/2)
		below += step
	}
	return sum
}

func TestProbabilityOfBetter(t *testing.T) {
	for _, c := range [][4]int64{{1, 1, 1, 1}, {2, 1, 1, 1}, {1, 2, 1, 1}, {5, 9, 7, 3}, {40, 60, 35, 65}, {3, 200, 9, 190}, {400, 500, 380, 520}} {
		first, second := models.Beta{A: c[0], B: c[1]}, models.Beta{A: c[2], B: c[3]}
		got := trial.ProbabilityOfBetter(first, second)
		require.InDelta(t, integrate(first, second), got, 2e-6, "%v", c)
		require.InDelta(t, 1, got+trial.ProbabilityOfBetter(second, first), 2e-6, "%v", c)
		require.InDelta(t, got, math.Round(got*1e6)/1e6, 1e-15)
	}
	require.InDelta(t, 2.0/3, trial.ProbabilityOfBetter(models.Beta{A: 2, B: 1}, models.Beta{A: 1, B: 1}), 1e-6)
	large := trial.ProbabilityOfBetter(models.Beta{A: 400_000, B: 500_000}, models.Beta{A: 399_500, B: 500_500})
	require.InDelta(t, 0.774, large, 0.002, "the normal distribution gives 0.7739")
	require.InDelta(t, 1, trial.ProbabilityOfBetter(models.Beta{A: 9000, B: 1}, models.Beta{A: 1, B: 9000}), 1e-9)
	require.InDelta(t, 0, trial.ProbabilityOfBetter(models.Beta{A: 1, B: 9000}, models.Beta{A: 9000, B: 1}), 1e-9)
}

func sampled(thompson models.Thompson) models.DecisionPoints {
	return models.DecisionPoints{Policy: "ts", Thompson: &thompson, Options: []models.DecisionOption{{Name: "walk", Send: true}, {Name: "none"}}}
}

func TestProbabilityIsClipped(t *testing.T) {
	sure := map[string]models.Beta{"walk": {A: 900, B: 100}, "none": {A: 100, B: 900}}
	for clip, want := range map[float64]float64{0: 0.9, 0.05: 0.95, 0.3: 0.7} {
		points := sampled(models.Thompson{Clip: clip})
		got := trial.Weigh(points, "2026-01-02", sure)
		require.InDelta(t, 1, got.Probability, 1e-6)
		require.InDelta(t, want, got.Clipped, 1e-12)
		options := trial.WithProbabilities(points.Options, got)
		require.InDelta(t, 1-want, options[1].Probability, 1e-12)
		require.Zero(t, points.Options[0].Probability, "the study's own options stay")
	}
	require.InDelta(t, 0.5, trial.Weigh(sampled(models.Thompson{}), "", nil).Clipped, 0)
}

// TestAllocationMovesToTheBetterOption plays studies of 60 people and 40 days with a
// posterior for each day. With an effect of 0.2 the better option has nine tenths in
// the end; with none its mean share over the studies stays near one half.
func TestAllocationMovesToTheBetterOption(t *testing.T) {
	points := sampled(models.Thompson{})
	play := func(seed int, effect float64) (last models.Posterior) {
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		counts := map[string]models.Beta{}
		for day := range 40 {
			last = trial.Weigh(points, fmt.Sprint(day), counts)
			require.GreaterOrEqual(t, last.Clipped, 0.1)
			require.LessOrEqual(t, last.Clipped, 0.9)
			for person := range 60 {
				drawn, err := trial.Decide(fmt.Append(nil, seed), fmt.Sprint(person), int64(day+1), trial.WithProbabilities(points.Options, last))
				require.NoError(t, err)
				count, chance := counts[drawn.Option.Name], 0.4
				if drawn.Option.Name == "walk" {
					chance += effect
				}
				if random.Float64() < chance {
					count.A++
				} else {
					count.B++
				}
				counts[drawn.Option.Name] = count
			}
		}
		return last
	}
	none := 0.0
	const seeds = 10
	for seed := range seeds {
		require.InDelta(t, 0.9, play(seed, 0.2).Clipped, 1e-9, "seed %d", seed)
		require.InDelta(t, 0.1, play(seed, -0.2).Clipped, 1e-9, "seed %d", seed)
		none += play(seed, 0).Clipped / seeds
	}
	require.InDelta(t, 0.5, none, 0.3)
}

// TestPosteriorOfARowIsChecked: a row whose posterior, probability or draw do not fit
// together is found also by the owner of the seed, who can make its hash.
func TestPosteriorOfARowIsChecked(t *testing.T) {
	points := sampled(models.Thompson{})
	for name, c := range map[string]struct {
		change  func(row *models.DecisionPoint, by *models.Posterior)
		problem string
	}{
		"right":               {func(*models.DecisionPoint, *models.Posterior) {}, ""},
		"probability":         {func(_ *models.DecisionPoint, by *models.Posterior) { by.Probability += 1e-5 }, "its probability is"},
		"rounded otherwise":   {func(_ *models.DecisionPoint, by *models.Posterior) { by.Probability += 1e-6 }, ""},
		"rounded wrongly":     {func(_ *models.DecisionPoint, by *models.Posterior) { by.Probability -= 2e-6 }, "its probability is"},
		"clipped":             {func(_ *models.DecisionPoint, by *models.Posterior) { by.Clipped = 0.95 }, "its probability is"},
		"clip":                {func(_ *models.DecisionPoint, by *models.Posterior) { by.Clip = 0.05 }, "prior and clip"},
		"counts":              {func(_ *models.DecisionPoint, by *models.Posterior) { by.Options[0].A++ }, "its probability is"},
		"option":              {func(_ *models.DecisionPoint, by *models.Posterior) { by.Options[0].Option = "run" }, "prior and clip"},
		"option missing":      {func(_ *models.DecisionPoint, by *models.Posterior) { by.Options = nil }, "of the study's options"},
		"rand_prob":           {func(row *models.DecisionPoint, _ *models.Posterior) { row.RandProb = 0.5 }, "its rand_prob is 0.5"},
		"drawn":               {func(row *models.DecisionPoint, _ *models.Posterior) { row.Draw = 0.1234 }, "the seed gives"},
		"unavailable changed": {func(row *models.DecisionPoint, by *models.Posterior) { row.Available = false; by.Clipped = 0.2 }, "its probability is"},
	} {
		t.Run(name, func(t *testing.T) {
			by := trial.Weigh(points, "2026-01-02", map[string]models.Beta{"walk": {A: 4, B: 2}, "none": {A: 3, B: 4}})
			drawn, err := trial.Decide([]byte("seed"), "conv_1", 1, trial.WithProbabilities(points.Options, by))
			require.NoError(t, err)
			row := models.DecisionPoint{ParticipantID: "conv_1", Number: 1, Counter: 1, Available: true, Option: drawn.Option.Name, Draw: drawn.Draw, RandProb: by.Clipped}
			c.change(&row, &by)
			text, err := json.Marshal(by)
			require.NoError(t, err)
			row.Posterior = string(text)
			trial.ChainDecision([]byte("seed"), &row, "")
			v := trial.NewDecisionVerifier([]byte("seed"), "conv_1", points)
			fault := v.Check(row)
			if c.problem == "" {
				require.Nil(t, fault)
				row.Posterior += " "
				require.Contains(t, trial.NewDecisionVerifier([]byte("seed"), "conv_1", points).Check(row).Problem, "was changed", "the hash covers it")
				return
			}
			require.NotNil(t, fault)
			require.Contains(t, fault.Problem, c.problem)
		})
	}
	empty := models.DecisionPoint{ParticipantID: "conv_1", Number: 1}
	require.Contains(t, trial.NewDecisionVerifier([]byte("seed"), "conv_1", points).Check(empty).Problem, "cannot be read")
}
