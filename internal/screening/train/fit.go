package main

import (
	"log"
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
	// messageWeight is the weight of an ordinary message of real length, of which there
	// are few beside what is made for training.
	messageWeight = 3
	// requestBoost is the weight of a request, and of what resembles one, against
	// any other text.
	requestBoost = 2.5
	// nearRequest is the kind of ordinary texts that have the words of requests.
	nearRequest = "nearrequest"

	// A threshold is above all but highShare of the ordinary texts of its length in
	// cross-validation by tail: 0.6 % are then a weak sign. Of a few hundred texts the
	// score that 0.6 % reach is that of one odd text, and the tails of all languages and
	// lengths fall alike.
	highShare = 0.02
	tail      = 1.1
	// fewest is how many texts of a length choose its threshold.
	fewest = 120
	// nearby is how many times longer or shorter than a knot a text may be to count for it.
	nearby = 1.5

	// shareAsked is the share of texts without a request that may be asked.
	shareAsked = 0.001
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
	alert, stop := newLearner(&model.Alert), newLearner(&model.Stop)
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
			alert.moveStretch(f, window, false, windowWeight*alertWeight(s))
		}
	})
	eachEpoch(samples, use, func(s *sample, f *screening.Features) {
		stop.adjustWeights(f, s.isRequest, requestWeight(s, s.isRequest))
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
	switch {
	case s.isAlert:
		return alertBoost
	case s.Kind == kindMessage:
		return messageWeight
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
type scores struct{ alert, stop float32 }

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
					given[i] = scores{alert: model.Alert.BestWindow(f).Score, stop: model.Stop.Best(f).Score}
				}
			}
		})
	}
	folding.Wait()
	return given
}

// chooseThresholds takes, for each language, the lowest scores at which hardly any
// ordinary text of each length is a weak sign, and hardly any other text is asked.
func chooseThresholds(samples []sample, given []scores) map[string]screening.Thresholds {
	thresholds := map[string]screening.Thresholds{}
	for _, language := range screening.Languages() {
		var chosen screening.Thresholds
		for i, knot := range screening.Knots {
			scores := ordinaryScores(samples, given, language, knot)
			if len(scores) < fewest {
				log.Fatalf("%s has %d ordinary texts of about %d words, of %d that choose its threshold: name the folder of the corpora", language, len(scores), knot, fewest)
			}
			chosen.Weak[i] = scoreAbove(scores, highShare) + tail
			if i > 0 {
				chosen.Weak[i] = max(chosen.Weak[i], chosen.Weak[i-1])
			}
		}
		chosen.Asked = chooseAsked(samples, given, language, &chosen)
		thresholds[language] = chosen
	}
	return thresholds
}

// ordinaryScores lists the scores of ordinary texts of about so many words.
func ordinaryScores(samples []sample, given []scores, language string, words int) []float32 {
	var scores []float32
	for i, s := range samples {
		length := float64(s.variants[0].Len())
		isNear := length >= float64(words)/nearby && length <= float64(words)*nearby
		if s.Language == language && s.Sheet == sheets.Ordinary && !s.isForRequests && isNear {
			scores = append(scores, given[i].alert)
		}
	}
	return scores
}

// chooseAsked takes the lowest score at which hardly any other text is taken for a
// request. One that may be a danger, or that an exception speaks against, is not, at any
// score.
func chooseAsked(samples []sample, given []scores, language string, chosen *screening.Thresholds) float32 {
	var others []float32
	for i, s := range samples {
		if s.Language != language || s.Sheet == sheets.OptOut {
			continue
		}
		stop, words := given[i].stop, s.variants[0].Len()
		if given[i].alert >= chosen.WeakAt(words) || s.isLimited || words < screening.MinRequest {
			stop = never
		}
		others = append(others, stop)
	}
	return scoreAbove(others, shareAsked)
}

// never is a score that no text has.
const never = -100

// scoreAbove returns a score that at most a share of some scores reaches.
func scoreAbove(scores []float32, share float64) float32 {
	slices.Sort(scores)
	return scores[len(scores)-1-int(share*float64(len(scores)))] + 0.01
}
