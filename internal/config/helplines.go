package config

import (
	"fmt"

	"coachline/internal/helplines"
)

const helplinesFile = "COACH_HELPLINES_FILE"

// loadHelplines reads the numbers for people in danger where a file of them is named.
func (w *Worker) loadHelplines() []error {
	if w.HelplinesFile == "" {
		return nil
	}
	content, err := readLimited(w.HelplinesFile)
	if err == nil {
		w.Helplines, err = helplines.Parse(content)
	}
	if err != nil {
		return []error{fmt.Errorf("%s: %w; want a file like internal/helplines/helplines.tsv", helplinesFile, err)}
	}
	return nil
}
