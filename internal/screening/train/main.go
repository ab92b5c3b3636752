// Command train fits the classifier of internal/screening and writes its weights.
// It learns from the open half of the sheets and from the texts beside it. It
// learns nothing from the scored half, and leaves out what equals a text of it.
// The result depends on these texts and on the seed alone:
//
//	go run ./internal/screening/train -out internal/screening/weights.bin
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"coachline/internal/screening"
	"coachline/internal/screening/sheets"
)

func main() {
	log.SetFlags(0)
	sheetsDir := flag.String("sheets", "internal/screening/testdata/sheets", "folder of the labelled sheets, of which the open half is used")
	textsDir := flag.String("texts", "internal/screening/train/texts", "folder of further training texts")
	corporaDir := flag.String("corpora", "", "folder of ordinary messages of other authors, <name>.<language>.txt, of which the open half is used; they are not part of the repository")
	requestsDir := flag.String("requests", "internal/screening/train/requests", "folder of training texts for the classifiers of requests alone")
	alertsFrom := flag.String("alerts", "", "file of weights from which the classifier of alerts and the thresholds of weak signs are taken, so that only requests are learned anew")
	out := flag.String("out", "", "file for the weights; without it only the cross-validation is printed")
	flag.Parse()
	samples, err := readSamples(*sheetsDir, *textsDir, *requestsDir, *corporaDir)
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
	if *alertsFrom != "" {
		if err := keepAlerts(model, *alertsFrom); err != nil {
			log.Fatal(err)
		}
	}
	if err := os.WriteFile(*out, model.Encode(), 0o600); err != nil {
		log.Fatal(err)
	}
}

// keepAlerts replaces what a model has learned about alerts with what a file of weights has.
func keepAlerts(model *screening.Model, file string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read weights: %w", err)
	}
	kept, err := screening.DecodeModel(raw)
	if err != nil {
		return fmt.Errorf("read weights: %w", err)
	}
	model.Alert, model.Kinds = kept.Alert, kept.Kinds
	for language, chosen := range model.Thresholds {
		chosen.Weak = kept.Thresholds[language].Weak
		model.Thresholds[language] = chosen
	}
	return nil
}

// sample is one text to learn from, with the variants that are derived from it.
type sample struct {
	sheets.Text
	line      int // texts made of one line have its number
	isAlert   bool
	danger    int  // index of the danger, or -1
	isRequest bool // what the classifier of requests learns
	isLimited bool // see screening.IsLimited
	// isForRequests says that the classifier of alerts does not learn the text: more
	// requests and everyday replies move its thresholds.
	isForRequests bool
	variants      []*screening.Features
}

// readSamples reads the texts to learn from and derives their variants.
func readSamples(sheetsDir, textsDir, requestsDir, corporaDir string) ([]sample, error) {
	samples, err := readTexts(sheetsDir, textsDir, requestsDir)
	if err != nil {
		return nil, err
	}
	addVariants(samples)
	dirs := []string{filepath.Join(sheetsDir, "..", "ordinary")}
	if corporaDir != "" {
		dirs = append(dirs, corporaDir)
	}
	return addMessages(samples, dirs, filepath.Join(sheetsDir, "..", "answers"), filepath.Join(sheetsDir, "..", "requests"))
}

// readTexts reads the open half of the sheets and the further texts, without
// what equals a text of the scored half. Those for requests alone are the last, so
// that they change nothing in what the classifier of alerts learns.
func readTexts(sheetsDir, textsDir, requestsDir string) ([]sample, error) {
	var samples, forRequests []sample
	line := 0
	add := func(to []sample, texts []sheets.Text, isScored map[string]bool) []sample {
		for _, text := range texts {
			for _, wording := range expandLine(text.Body) {
				text.Body = wording
				if !isScored[text.Plain()] {
					to = append(to, newSample(text, line))
				}
			}
			line++
		}
		return to
	}
	for _, language := range screening.Languages() {
		var read [3][]sheets.Text
		for i, dir := range []string{sheetsDir, textsDir, requestsDir} {
			texts, err := sheets.Read(os.DirFS(dir), language)
			if err != nil {
				return nil, err
			}
			read[i] = texts
		}
		isScored := map[string]bool{}
		for _, text := range read[0] {
			isScored[text.Plain()] = !text.IsOpen()
		}
		samples = add(samples, append(read[0], read[1]...), isScored)
		next := line
		forRequests = add(forRequests, read[2], isScored)
		line = next // folds of the samples before stay as they are
	}
	for i := range forRequests {
		forRequests[i].isForRequests = true
	}
	return append(samples, forRequests...), nil
}

func newSample(text sheets.Text, line int) sample {
	s := sample{Text: text, line: line, isAlert: text.Sheet == sheets.Crisis, danger: -1}
	if s.isAlert {
		s.danger = dangerOf(text.Kind)
	}
	if text.Sheet == sheets.OptOut {
		s.isRequest = text.Kind != "wrongnumber" && text.Kind != "unclear"
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
