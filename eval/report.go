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
	Columns   []Column  `json:"columns"`
	Rows      []Row     `json:"cases"`
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

// Cell is how a case went in one column. The people in it are made up.
type Cell struct {
	// Left: the case does not make sense for the column.
	Left bool `json:"left,omitempty"`
	// Error is why the case could not be played to its end.
	Error  string `json:"error,omitempty"`
	Must   Score  `json:"must"`
	Should Score  `json:"should"`
	Misses []Miss `json:"misses,omitempty"`
	Turns  int    `json:"turns"` // steps with a text
	Cost   Cost   `json:"cost"`
	// Replies are what went out, step by step, for a person to read.
	Replies []string `json:"replies,omitempty"`
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

// Add takes one step of a conversation into the cell; step counts from 1.
func (c *Cell) Add(step int, e Exchange, verdicts []Verdict) {
	if e.Text != "" {
		c.Turns++
	}
	c.Cost = c.Cost.Add(e.Cost)
	c.Replies = append(c.Replies, e.Reply())
	for _, v := range verdicts {
		score := &c.Must
		if v.Level == Should {
			score = &c.Should
		}
		score.Of++
		if v.Met() {
			score.Met++
			continue
		}
		c.Misses = append(c.Misses, Miss{Step: step, Level: v.Level, Rule: v.Rule, Why: v.Why})
	}
}

// Held reports whether the case was played and every must is met, or the case
// was left out.
func (c Cell) Held() bool { return c.Left || c.Error == "" && c.Must.Met == c.Must.Of }

// Held reports whether every case holds in every column.
func (r Run) Held() bool {
	return !slices.ContainsFunc(r.Rows, func(row Row) bool {
		return slices.ContainsFunc(row.Cells, func(c Cell) bool { return !c.Held() })
	})
}

// Total sums the cells of a column; held and played count its cases.
func (r Run) Total(column int) (total Cell, held, played int) {
	for _, row := range r.Rows {
		cell := row.Cells[column]
		if cell.Left {
			continue
		}
		played++
		if cell.Held() {
			held++
		}
		total.Must = total.Must.add(cell.Must)
		total.Should = total.Should.add(cell.Should)
		total.Turns += cell.Turns
		total.Cost = total.Cost.Add(cell.Cost)
	}
	return total, held, played
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
