package main

import (
	"fmt"
	"slices"

	"coachline/internal/screening"
	"coachline/internal/screening/sheets"
)

type count struct{ hits, n int }

func (c *count) addOne(isHit bool) {
	c.n++
	if isHit {
		c.hits++
	}
}

// printReport prints what the classifiers alone find in cross-validation.
func printReport(samples []sample, given []scores, thresholds map[string]screening.Thresholds) {
	for _, language := range screening.Languages() {
		counts := map[string]*count{}
		add := func(name string, isHit bool) {
			if counts[name] == nil {
				counts[name] = &count{}
			}
			counts[name].addOne(isHit)
		}
		least := thresholds[language]
		for i, s := range samples {
			if s.Language != language {
				continue
			}
			add(s.Sheet+"/"+s.Kind, given[i].alert >= least.TierB)
			if s.Sheet == sheets.Crisis {
				add("any crisis", given[i].alert >= least.TierB)
				add("any crisis as tier A", given[i].alert >= least.TierA)
			}
			about := "of others"
			if s.Sheet == sheets.OptOut {
				about = "of " + requestKind(s.Kind)
			}
			add("ended "+about, given[i].stop >= least.Stop)
			add("wrong number "+about, given[i].wrongNumber >= least.WrongNumber)
			add("asked "+about, given[i].stop >= least.Unclear)
		}
		names := make([]string, 0, len(counts))
		for name := range counts {
			names = append(names, name)
		}
		slices.Sort(names)
		fmt.Printf("%s thresholds %.2f\n", language, least)
		for _, name := range names {
			c := counts[name]
			fmt.Printf("  %-30s %4d of %4d, %5.1f %%\n", name, c.hits, c.n, 100*float64(c.hits)/float64(c.n))
		}
	}
}

func requestKind(kind string) string {
	if kind == "midsentence" {
		return "clear"
	}
	return kind
}
