package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// manner is how people text, by figures that a corpus has too.
type manner struct {
	texts         int
	lengths       []int
	oneWord, asks int
}

func (m *manner) add(body string) {
	m.texts++
	m.lengths = append(m.lengths, len([]rune(body)))
	if len(strings.Fields(body)) == 1 {
		m.oneWord++
	}
	if strings.Contains(body, "?") {
		m.asks++
	}
}

func (m *manner) row(out io.Writer, name, rest string) {
	if m.texts == 0 {
		return
	}
	slices.Sort(m.lengths)
	fmt.Fprintf(out, "%s\t%d\t%d\t%d\t%d %%\t%d %%\t%s\n", name, m.texts, m.lengths[m.texts/2], m.lengths[m.texts*9/10], 100*m.oneWord/m.texts, 100*m.asks/m.texts, rest)
}

// corpora is where messages of other authors are, which are not part of the repository.
const corpora = "../shared/corpora"

// measurePeople prints how the people text, beside ordinary messages of other authors.
func (w *world) measurePeople(out io.Writer) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nwho\ttexts\tmedian length\tp90\tone word\tquestions\tmedian delay\tp90\tsilent days\tslips\tpush-back\tmood, first and last ten days")
	var all manner
	better := 0
	for _, x := range w.people {
		var own manner
		slips, pushes := 0, 0
		var delays []time.Duration
		wrote := map[int]bool{}
		lines := x.sorted()
		for i, l := range lines {
			if l.FromUs {
				continue
			}
			own.add(l.Body)
			all.add(l.Body)
			wrote[x.day(l.At)] = true
			if x.said[l.Body] == 0 {
				slips++
			}
			if slices.ContainsFunc(x.Says.Push, func(p words) bool { return p.text == l.Own }) {
				pushes++
			}
			if i > 0 && lines[i-1].FromUs && l.At.Sub(lines[i-1].At) < 12*time.Hour {
				delays = append(delays, l.At.Sub(lines[i-1].At))
			}
		}
		slices.Sort(delays)
		middle, slow := time.Duration(0), time.Duration(0)
		if len(delays) > 0 {
			middle, slow = delays[len(delays)/2].Round(time.Minute), delays[len(delays)*9/10].Round(time.Minute)
		}
		first, last := x.moodOf(0, 10), x.moodOf(max(w.days-10, 0), w.days)
		if last > first {
			better++
		}
		own.row(table, x.Key, fmt.Sprintf("%s\t%s\t%d %%\t%d %%\t%d %%\t%.1f, %.1f", middle, slow, 100*(w.days-min(len(wrote), w.days))/w.days, 100*slips/max(own.texts, 1), 100*pushes/max(own.texts, 1), first, last))
	}
	all.row(table, "all people", fmt.Sprintf("\t\t\t\t\t%d of %d end in a better mood", better, len(w.people)))
	files, _ := filepath.Glob(filepath.Join(corpora, "*.??.txt")) // The pattern is right.
	for _, file := range files {
		var other manner
		for _, body := range readLines(file) {
			other.add(body)
		}
		other.row(table, filepath.Base(file), "")
	}
	_ = table.Flush() // It prints to a terminal.
}

func (x *player) moodOf(from, to int) float64 {
	sum := 0.0
	for day := from; day < to; day++ {
		sum += x.stateOn(x.seed, day).mood
	}
	return sum / float64(max(to-from, 1))
}

// readLines reads a corpus; nothing where it is not there.
func readLines(file string) (lines []string) {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	for scan := bufio.NewScanner(f); scan.Scan(); {
		if line := strings.TrimSpace(scan.Text()); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
