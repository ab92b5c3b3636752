package main

import (
	"math"
	"math/rand/v2"
	"slices"

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

	// The shares of hard negatives that may be flagged in cross-validation.
	shareB = 0.045
	shareA = 0.015
	// margin is added to the scores of ordinary texts, of which all but outliers
	// must stay under the thresholds.
	margin   = 0.3
	outliers = 250 // one of so many, and one more
)

// learner is a model while it is fitted, with the squares of its gradients.
type learner struct {
	model *screening.Model
	alert []float32
	kinds [3][]float32
	bias  float32
}

// fit trains a model on the samples that use chooses, by logistic regression
// with AdaGrad on the best stretch of each text.
func fit(samples []sample, use func(int) bool) *screening.Model {
	l := &learner{model: screening.NewModel()}
	l.alert = make([]float32, len(l.model.Alert))
	for i := range l.kinds {
		l.kinds[i] = make([]float32, len(l.model.Kinds[i]))
	}
	l.model.Bias = -1
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
			l.learn(&samples[r.sample], samples[r.sample].variants[r.variant])
		}
	}
	rounded, err := screening.DecodeModel(l.model.Encode())
	if err != nil {
		panic(err)
	}
	return rounded
}

func (l *learner) learn(s *sample, f *screening.Features) {
	best := l.model.Best(f)
	target, weight := float32(0), float32(1)
	if s.isAlert {
		target, weight = 1, alertBoost
	}
	gradient := weight * (sigmoid(best.Score) - target)
	f.Each(best.From, best.To, func(feature uint32) {
		step(l.model.Alert, l.alert, feature, gradient/best.Scale)
	})
	l.bias += gradient * gradient
	l.model.Bias -= rate * gradient / float32(math.Sqrt(float64(l.bias)+1))
	if s.danger >= 0 {
		l.learnDanger(s.danger, f, best)
	}
}

func (l *learner) learnDanger(danger int, f *screening.Features, at screening.Stretch) {
	var scores [3]float32
	for i := range scores {
		f.Each(at.From, at.To, func(feature uint32) { scores[i] += l.model.Kinds[i][feature%screening.KindFeatures] })
	}
	for i, score := range scores {
		target := float32(0)
		if i == danger {
			target = 1
		}
		gradient := (sigmoid(score/at.Scale) - target) / at.Scale
		f.Each(at.From, at.To, func(feature uint32) { step(l.model.Kinds[i], l.kinds[i], feature%screening.KindFeatures, gradient) })
	}
}

func step(weights, squares []float32, feature uint32, gradient float32) {
	gradient += decay * weights[feature]
	squares[feature] += gradient * gradient
	weights[feature] -= rate * gradient / float32(math.Sqrt(float64(squares[feature])+1e-3))
}

func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }

// crossValidate scores each sample with a model that has seen none of the texts
// of its line.
func crossValidate(samples []sample) []float32 {
	scores := make([]float32, len(samples))
	for fold := range folds {
		model := fit(samples, func(i int) bool { return samples[i].line%folds != fold })
		for i, s := range samples {
			if s.line%folds == fold {
				scores[i] = model.Best(s.variants[0]).Score
			}
		}
	}
	return scores
}

// chooseThresholds takes, for each language, the lowest scores at which few
// enough hard negatives and hardly any ordinary texts are flagged.
func chooseThresholds(samples []sample, scores []float32) map[string][2]float32 {
	thresholds := map[string][2]float32{}
	for _, language := range screening.Languages() {
		var negatives, ordinary []float32
		for i, s := range samples {
			switch {
			case s.Language != language:
			case s.Sheet == sheets.Ordinary:
				ordinary = append(ordinary, scores[i]+margin)
			case s.Sheet == sheets.Negative:
				negatives = append(negatives, scores[i])
			}
		}
		slices.Sort(negatives)
		slices.Sort(ordinary)
		least := ordinary[len(ordinary)-2-len(ordinary)/outliers]
		at := func(share float64) float32 { return negatives[len(negatives)-1-int(share*float64(len(negatives)))] }
		thresholds[language] = [2]float32{max(least, at(shareB)+0.01), max(least, at(shareA)+0.01)}
	}
	return thresholds
}
