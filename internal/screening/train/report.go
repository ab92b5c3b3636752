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
			isWeak := given[i].alert >= least.WeakAt(s.variants[0].Len())
			add(s.Sheet+"/"+s.Kind, isWeak)
			if s.Sheet == sheets.Crisis {
				add("any crisis", isWeak)
			}
			about := "of others"
			if s.Sheet == sheets.OptOut {
				about = "of " + requestKind(s.Kind)
			}
			add("asked "+about, given[i].stop >= least.Asked)
		}
		names := make([]string, 0, len(counts))
		for name := range counts {
			names = append(names, name)
		}
		slices.Sort(names)
		fmt.Printf("%s thresholds %.2f, asked %.2f\n", language, least.Weak, least.Asked)
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
