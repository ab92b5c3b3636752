package main

import (
	_ "embed"
	"os"
	"strings"

	"coachline/internal/advice"
	"coachline/internal/advice/pairs"
	"coachline/internal/screening"
	"coachline/internal/screening/sheets"
)

// otherQuestions are questions about time, place and plan, by language.
//
//go:embed other.tsv
var otherQuestions string

// asksBoost is how often a question of what answers is learnt for each other text.
const asksBoost = 2

// readAsks reads the texts that ask what answers them, and everyday ones that do not.
func readAsks(dir, messages, answers string) ([]sample, error) {
	rows, err := pairs.ReadAsks(dir)
	if err != nil {
		return nil, err
	}
	for _, language := range screening.Languages() {
		open, _, err := sheets.ReadMessages(os.DirFS(messages), language)
		if err != nil {
			return nil, err
		}
		more, _, err := sheets.ReadAnswers(os.DirFS(answers), language)
		if err != nil {
			return nil, err
		}
		for _, body := range append(open, more...) {
			rows = append(rows, pairs.Row{Language: language, Label: "other", Person: body, IsKnown: true})
		}
	}
	for line := range strings.Lines(otherQuestions) {
		language, body, _ := strings.Cut(strings.TrimSpace(line), "\t")
		row := pairs.Row{Language: language, Label: "other", Person: body, IsKnown: true}
		rows = append(rows, row, row)
	}
	var samples []sample
	for _, row := range rows {
		if !row.IsOpen() {
			continue
		}
		times := 1
		if row.Label == "asks" {
			times = asksBoost
		}
		for range times {
			samples = append(samples, sample{Row: row, vector: advice.ReadDraft("", row.Person)})
		}
	}
	return samples, nil
}
