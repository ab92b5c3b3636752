package main

import "fmt"

const (
	// leastKappa is the agreement, corrected for chance, below which no score of a judge is
	// shown, and mostBelow how far it may be below that of the two people.
	leastKappa, mostBelow = 0.7, 0.05
	// leastLabelled is how many texts judge and people must all have labelled.
	leastLabelled = 30
)

// countKappa is Cohen's kappa of two lists of answers to the same texts: how much more
// often they agree than by chance. It is not known where chance alone would always agree.
func countKappa(a, b []string) (kappa float64, isKnown bool) {
	n, agreed, chance := float64(len(a)), 0.0, 0.0
	inA, inB := map[string]float64{}, map[string]float64{}
	for i := range a {
		inA[a[i]]++
		inB[b[i]]++
		if a[i] == b[i] {
			agreed++
		}
	}
	for answer, times := range inA {
		chance += times * inB[answer] / (n * n)
	}
	if n == 0 || chance == 1 {
		return 0, false
	}
	return (agreed/n - chance) / (1 - chance), true
}

// agreement is what is known of one question: kappas of the judge with each of two people,
// and of these with each other.
type agreement struct {
	shared int
	kappas [3]float64
	// why says why no score is shown; empty where one is.
	why string
}

// newAgreement compares the answers to a question of three labellers, the judge first, by
// the texts that all have labelled.
func newAgreement(names [3]string, all [3]map[string]string) (out agreement) {
	var lists [3][]string
	for key := range all[0] {
		if all[1][key] == "" || all[2][key] == "" {
			continue
		}
		out.shared++
		for i := range lists {
			lists[i] = append(lists[i], all[i][key])
		}
	}
	if out.shared < leastLabelled {
		out.why = fmt.Sprintf("all three labelled %d texts, %d are needed", out.shared, leastLabelled)
		return out
	}
	known := true
	for i, pair := range [3][2]int{{0, 1}, {0, 2}, {1, 2}} {
		var is bool
		out.kappas[i], is = countKappa(lists[pair[0]], lists[pair[1]])
		known = known && is
	}
	worst, name := out.kappas[0], names[1]
	if out.kappas[1] < worst {
		worst, name = out.kappas[1], names[2]
	}
	switch {
	case !known:
		out.why = "all answers are the same, so that agreement says nothing"
	case worst < leastKappa:
		out.why = fmt.Sprintf("the judge agrees with %s by %.2f, below %.2f", name, worst, leastKappa)
	case worst < out.kappas[2]-mostBelow:
		out.why = fmt.Sprintf("the judge agrees with %s by %.2f, more than %.2f below the people's %.2f", name, worst, mostBelow, out.kappas[2])
	}
	return out
}
