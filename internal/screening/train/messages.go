package main

import (
	"math/rand/v2"
	"os"
	"slices"

	"coachline/internal/screening"
	"coachline/internal/screening/sheets"
)

// kindMessage is the kind of ordinary messages of real length.
const kindMessage = "message"

// joinedLengths are the lengths of messages that are joined from shorter ones, in
// characters, and joinedEach how many there are of each: people seldom send such long
// ones, and what happens to them must not depend on chance.
var joinedLengths = []int{200, 350, 700, 1400}

const joinedEach = 150

// addMessages adds the open half of ordinary messages, and long ones that are joined
// from them, so that each length has enough to choose its threshold from. Messages have
// no variants: they come as people typed them.
func addMessages(samples []sample, dirs []string, answersDir, requestsDir string) ([]sample, error) {
	line := samples[len(samples)-1].line + 1
	for _, language := range screening.Languages() {
		var own []sample
		for _, dir := range dirs {
			open, _, err := sheets.ReadMessages(os.DirFS(dir), language)
			if err != nil {
				return nil, err
			}
			for _, body := range open {
				own = append(own, newMessage(language, body, line))
				line++
			}
		}
		answers, _, err := sheets.ReadAnswers(os.DirFS(answersDir), language)
		if err != nil {
			return nil, err
		}
		others, _, err := sheets.ReadNoRequests(os.DirFS(requestsDir), language)
		if err != nil {
			return nil, err
		}
		for _, body := range slices.Concat(answers, others) {
			own = append(own, newMessage(language, body, line))
			line++
		}
		samples = append(append(samples, own...), joinMessages(own)...)
	}
	return samples, nil
}

func newMessage(language, body string, line int) sample {
	s := newSample(sheets.Text{Language: language, Sheet: sheets.Ordinary, Kind: kindMessage, Body: body}, line)
	s.variants = []*screening.Features{screening.ReadFeatures(body)}
	return s
}

// joinMessages joins messages of one fold to long ones of that fold, so that no model
// is judged by words that it has learnt.
func joinMessages(messages []sample) []sample {
	var ofFold [folds][]sample
	for _, s := range messages {
		ofFold[s.line%folds] = append(ofFold[s.line%folds], s)
	}
	random := rand.New(rand.NewPCG(seed, 3))
	var joined []sample
	for _, length := range joinedLengths {
		for i := range joinedEach {
			parts := ofFold[i%folds]
			if len(parts) == 0 {
				continue
			}
			first := parts[random.IntN(len(parts))]
			body := first.Body
			for len(body) < length {
				body += " " + parts[random.IntN(len(parts))].Body
			}
			joined = append(joined, newMessage(first.Language, body, first.line))
		}
	}
	return joined
}
