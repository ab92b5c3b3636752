package trial

import "math"

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
	if people <= 0 {
		return 0, 1
	}
	won, lost := float64(successes), float64(people-successes)
	first, _ := math.Lgamma(won + 1)
	second, _ := math.Lgamma(lost + 1)
	both, _ := math.Lgamma(won + lost + 2)
	mixture := first + second - both
	isInside := func(p float64) bool {
		return mixture-won*math.Log(p)-lost*math.Log1p(-p) < -math.Log(anytimeError)
	}
	middle := won / (won + lost)
	low, high = 0, 1
	if won > 0 {
		low = findBound(0, middle, isInside)
	}
	if lost > 0 {
		high = findBound(1, middle, isInside)
	}
	return low, high
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
