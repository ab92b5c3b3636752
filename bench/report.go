package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// Run is one run of the benchmark.
type Run struct {
	StartedAt time.Time `json:"started_at"` // UTC
	Backend   string    `json:"backend"`
	Go        string    `json:"go"`
	CPUs      int       `json:"cpus"`
	Figures   []Figure  `json:"figures"`
}

// Better is the direction in which a figure improves.
type Better string

const (
	Lower  Better = "lower"
	Higher Better = "higher"
)

// Figure is one measured number, on every side that it was measured on.
type Figure struct {
	Load string `json:"load"`
	Case string `json:"case,omitempty"`
	Name string `json:"name"`
	Unit string `json:"unit"`
	// Count is how many observations stand behind the figure, on the product's
	// side.
	Count   int      `json:"count"`
	Product float64  `json:"product"`
	Bare    *float64 `json:"bare,omitempty"`
	// Webhook is the bare workflow behind a minimal webhook.
	Webhook *float64 `json:"webhook,omitempty"`
	Better  Better   `json:"better"`
	Target  *Target  `json:"target,omitempty"`
}

// Target bounds the product's value or, with OfRatio, the ratio to the bare
// workflow: from above where lower is better, from below otherwise.
type Target struct {
	Limit   float64 `json:"limit"`
	OfRatio bool    `json:"of_ratio,omitempty"`
}

// Verdict says whether a target was met.
type Verdict string

const (
	NoTarget Verdict = ""
	OK       Verdict = "ok"
	Missed   Verdict = "missed"
)

// Ratio is product over bare; false without a bare value other than zero.
func (f Figure) Ratio() (ratio float64, ok bool) {
	if f.Bare == nil || *f.Bare == 0 {
		return 0, false
	}
	return f.Product / *f.Bare, true
}

// Verdict judges the figure by its target; a ratio that is not there misses.
func (f Figure) Verdict() Verdict {
	if f.Target == nil {
		return NoTarget
	}
	value, measured := f.Product, true
	if f.Target.OfRatio {
		value, measured = f.Ratio()
	}
	met := value <= f.Target.Limit
	if f.Better == Higher {
		met = value >= f.Target.Limit
	}
	if measured && met {
		return OK
	}
	return Missed
}

// Write keeps the run as JSON in a file.
func (r Run) Write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the run as JSON: %w", err)
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("keeping the run: %w", err)
	}
	return nil
}

// Read is the inverse of Write.
func Read(path string) (Run, error) {
	var r Run
	text, err := os.ReadFile(path)
	if err != nil {
		return r, fmt.Errorf("reading a run: %w", err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("reading %s: %w", path, err)
	}
	return r, nil
}
