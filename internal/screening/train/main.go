// Command train fits the classifier of internal/screening and writes its weights.
// It learns from the open half of the sheets and from the texts beside it. It
// learns nothing from the scored half, and leaves out what equals a text of it.
// The result depends on these texts and on the seed alone:
//
//	go run ./internal/screening/train -out internal/screening/weights.bin
package main

import (
	"flag"
	"log"
	"os"

	"coachline/internal/screening"
	"coachline/internal/screening/sheets"
)

func main() {
	log.SetFlags(0)
	sheetsDir := flag.String("sheets", "internal/screening/testdata/sheets", "folder of the labelled sheets, of which the open half is used")
	textsDir := flag.String("texts", "internal/screening/train/texts", "folder of further training texts")
	out := flag.String("out", "", "file for the weights; without it only the cross-validation is printed")
	flag.Parse()
	samples, err := readSamples(*sheetsDir, *textsDir)
	if err != nil {
		log.Fatal(err)
	}
	given := crossValidate(samples)
	thresholds := chooseThresholds(samples, given)
	printReport(samples, given, thresholds)
	if *out == "" {
		return
	}
	model := fitModel(samples, func(int) bool { return true })
	model.Thresholds = thresholds
	if err := os.WriteFile(*out, model.Encode(), 0o600); err != nil {
		log.Fatal(err)
	}
}

// sample is one text to learn from, with the variants that are derived from it.
type sample struct {
	sheets.Text
	line    int // texts made of one line have its number
	isAlert bool
	danger  int // index of the danger, or -1
	// isRequest and isWrongNumber are what the classifiers of requests learn.
	isRequest, isWrongNumber bool
	isLimited                bool // see screening.IsLimited
	variants                 []*screening.Features
}

// readSamples reads the texts to learn from and derives their variants.
func readSamples(sheetsDir, textsDir string) ([]sample, error) {
	samples, err := readTexts(sheetsDir, textsDir)
	if err != nil {
		return nil, err
	}
	addVariants(samples)
	return samples, nil
}

// readTexts reads the open half of the sheets and the further texts, without
// what equals a text of the scored half.
func readTexts(sheetsDir, textsDir string) ([]sample, error) {
	var samples []sample
	line := 0
	for _, language := range screening.Languages() {
		texts, err := sheets.Read(os.DirFS(sheetsDir), language)
		if err != nil {
			return nil, err
		}
		further, err := sheets.Read(os.DirFS(textsDir), language)
		if err != nil {
			return nil, err
		}
		isScored := map[string]bool{}
		for _, text := range texts {
			isScored[text.Plain()] = !text.IsOpen()
		}
		for _, text := range append(texts, further...) {
			for _, wording := range expandLine(text.Body) {
				text.Body = wording
				if !isScored[text.Plain()] {
					samples = append(samples, newSample(text, line))
				}
			}
			line++
		}
	}
	return samples, nil
}

func newSample(text sheets.Text, line int) sample {
	s := sample{Text: text, line: line, isAlert: text.Sheet == sheets.Crisis, danger: -1}
	if s.isAlert {
		s.danger = dangerOf(text.Kind)
	}
	if text.Sheet == sheets.OptOut {
		s.isWrongNumber = text.Kind == "wrongnumber"
		s.isRequest = !s.isWrongNumber && text.Kind != "unclear"
	}
	s.isLimited = screening.IsLimited(text.Body)
	return s
}

// dangerOf gives the index of the danger that a kind of the sheets is about, or
// -1 for kinds that are about any of them.
func dangerOf(kind string) int {
	switch kind {
	case "violence", "child", "harmothers":
		return 1
	case "emergency":
		return 2
	case "typo", "slang", "emoji", "thirdperson":
		return -1
	}
	return 0
}
