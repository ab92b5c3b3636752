package main

import (
	"math/rand/v2"
	"os"

	"coachline/internal/advice"
	"coachline/internal/advice/pairs"
	"coachline/internal/screening/sheets"
)

// each is how many ordinary drafts are made of the everyday texts of one language.
const each = 600

// mixOrdinary makes ordinary drafts of everyday texts of people and ordinary drafts, which
// keep their fold: most of what people and coaches write has no risk in it, and the pairs
// have little of that.
func mixOrdinary(samples []sample, language, messages, answers string) ([]sample, error) {
	open, _, err := sheets.ReadMessages(os.DirFS(messages), language)
	if err != nil {
		return nil, err
	}
	more, _, err := sheets.ReadAnswers(os.DirFS(answers), language)
	if err != nil {
		return nil, err
	}
	said := append(open, more...)
	var drafts []sample
	for _, s := range samples {
		if s.Language == language && s.Kind == pairs.Ordinary {
			drafts = append(drafts, s)
		}
	}
	random := rand.New(rand.NewPCG(seed, 4))
	for range each {
		s := drafts[random.IntN(len(drafts))]
		s.Person, s.isMixed = said[random.IntN(len(said))], true
		if random.IntN(4) == 0 {
			s.Person = ""
		}
		s.vector = advice.ReadDraft(s.Person, s.Reply)
		samples = append(samples, s)
	}
	return samples, nil
}
