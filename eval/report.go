package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// Run is one evaluation.
type Run struct {
	StartedAt time.Time `json:"started_at"`
	// Currency is what Cost.Micros are in; empty without a price list.
	Currency string   `json:"currency,omitempty"`
	Columns  []Column `json:"columns"`
	Rows     []Row    `json:"cases"`
}

// Column is what was judged. Name is the same for the same model, protocol and
// prompts folder in every run; Prompts is the hash of the texts.
type Column struct {
	Name    string `json:"name"`
	Model   string `json:"model"`
	Prompts string `json:"prompt_version"`
}

// Row is one case, with a cell for each column.
type Row struct {
	Case  string `json:"case"`
	About string `json:"about"`
	Cells []Cell `json:"cells"`
}

// Cell is how a case went in one column, each time that it was played; without
// plays the case does not make sense for the column.
type Cell []Play

// Play is one case, played once. The people in it are made up.
type Play struct {
	// Error is why the case could not be played to its end.
	Error  string `json:"error,omitempty"`
	Must   Score  `json:"must"`
	Should Score  `json:"should"`
	Misses []Miss `json:"misses,omitempty"`
	Cost   Cost   `json:"cost"`
	Steps  []Said `json:"steps,omitempty"`
}

// Said is what was written in one step, for people and a model to read.
type Said struct {
	Text  string `json:"text,omitempty"`
	Reply string `json:"reply,omitempty"`
	// Known is what is stored of the person after the step, Calls what the tools did in it.
	Known []string `json:"known,omitempty"`
	Calls string   `json:"calls,omitempty"`
	// Seconds passed from the text to the reply, by the clock of this machine.
	Seconds float64 `json:"seconds,omitempty"`
}

// Score counts expectations.
type Score struct {
	Met int `json:"met"`
	Of  int `json:"of"`
}

// Miss is an expectation that was not met.
type Miss struct {
	Step  int    `json:"step"`
	Level Level  `json:"level"`
	Rule  string `json:"rule"`
	Why   string `json:"why"`
}

// Add takes one step of a conversation into the play; step counts from 1.
func (p *Play) Add(step int, e Exchange, verdicts []Verdict) {
	p.Cost = p.Cost.Add(e.Cost)
	said := Said{Text: e.Text, Reply: e.Reply(), Known: e.After.known(), Seconds: e.Took.Seconds()}
	if len(e.Calls) > 0 {
		said.Calls = listCalls(e)
	}
	p.Steps = append(p.Steps, said)
	for _, v := range verdicts {
		score := &p.Must
		if v.Level == Should {
			score = &p.Should
		}
		score.Of++
		if v.Met() {
			score.Met++
			continue
		}
		p.Misses = append(p.Misses, Miss{Step: step, Level: v.Level, Rule: v.Rule, Why: v.Why})
	}
}

// plus sums what is counted of two plays.
func (p Play) plus(other Play) Play {
	return Play{
		Must: p.Must.add(other.Must), Should: p.Should.add(other.Should), Cost: p.Cost.Add(other.Cost),
		Steps: slices.Concat(p.Steps, other.Steps),
	}
}

// turns is how many steps have a text.
func (p Play) turns() (n int) {
	for _, said := range p.Steps {
		if said.Text != "" {
			n++
		}
	}
	return n
}

// Held reports whether the case was played to its end and every must is met.
func (p Play) Held() bool { return p.Error == "" && p.Must.Met == p.Must.Of }

// held counts the plays that held.
func (c Cell) held() Score {
	out := Score{Of: len(c)}
	for _, p := range c {
		if p.Held() {
			out.Met++
		}
	}
	return out
}

// Held reports whether every play held.
func (c Cell) Held() bool { return c.held().Met == len(c) }

// sum sums the plays.
func (c Cell) sum() (total Play) {
	for _, p := range c {
		total = total.plus(p)
	}
	return total
}

// Held reports whether every case holds in every column.
func (r Run) Held() bool {
	return !slices.ContainsFunc(r.Rows, func(row Row) bool {
		return slices.ContainsFunc(row.Cells, func(c Cell) bool { return !c.Held() })
	})
}

// plays are all plays of a column.
func (r Run) plays(column int) (all Cell) {
	for _, row := range r.Rows {
		all = append(all, row.Cells[column]...)
	}
	return all
}

// rounds are the sums of the first, the second, ... play of every case of a column.
func (r Run) rounds(column int) (out []Play) {
	for _, row := range r.Rows {
		for i, p := range row.Cells[column] {
			if i == len(out) {
				out = append(out, Play{})
			}
			out[i] = out[i].plus(p)
		}
	}
	return out
}

// columnOf is the column of a name, -1 for none.
func (r Run) columnOf(name string) int {
	return slices.IndexFunc(r.Columns, func(c Column) bool { return c.Name == name })
}

func (s Score) add(other Score) Score { return Score{s.Met + other.Met, s.Of + other.Of} }

// Write keeps the run as JSON in a file that only its owner can read.
func (r Run) Write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the run: %w", err)
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("keeping the run: %w", err)
	}
	return nil
}

// Read is the inverse of Write. A file whose rows do not fit its columns is an
// error.
func Read(path string) (Run, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Run{}, fmt.Errorf("reading a run: %w", err)
	}
	var r Run
	if err := json.Unmarshal(text, &r); err != nil {
		return Run{}, fmt.Errorf("reading %s: %w", path, err)
	}
	for _, row := range r.Rows {
		if len(row.Cells) != len(r.Columns) {
			return Run{}, fmt.Errorf("reading %s: case %s has %d cells for %d columns", path, row.Case, len(row.Cells), len(r.Columns))
		}
	}
	return r, nil
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
