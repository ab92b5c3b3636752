package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"coachline/internal/screening"
	"coachline/internal/screening/sheets"
)

const (
	seed       = 20260101
	folds      = 5
	epochs     = 6
	rate       = 0.3
	decay      = 1e-4
	alertBoost = 1.2 // weight of an alert against any other text
	// windowWeight is the weight of the best window of what must raise no alert.
	windowWeight = 3
	// requestBoost is the weight of a request, and of what resembles one, against
	// any other text.
	requestBoost = 2.5
	// nearRequest is the kind of ordinary texts that have the words of requests.
	nearRequest = "nearrequest"

	// The shares of hard negatives that may be flagged in cross-validation.
	shareB = 0.065
	shareA = 0.025
	// margin is added to the scores of ordinary texts, of which all but outliers
	// must stay under the thresholds.
	margin   = 0.3
	outliers = 250 // one of so many

	// The shares of texts without a request that may be asked, and be ended.
	shareAsked = 0.002
	shareEnded = 0.001
)

// learner is a linear model while it is fitted, with the squares of its gradients.
type learner struct {
	*screening.Linear
	squares []float32
	bias    float32
}

func newLearner(l *screening.Linear) *learner {
	l.Bias = -1
	return &learner{Linear: l, squares: make([]float32, len(l.Weights))}
}

// fitModel trains a model on the samples that use chooses, by logistic regression
// with AdaGrad on the best stretch of each text, and on the best window of what must
// raise no alert.
func fitModel(samples []sample, use func(int) bool) *screening.Model {
	model := screening.NewModel()
	alert, stop, wrongNumber := newLearner(&model.Alert), newLearner(&model.Stop), newLearner(&model.WrongNumber)
	var kinds [3][]float32
	for i := range kinds {
		kinds[i] = make([]float32, len(model.Kinds[i]))
	}
	isForAlerts := func(i int) bool { return use(i) && !samples[i].isForRequests }
	eachEpoch(samples, isForAlerts, func(s *sample, f *screening.Features) {
		best := alert.adjustWeights(f, s.isAlert, alertWeight(s))
		if s.danger >= 0 {
			learnDanger(model, &kinds, s.danger, f, best)
		}
		if window := alert.BestWindow(f); !s.isAlert && window.Score > best.Score {
			alert.moveStretch(f, window, false, windowWeight)
		}
	})
	eachEpoch(samples, use, func(s *sample, f *screening.Features) {
		stop.adjustWeights(f, s.isRequest, requestWeight(s, s.isRequest))
		wrongNumber.adjustWeights(f, s.isWrongNumber, requestWeight(s, s.isWrongNumber))
	})
	rounded, err := screening.DecodeModel(model.Encode())
	if err != nil {
		panic(err)
	}
	return rounded
}

// eachEpoch calls learn with all variants of the samples that use chooses, in
// another order in each epoch.
func eachEpoch(samples []sample, use func(int) bool, learn func(*sample, *screening.Features)) {
	type ref struct{ sample, variant int }
	var order []ref
	for i, s := range samples {
		for v := range s.variants {
			if use(i) {
				order = append(order, ref{i, v})
			}
		}
	}
	random := rand.New(rand.NewPCG(seed, 2))
	for range epochs {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, r := range order {
			learn(&samples[r.sample], samples[r.sample].variants[r.variant])
		}
	}
}

func alertWeight(s *sample) float32 {
	if s.isAlert {
		return alertBoost
	}
	return 1
}

// requestWeight gives more weight to requests, and to texts that have their words
// and are none.
func requestWeight(s *sample, isRequest bool) float32 {
	if isRequest || s.Kind == nearRequest {
		return requestBoost
	}
	return 1
}

// adjustWeights moves the weights of the best stretch of a text towards what it
// is.
func (l *learner) adjustWeights(f *screening.Features, isIn bool, weight float32) screening.Stretch {
	best := l.Best(f)
	l.moveStretch(f, best, isIn, weight)
	return best
}

// moveStretch moves the weights of a stretch.
func (l *learner) moveStretch(f *screening.Features, best screening.Stretch, isIn bool, weight float32) {
	target := float32(0)
	if isIn {
		target = 1
	}
	gradient := weight * (sigmoid(best.Score) - target)
	mask := uint32(len(l.Weights) - 1)
	f.Each(best.From, best.To, func(feature uint32) {
		updateWeight(l.Weights, l.squares, feature&mask, gradient/best.Scale)
	})
	l.bias += gradient * gradient
	l.Bias -= rate * gradient / float32(math.Sqrt(float64(l.bias)+1))
}

func learnDanger(model *screening.Model, squares *[3][]float32, danger int, f *screening.Features, at screening.Stretch) {
	var scores [3]float32
	for i := range scores {
		f.Each(at.From, at.To, func(feature uint32) { scores[i] += model.Kinds[i][feature%screening.KindFeatures] })
	}
	for i, score := range scores {
		target := float32(0)
		if i == danger {
			target = 1
		}
		gradient := (sigmoid(score/at.Scale) - target) / at.Scale
		f.Each(at.From, at.To, func(feature uint32) {
			updateWeight(model.Kinds[i], squares[i], feature%screening.KindFeatures, gradient)
		})
	}
}

func updateWeight(weights, squares []float32, feature uint32, gradient float32) {
	gradient += decay * weights[feature]
	squares[feature] += gradient * gradient
	weights[feature] -= rate * gradient / float32(math.Sqrt(float64(squares[feature])+1e-3))
}

func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }

// scores are what the classifiers gave a text.
type scores struct{ alert, stop, wrongNumber float32 }

// crossValidate scores each sample with a model that has seen none of the texts
// of its line.
func crossValidate(samples []sample) []scores {
	given := make([]scores, len(samples))
	var folding sync.WaitGroup
	for fold := range folds {
		folding.Go(func() {
			model := fitModel(samples, func(i int) bool { return samples[i].line%folds != fold })
			for i, s := range samples {
				if s.line%folds == fold {
					f := s.variants[0]
					given[i] = scores{
						alert: model.Alert.BestWindow(f).Score,
						stop:  model.Stop.Best(f).Score, wrongNumber: model.WrongNumber.Best(f).Score,
					}
				}
			}
		})
	}
	folding.Wait()
	return given
}

// chooseThresholds takes, for each language, the lowest scores at which few
// enough hard negatives and hardly any ordinary texts are flagged.
func chooseThresholds(samples []sample, given []scores) map[string]screening.Thresholds {
	thresholds := map[string]screening.Thresholds{}
	for _, language := range screening.Languages() {
		var negatives, ordinary []float32
		for i, s := range samples {
			switch {
			case s.Language != language, s.isForRequests:
			case s.Sheet == sheets.Ordinary:
				ordinary = append(ordinary, given[i].alert+margin)
			case s.Sheet == sheets.Negative:
				negatives = append(negatives, given[i].alert)
			}
		}
		least := scoreAbove(ordinary, 1.0/outliers)
		chosen := screening.Thresholds{TierB: max(least, scoreAbove(negatives, shareB)), TierA: max(least, scoreAbove(negatives, shareA))}
		chooseOfRequests(samples, given, language, &chosen)
		thresholds[language] = chosen
	}
	return thresholds
}

// chooseOfRequests takes the lowest scores at which hardly any other text is taken
// for a request. One that may be a danger, or that an exception speaks against, is
// not, at any score.
func chooseOfRequests(samples []sample, given []scores, language string, chosen *screening.Thresholds) {
	var notStop, notWrong []float32
	for i, s := range samples {
		if s.Language != language || s.Sheet == sheets.OptOut {
			continue
		}
		stop, wrongNumber := given[i].stop, given[i].wrongNumber
		if given[i].alert >= chosen.TierB || s.isLimited {
			stop, wrongNumber = never, never
		}
		if s.variants[0].Len() < screening.MinRequest {
			stop = never
		}
		notStop, notWrong = append(notStop, stop), append(notWrong, wrongNumber)
	}
	chosen.Unclear, chosen.Stop = scoreAbove(notStop, shareAsked), scoreAbove(notStop, shareEnded)
	chosen.WrongNumber = scoreAbove(notWrong, shareAsked)
}

// never is a score that no text has.
const never = -100

// scoreAbove returns a score that at most a share of some scores reaches.
func scoreAbove(scores []float32, share float64) float32 {
	slices.Sort(scores)
	return scores[len(scores)-1-int(share*float64(len(scores)))] + 0.01
}
