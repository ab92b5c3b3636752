package main

import (
	_ "embed"
	"fmt"
	"os"
	"slices"
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

// drowning is how many safe drafts there are for each that is learnt as no claim: all of
// them would drown the claims.
const drowning = 3

func isLabelled(s sample) (isIt, ok bool) { return s.Label != "", true }

// folders are where the texts lie.
type folders struct{ texts, own, guard, messages, answers string }

// read returns a language's labelled texts and everyday ones of people.
func (f folders) read(language string) (rows []pairs.Row, everyday []string, err error) {
	if rows, err = pairs.ReadTruth(f.own, f.guard, language); err != nil {
		return nil, nil, err
	}
	messages, _, err := sheets.ReadMessages(os.DirFS(f.messages), language)
	if err != nil {
		return nil, nil, err
	}
	answers, _, err := sheets.ReadAnswers(os.DirFS(f.answers), language)
	return rows, slices.Concat(messages, answers), err
}

// readTruth reads texts of people that ask what answers them, and drafts that claim to be a
// person or pull at one; each with others, which have no label. Everyday texts are among
// the others, of people for questions, and the drafts that are judged for claims.
func readTruth(drafts []sample, from folders) (questions, claims []sample, err error) {
	add := func(to *[]sample, label, body string) {
		row := pairs.Row{Label: label, Person: body}
		*to = append(*to, sample{Row: row, vector: advice.ReadDraft("", body).Draft(), fold: row.Fold(folds)})
	}
	asked, err := pairs.ReadAsks(from.texts)
	if err != nil {
		return nil, nil, err
	}
	for _, row := range asked {
		if row.IsOpen() {
			add(&questions, strings.TrimSuffix(row.Label, "other"), row.Person)
		}
	}
	for _, language := range screening.Languages() {
		rows, everyday, err := from.read(language)
		if err != nil {
			return nil, nil, err
		}
		for _, row := range rows {
			to := &claims
			if row.Label == "asks" || row.Label == "not" {
				to = &questions
			}
			add(to, strings.NewReplacer("not", "", "fine", "").Replace(row.Label), row.Person)
		}
		for _, body := range everyday {
			add(&questions, "", body)
		}
	}
	for line := range strings.Lines(otherQuestions) {
		_, body, _ := strings.Cut(strings.TrimSpace(line), "\t")
		add(&questions, "", body)
	}
	for _, s := range drafts {
		if s.Label == pairs.Safe && !s.isMixed && s.Fold(drowning) == 0 {
			s.Label, s.vector = "", s.vector.Draft()
			claims = append(claims, s)
		}
	}
	return questions, claims, nil
}

// reportTruth prints, in cross-validation, what is found and what else is touched from some
// scores on.
func reportTruth(name string, samples []sample) {
	given := make([]float32, len(samples))
	for fold := range folds {
		l := advice.Linear{Weights: make([]float32, advice.FeatureCount)}
		fitLinear(&l, samples, func(s sample) (isIt, ok bool) { return s.Label != "", s.fold != fold })
		for i, s := range samples {
			if s.fold == fold {
				given[i] = l.Of(s.vector)
			}
		}
	}
	for _, least := range []float32{-2.5, -1.5, -0.5, 0.5, 1.5} {
		var found, n [2]int
		for i, s := range samples {
			is := 0
			if s.Label != "" {
				is = 1
			}
			n[is]++
			if given[i] >= least {
				found[is]++
			}
		}
		fmt.Printf("%s from %.1f: %d of %d found, %d of %d others\n", name, least, found[1], n[1], found[0], n[0])
	}
}
