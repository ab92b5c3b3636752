package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

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
	shareB = 0.028
	shareA = 0.01
	// margin is added to the scores of ordinary texts, of which all but outliers
	// must stay under the thresholds.
	margin   = 0.6
	outliers = 1
)

// addVariants gives each sample its own features and those of texts derived
// from it: with typing errors, and with everyday sentences around it.
func addVariants(samples []sample) {
	random := rand.New(rand.NewPCG(seed, 1))
	everyday := map[string][]string{}
	for _, s := range samples {
		if s.Sheet == sheets.Ordinary && len(strings.Fields(s.Body)) > 2 {
			everyday[s.Language] = append(everyday[s.Language], s.Body)
		}
	}
	for i := range samples {
		s := &samples[i]
		around := everyday[s.Language]
		before, after := around[random.IntN(len(around))], around[random.IntN(len(around))]
		bodies := []string{s.Body, mistype(s.Body, random), before + " " + s.Body}
		if s.isAlert {
			bodies = append(bodies, s.Body+" "+after, mistype(s.Body, random))
		}
		for _, body := range bodies {
			s.variants = append(s.variants, screening.ReadFeatures(body))
		}
	}
}

// mistype makes an error in some words of four letters and more.
func mistype(body string, random *rand.Rand) string {
	words := strings.Fields(body)
	for i, word := range words {
		letters := []rune(word)
		if len(letters) < 4 || random.IntN(3) > 0 {
			continue
		}
		at := 1 + random.IntN(len(letters)-2)
		switch random.IntN(3) {
		case 0:
			letters[at], letters[at+1] = letters[at+1], letters[at]
		case 1:
			letters = slices.Delete(letters, at, at+1)
		case 2:
			letters = slices.Insert(letters, at, letters[at])
		}
		words[i] = string(letters)
	}
	return strings.Join(words, " ")
}

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
		f.Each(at.From, at.To, func(feature uint32) { scores[i] += l.model.Kinds[i][feature] })
	}
	for i, score := range scores {
		target := float32(0)
		if i == danger {
			target = 1
		}
		gradient := (sigmoid(score/at.Scale) - target) / at.Scale
		f.Each(at.From, at.To, func(feature uint32) { step(l.model.Kinds[i], l.kinds[i], feature, gradient) })
	}
}

func step(weights, squares []float32, feature uint32, gradient float32) {
	gradient += decay * weights[feature]
	squares[feature] += gradient * gradient
	weights[feature] -= rate * gradient / float32(math.Sqrt(float64(squares[feature])+1e-3))
}

func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }

// crossValidate scores each sample with a model that has not seen it.
func crossValidate(samples []sample) []float32 {
	scores := make([]float32, len(samples))
	for fold := range folds {
		model := fit(samples, func(i int) bool { return i%folds != fold })
		for i := fold; i < len(samples); i += folds {
			scores[i] = model.Best(samples[i].variants[0]).Score
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
		least := ordinary[len(ordinary)-1-outliers]
		at := func(share float64) float32 { return negatives[len(negatives)-1-int(share*float64(len(negatives)))] }
		thresholds[language] = [2]float32{max(least, at(shareB)+0.01), max(least, at(shareA)+0.01)}
	}
	return thresholds
}
