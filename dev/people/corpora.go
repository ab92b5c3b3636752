package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"text/tabwriter"
	"time"

	"coachline/models"
)

const (
	// corpusPeople answer corpusDays prompts each with ordinary messages of other authors.
	corpusPeople, corpusDays = 30, 10
)

// corpusPersonas are people who answer every prompt with the next message of a folder's
// corpora; a message is sent once.
func corpusPersonas(dir string, seed uint64) ([]persona, error) {
	like, err := loadPersonas([]string{"keen", "forgetful"})
	if err != nil {
		return nil, err
	}
	draw := rand.New(rand.NewPCG(seed, seed))
	lines := map[string][]string{}
	for _, language := range []string{"en", "de"} {
		files, _ := filepath.Glob(filepath.Join(dir, "*."+language+".txt")) // The pattern is right.
		for _, file := range files {
			lines[language] = append(lines[language], readLines(file)...)
		}
		draw.Shuffle(len(lines[language]), func(i, j int) {
			lines[language][i], lines[language][j] = lines[language][j], lines[language][i]
		})
	}
	if len(lines["en"]) < corpusPeople*corpusDays || len(lines["de"]) < corpusPeople*corpusDays {
		return nil, errors.New("want corpora of English and German messages, NAME.en.txt and NAME.de.txt")
	}
	var all []persona
	for i := range corpusPeople {
		p, language := like[1], "en" // keen is behind forgetful
		if i%5 == 4 {
			p, language = like[0], "de"
		}
		p.Key, p.Who.Name, p.Phone = fmt.Sprintf("corpus-%s-%02d", language, i), fmt.Sprintf("Person%c%c", 'a'+i/26, 'a'+i%26), fmt.Sprintf("+1202555%04d", 200+i)
		p.Answers, p.Delay, p.Typos, p.Burst, p.Writes, p.Life, p.Mood = map[models.EntryKind]float64{models.KindPrompt: 1}, 5*time.Minute, 0, 0, 0, nil, course{Start: 6}
		p.Says = says{}
		for _, text := range lines[language][i*corpusDays : (i+1)*corpusDays] {
			p.Says.Done = append(p.Says.Done, words{text: text, means: text})
		}
		p.Says.Missed = p.Says.Done
		all = append(all, p)
	}
	return all, nil
}

// countAnswers prints by what the messages of the corpora were answered.
func (w *world) countAnswers(out io.Writer) {
	counts, examples, texts := map[string]int{}, map[string][]string{}, 0
	for _, x := range w.people {
		lines := x.sorted()
		for i, l := range lines {
			if l.FromUs || x.said[l.Body] == 0 || !x.isOfCorpus(l.Body) {
				continue
			}
			texts++
			kind := "nothing"
			for _, next := range lines[i+1:] {
				if next.FromUs && !next.Kind.Spec().Initiated && next.At.Sub(l.At) < answerSoon {
					kind = string(next.Kind)
					break
				}
			}
			if counts[kind]++; kind != string(models.KindReply) {
				examples[kind] = append(examples[kind], x.at(l))
			}
		}
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "\nordinary messages\t%d\n", texts)
	for kind, n := range counts {
		fmt.Fprintf(table, "answered by %s\t%s\n", kind, share(n, texts))
	}
	_ = table.Flush() // It prints to a terminal.
	for _, list := range examples {
		for _, one := range list {
			fmt.Fprintln(out, "  "+one)
		}
	}
}

func (x *player) isOfCorpus(body string) bool {
	for _, one := range x.Says.Done {
		if one.text == body {
			return true
		}
	}
	return false
}
