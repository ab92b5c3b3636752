package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	"coachline/internal/advice/pairs"
)

// joinFragments makes rows of a file of fragments: each line has a kind, what they are
// (person, safe or unsafe) and the fragments, with slashes between them. A draft is of two
// fragments, after a text of a person of that kind.
func joinFragments(path, language string) ([]pairs.Row, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the training texts of %s: %w", language, err)
	}
	type group struct {
		kind, label string
		list        []string
	}
	persons := map[string][]string{}
	var groups []group
	for line := range strings.Lines(string(raw)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("%s: want three fields in %q", path, line)
		}
		list := strings.Split(fields[2], " / ")
		if fields[1] == "person" {
			persons[fields[0]] = list
			continue
		}
		groups = append(groups, group{fields[0], fields[1], list})
	}
	random := rand.New(rand.NewPCG(seed, 3))
	var rows []pairs.Row
	for _, g := range groups {
		said := persons[g.kind]
		for range (len(g.list) + 1) / 2 {
			one, two := g.list[random.IntN(len(g.list))], g.list[random.IntN(len(g.list))]
			if one != two {
				one += " " + two
			}
			rows = append(rows, pairs.Row{Language: language, Kind: g.kind, Label: g.label, Person: said[random.IntN(len(said))], Reply: one})
		}
	}
	return rows, nil
}
