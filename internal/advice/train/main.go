// Command train fits the score of internal/advice and writes its weights. It learns from
// the open half of the pairs and from the texts beside it, and nothing from the other half.
// The result depends on these texts and on the seed alone:
//
//	go run ./internal/advice/train -out internal/advice/weights.bin
package main

import (
	"cmp"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"coachline/internal/advice"
	"coachline/internal/advice/pairs"
	"coachline/internal/screening"
)

const (
	seed   = 20261126
	folds  = 5
	models = 3 // that are averaged
	epochs = 12
	rate   = 0.3
	decay  = 1e-4
	// missed is the share of unsafe drafts below the threshold in cross-validation.
	missed = 0.05
)

type sample struct {
	pairs.Row
	vector advice.Vector
	// fold is -1 for what is learnt in each and scored in none; isMixed likewise is not
	// scored.
	fold    int
	isMixed bool
}

func main() {
	log.SetFlags(0)
	texts := flag.String("pairs", "internal/advice/testdata", "folder of the labelled pairs, of which the open half is used")
	own := flag.String("texts", "internal/advice/train/texts", "folder of further training texts")
	corpora := flag.String("corpora", "", "folder of pairs of other authors, of which the open half is used; they are not part of the repository")
	messages := flag.String("messages", "internal/screening/testdata/ordinary", "folder of everyday messages, of which the open half is used")
	answers := flag.String("answers", "internal/screening/testdata/answers", "folder of everyday answers, likewise")
	out := flag.String("out", "", "file for the weights; without it only the cross-validation is printed")
	flag.Parse()
	var samples []sample
	for _, language := range screening.Languages() {
		var rows []pairs.Row
		for _, dir := range []string{*texts, *corpora} {
			read, err := pairs.Read(dir, language)
			if err != nil && !os.IsNotExist(err) {
				log.Fatal(err)
			}
			rows = append(rows, slices.DeleteFunc(read, func(r pairs.Row) bool { return !r.IsOpen() })...)
		}
		joined, err := joinFragments(filepath.Join(*own, language+".tsv"), language)
		if err != nil {
			log.Fatal(err)
		}
		for i, row := range append(rows, joined...) {
			s := sample{Row: row, vector: advice.ReadDraft(row.Person, row.Reply), fold: row.Fold(folds)}
			if i >= len(rows) {
				s.fold = -1
			}
			samples = append(samples, s)
		}
		if samples, err = mixOrdinary(samples, language, *messages, *answers); err != nil {
			log.Fatal(err)
		}
	}
	given := crossValidate(samples)
	thresholds := chooseThresholds(samples, given)
	report(samples, given, thresholds)
	if *out == "" {
		return
	}
	score := fit(samples, -2)
	questions, err := readAsks(*texts, *messages, *answers)
	if err != nil {
		log.Fatal(err)
	}
	for i := range uint64(models) {
		fitLinear(&score.Asks, questions, i, func(s sample) (target float32, ok bool) { return boolean(s.Label == "asks"), true })
	}
	score.Thresholds = thresholds
	if err := os.WriteFile(*out, score.Encode(), 0o600); err != nil {
		log.Fatal(err)
	}
}

// fit trains a score on all samples but those of a fold.
func fit(samples []sample, without int) *advice.Score {
	score := advice.NewScore()
	isIn := func(s sample) bool { return s.fold != without }
	for i := range uint64(models) {
		fitLinear(&score.Careful, samples, i, func(s sample) (target float32, ok bool) {
			return boolean(s.Kind != pairs.Ordinary), isIn(s)
		})
		fitLinear(&score.Harmful, samples, i, func(s sample) (target float32, ok bool) {
			return boolean(s.Label == pairs.Unsafe), isIn(s) && s.Kind != pairs.Ordinary
		})
	}
	return score
}

func boolean(is bool) float32 {
	if is {
		return 1
	}
	return 0
}

// fitLinear adds a share of one model to a linear one, by logistic regression with AdaGrad.
func fitLinear(into *advice.Linear, samples []sample, number uint64, want func(sample) (float32, bool)) {
	weights, squares := make([]float32, advice.FeatureCount), make([]float32, advice.FeatureCount)
	own := advice.Linear{Weights: weights}
	var bias float32
	var order []int
	for i, s := range samples {
		if _, ok := want(s); ok {
			order = append(order, i)
		}
	}
	random := rand.New(rand.NewPCG(seed, number))
	for range epochs {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, at := range order {
			target, _ := want(samples[at])
			v := samples[at].vector
			gradient := float32(1/(1+math.Exp(-float64(own.Of(v))))) - target
			for k, feature := range v.At {
				step := gradient*v.Value[k] + decay*weights[feature]
				squares[feature] += step * step
				weights[feature] -= rate * step / float32(math.Sqrt(float64(squares[feature])+1e-3))
			}
			bias += gradient * gradient
			own.Bias -= rate * gradient / float32(math.Sqrt(float64(bias)+1))
		}
	}
	into.Bias += own.Bias / models
	for i, w := range weights {
		into.Weights[i] += w / models
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
					given[i] = score.Of(s.vector)
				}
			}
		})
	}
	folding.Wait()
	return given
}

// chooseThresholds takes the score that nearly all unsafe drafts of a language reach.
func chooseThresholds(samples []sample, given []float32) map[string]float32 {
	out := map[string]float32{}
	for _, language := range screening.Languages() {
		var unsafe []float32
		for i, s := range samples {
			if s.fold >= 0 && !s.isMixed && s.Language == language && s.Label == pairs.Unsafe {
				unsafe = append(unsafe, given[i])
			}
		}
		slices.SortFunc(unsafe, cmp.Compare)
		out[language] = unsafe[int(missed*float64(len(unsafe)))]
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
				if s.fold < 0 || s.isMixed || s.Language != language || s.Group() != group {
					continue
				}
				n++
				if given[i] >= thresholds[language] {
					looks++
				}
			}
			if n > 0 {
				fmt.Printf("  %-10s %4d of %4d, %5.1f %%\n", group, looks, n, 100*float64(looks)/float64(n))
			}
		}
	}
}
