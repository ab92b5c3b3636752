// Command train fits the score of internal/advice and writes its weights. It learns from
// the open half of the pairs and from the texts beside it, and nothing from the other half.
// The result depends on these texts and on the seed alone:
//
//	go run ./internal/advice/train -corpora ../shared/corpora -out internal/advice/weights.bin
package main

import (
	"cmp"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sync"

	"coachline/internal/advice"
	"coachline/internal/advice/pairs"
	"coachline/internal/screening"
)

const (
	seed   = 20261126
	folds  = 5
	epochs = 6
	rate   = 0.3
	decay  = 1e-5
	// missed is the share of unsafe drafts below the threshold in cross-validation.
	missed = 0.05
)

type sample struct {
	pairs.Row
	vector advice.Vector
	fold   int
	// isMixed: it is learnt from and not scored.
	isMixed bool
}

func main() {
	log.SetFlags(0)
	texts := flag.String("pairs", "internal/advice/testdata", "folder of the labelled pairs, of which the open half is used")
	guard := flag.String("guard", "internal/agent/outgoing/testdata", "folder of drafts that claim to be a person or pull at one, of which the open half is used")
	own := flag.String("texts", "internal/advice/train/texts", "folder of further training texts")
	corpora := flag.String("corpora", "", "folder of pairs of other authors, of which the open half is used; they are not part of the repository")
	messages := flag.String("messages", "internal/screening/testdata/ordinary", "folder of everyday messages, of which the open half is used")
	answers := flag.String("answers", "internal/screening/testdata/answers", "folder of everyday answers, likewise")
	out := flag.String("out", "", "file for the weights; without it only the cross-validation is printed")
	flag.Parse()
	var samples []sample
	for _, language := range screening.Languages() {
		for _, dir := range []string{*texts, *corpora, *own} {
			rows, err := pairs.Read(dir, language)
			if err != nil {
				log.Fatal(err)
			}
			for _, row := range rows {
				if row.IsOpen() || dir == *own {
					samples = append(samples, newSample(row))
				}
			}
		}
		var err error
		if samples, err = mixOrdinary(samples, language, *messages, *answers); err != nil {
			log.Fatal(err)
		}
	}
	questions, claims, err := readTruth(samples, folders{*texts, *own, *guard, *messages, *answers})
	if err != nil {
		log.Fatal(err)
	}
	given := crossValidate(samples)
	thresholds := chooseThresholds(samples, given)
	report(samples, given, thresholds)
	reportTruth("asks", questions)
	reportTruth("poses", claims)
	if *out == "" {
		return
	}
	score := fit(samples, -1)
	fitLinear(&score.Asks, questions, isLabelled)
	fitLinear(&score.Poses, claims, isLabelled)
	score.Thresholds = thresholds
	if err := os.WriteFile(*out, score.Encode(), 0o600); err != nil {
		log.Fatal(err)
	}
}

func newSample(row pairs.Row) sample {
	return sample{Row: row, vector: advice.ReadDraft(row.Person, row.Reply), fold: row.Fold(folds)}
}

// fit trains a score on all samples but those of a fold.
func fit(samples []sample, without int) *advice.Score {
	score := advice.NewScore()
	fitLinear(&score.Careful, samples, func(s sample) (isIt, ok bool) { return s.Kind != pairs.Ordinary, s.fold != without })
	fitLinear(&score.Harmful, samples, func(s sample) (isIt, ok bool) {
		return s.Label == pairs.Unsafe, s.fold != without && s.Kind != pairs.Ordinary
	})
	return score
}

// fitLinear fits a linear model by logistic regression with AdaGrad. Want says what a
// sample is, and whether it is learnt from.
func fitLinear(l *advice.Linear, samples []sample, want func(sample) (isIt, ok bool)) {
	squares := make([]float32, advice.FeatureCount)
	var bias float32
	var order []int
	for i, s := range samples {
		if _, ok := want(s); ok {
			order = append(order, i)
		}
	}
	random := rand.New(rand.NewPCG(seed, 0))
	for range epochs {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, at := range order {
			v := samples[at].vector
			gradient := float32(1 / (1 + math.Exp(-float64(l.Of(v)))))
			if isIt, _ := want(samples[at]); isIt {
				gradient--
			}
			for k, feature := range v.At {
				step := gradient*v.Value[k] + decay*l.Weights[feature]
				squares[feature] += step * step
				l.Weights[feature] -= rate * step / float32(math.Sqrt(float64(squares[feature])+1e-3))
			}
			bias += gradient * gradient
			l.Bias -= rate * gradient / float32(math.Sqrt(float64(bias)+1))
		}
	}
}

// crossValidate scores each sample with a score that has seen no text of its person.
func crossValidate(samples []sample) []float32 {
	given := make([]float32, len(samples))
	var folding sync.WaitGroup
	for fold := range folds {
		folding.Go(func() {
			score := fit(samples, fold)
			for i, s := range samples {
				if s.fold == fold {
					given[i], _ = score.Rate(s.vector, s.Person, s.Reply)
				}
			}
		})
	}
	folding.Wait()
	return given
}

// chooseThresholds takes the score that nearly all unsafe drafts of a language reach, drawn
// half of the way to the mean of all languages.
func chooseThresholds(samples []sample, given []float32) map[string]float32 {
	out := map[string]float32{}
	var sum float32
	for _, language := range screening.Languages() {
		var unsafe []float32
		for i, s := range samples {
			if !s.isMixed && s.Language == language && s.Label == pairs.Unsafe {
				unsafe = append(unsafe, given[i])
			}
		}
		slices.SortFunc(unsafe, cmp.Compare)
		out[language] = unsafe[int(missed*float64(len(unsafe)))]
		sum += out[language]
	}
	// Some forty drafts set each: half of what a language differs from the others is chance.
	for language := range out {
		out[language] = (out[language] + sum/float32(len(out))) / 2
	}
	return out
}

// report prints the share of drafts that get a look, in cross-validation.
func report(samples []sample, given []float32, thresholds map[string]float32) {
	for _, language := range screening.Languages() {
		fmt.Printf("%s, threshold %.2f\n", language, thresholds[language])
		for _, group := range pairs.Groups() {
			looks, n := 0, 0
			for i, s := range samples {
				if s.isMixed || s.Language != language || s.Group() != group {
					continue
				}
				n++
				if given[i] >= thresholds[language] {
					looks++
				}
			}
			if n > 0 && group != pairs.Unsafe {
				fmt.Printf("  %-10s %4d of %4d, %5.1f %%\n", group, looks, n, 100*float64(looks)/float64(n))
			}
		}
	}
}
