package trial

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"coachline/models"
)

// ThompsonVersion is the version of the computation of probabilities from posteriors.
const ThompsonVersion = 1

// millionths are what probabilities are rounded to.
const millionths = 1e6

// ProbabilityOfBetter returns the probability that the share of which first is known
// is greater than the one of which second is known, to a millionth. For whole
// parameters it is a closed sum (E. Miller), without random numbers. With first
// Beta(a1, b1) and second Beta(a2, b2) its a1 terms are
//
//	t(0)   = G(b1+b2) G(a2+b2) / (G(a2+b1+b2) G(b2))
//	t(i+1) = t(i) (a2+i) (b1+i) / ((a2+b1+b2+i) (i+1))
func ProbabilityOfBetter(first, second models.Beta) float64 {
	a, b, other := float64(second.A), float64(second.B), float64(first.B)
	term := logGamma(b+other) + logGamma(a+b) - logGamma(a+b+other) - logGamma(b)
	sum := 0.0
	for i := range first.A {
		sum += math.Exp(term)
		n := float64(i)
		term += math.Log((a + n) / (a + b + other + n) * (other + n) / (1 + n))
	}
	return step(min(sum, 1))
}

func logGamma(x float64) float64 {
	value, _ := math.Lgamma(x) // the sign is that of positive numbers
	return value
}

// isClose reports whether two probabilities are within a millionth, by which another
// processor may round them differently.
func isClose(one, other float64) bool { return math.Abs(math.Round((one-other)*millionths)) <= 1 }

func step(probability float64) float64 { return math.Round(probability*millionths) / millionths }

// Weigh returns what the next decision of a study with Thompson sampling rests on,
// by how often each option was answered and not until the beginning of a day.
func Weigh(points models.DecisionPoints, day string, counts map[string]models.Beta) models.Posterior {
	out := models.Posterior{Day: day, Clip: points.Thompson.ClipOf(), Version: ThompsonVersion}
	prior := points.Thompson.PriorOf()
	for _, option := range points.Options {
		count := counts[option.Name]
		out.Options = append(out.Options, models.OptionPosterior{Option: option.Name, Beta: models.Beta{A: prior.A + count.A, B: prior.B + count.B}})
	}
	out.Probability = ProbabilityOfBetter(out.Options[0].Beta, out.Options[1].Beta)
	out.Clipped = step(min(max(out.Probability, out.Clip), 1-out.Clip))
	return out
}

// WithProbabilities returns options with the probabilities of a posterior.
func WithProbabilities(options []models.DecisionOption, by models.Posterior) []models.DecisionOption {
	out := slices.Clone(options)
	out[0].Probability, out[1].Probability = by.Clipped, step(1-by.Clipped)
	return out
}

// optionsOf returns the options between which a row was drawn. Those of Thompson
// sampling have the probabilities that its posterior gives, or there is a problem.
func (v *DecisionVerifier) optionsOf(row models.DecisionPoint) (options []models.DecisionOption, problem string) {
	if v.points.Thompson == nil {
		return v.points.Options, ""
	}
	var logged models.Posterior
	if err := json.Unmarshal([]byte(row.Posterior), &logged); err != nil {
		return nil, "its posterior cannot be read: " + err.Error()
	}
	if len(logged.Options) != len(v.points.Options) {
		return nil, "its posterior is not of the study's options"
	}
	prior, counts := v.points.Thompson.PriorOf(), map[string]models.Beta{}
	for _, option := range logged.Options {
		counts[option.Option] = models.Beta{A: option.A - prior.A, B: option.B - prior.B}
	}
	given := Weigh(v.points, logged.Day, counts)
	switch {
	case !slices.Equal(given.Options, logged.Options) || given.Clip != logged.Clip:
		return nil, "its posterior is not of the study's options, prior and clip"
	case !isClose(given.Probability, logged.Probability) || !isClose(given.Clipped, logged.Clipped):
		return nil, fmt.Sprintf("its probability is %g, clipped %g; its posterior gives %g, clipped %g", logged.Probability, logged.Clipped, given.Probability, given.Clipped)
	case row.RandProb != logged.Clipped:
		return nil, fmt.Sprintf("its rand_prob is %g, its posterior says %g", row.RandProb, logged.Clipped)
	}
	return WithProbabilities(v.points.Options, logged), ""
}

// anytimeError is how often, at most, an interval of ProportionInterval misses the
// proportion at any look.
const anytimeError = 0.05

// ProportionInterval returns bounds of the proportion behind so many successes of so
// many people, one outcome each. With a probability of 95 % the bounds hold it at all
// looks together, so that looking every day, and stopping because of a look, is
// legal; an interval for one look, such as Wilson's, is missed sooner or later.
//
// It is the confidence sequence of the beta-binomial mixture with a uniform prior:
// the proportions that the likelihood of the data, averaged over all proportions,
// does not exceed twentyfold. The ratio is a martingale under the true proportion,
// so that Ville's inequality bounds its maximum. H. Robbins, "Statistical methods
// related to the law of the iterated logarithm", Annals of Mathematical Statistics
// 41 (1970) 1397-1409; S. R. Howard, A. Ramdas, J. McAuliffe and J. Sekhon,
// "Time-uniform, nonparametric, nonasymptotic confidence sequences", Annals of
// Statistics 49 (2021) 1055-1080.
func ProportionInterval(successes, people int64) (low, high float64) {
	won, lost := float64(successes), float64(people-successes)
	first, _ := math.Lgamma(won + 1)
	second, _ := math.Lgamma(lost + 1)
	both, _ := math.Lgamma(won + lost + 2)
	mixture := first + second - both
	isInside := func(p float64) bool {
		return mixture-won*math.Log(p)-lost*math.Log1p(-p) < -math.Log(anytimeError)
	}
	// At 0 and 1 the ratio is infinite or not defined, so that neither is inside.
	middle := won / max(won+lost, 1)
	return findBound(0, middle, isInside), findBound(1, middle, isInside)
}

// findBound halves the span between a value outside and one inside until it is far
// below what is shown.
func findBound(outside, inside float64, isInside func(float64) bool) float64 {
	const halvings = 40
	for range halvings {
		if half := (outside + inside) / 2; isInside(half) {
			inside = half
		} else {
			outside = half
		}
	}
	return outside
}
