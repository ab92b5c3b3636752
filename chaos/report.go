package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"time"
)

// report is the outcome of a run.
type report struct {
	Seed   uint64
	Phones int
	Took   time.Duration
	// Faults is the number of kills and faults that happened.
	Faults               int
	Kills, Hits, Crashes map[string]int
	// Of the texts, each is in one of the numbers after it.
	Texts, Answered, Fallbacks, Safe, Withheld, GivenUp, Lost int
	// Of the Alerts, those that page a person were Paged, PagesAgain counts
	// repeated requests.
	Alerts, Paged, PagesAgain, SafetyTexts int
	Duplicates, Disorder, AfterStop        int
	Prompts, PromptsSent, PromptsMissed    int
	PromptsLost, Operator, Unknown         int
	Sent                                   int
	// Removed and Stopped count the people who are out in the end.
	Removed, Stopped int
	Violations       []string
	// Folder holds trace, logs and databases; empty when nothing was kept.
	Folder string
}

func newReport(s *system) *report {
	kills, hits := s.board.Counts()
	return &report{
		Seed: s.settings.Seed, Phones: s.settings.Phones, Took: s.trace.Age(), Faults: s.board.Total(),
		Kills: kills, Hits: hits, Crashes: s.fleet.Restarts(), Sent: len(s.carrier.Sent()),
	}
}

func (r *report) violate(format string, args ...any) {
	r.Violations = append(r.Violations, fmt.Sprintf(format, args...))
}

// shownViolations bounds what is printed; the trace has everything.
const shownViolations = 40

func (r *report) print(out io.Writer) {
	fmt.Fprintf(out, "\nseed                 %d (again: make chaos ARGS=\"-seed %d\")\n", r.Seed, r.Seed)
	fmt.Fprintf(out, "took                 %s\n", r.Took.Round(time.Second))
	fmt.Fprintf(out, "phones               %d, %d removed and %d stopped meanwhile\n", r.Phones, r.Removed, r.Stopped)
	fmt.Fprintf(out, "faults               %d\n", r.Faults)
	tabulate(out, "kills", r.Kills)
	tabulate(out, "carrier and model", r.Hits)
	tabulate(out, "ended by themselves", r.Crashes)
	fmt.Fprintf(out, "texts                %d\n", r.Texts)
	fmt.Fprintf(out, "  answered           %d by the model, %d by the fixed text\n", r.Answered, r.Fallbacks)
	fmt.Fprintf(out, "  by the safety text %d\n", r.Safe)
	fmt.Fprintf(out, "  withheld           %d (the person had left)\n", r.Withheld)
	fmt.Fprintf(out, "  given up           %d (no post of the answer reached the carrier; the row says unknown, or newer_reply)\n", r.GivenUp)
	fmt.Fprintf(out, "  lost               %d\n", r.Lost)
	fmt.Fprintf(out, "alerts               %d: %d paged (%d requests were repeated), %d with a safety text\n", r.Alerts, r.Paged, r.PagesAgain, r.SafetyTexts)
	fmt.Fprintf(out, "sent by the carrier  %d\n", r.Sent)
	fmt.Fprintf(out, "duplicates           %d\n", r.Duplicates)
	fmt.Fprintf(out, "order violations     %d\n", r.Disorder)
	fmt.Fprintf(out, "prompts due          %d: %d sent, %d recorded as missed or failed, %d lost\n", r.Prompts, r.PromptsSent, r.PromptsMissed, r.PromptsLost)
	fmt.Fprintf(out, "operator's messages  %d\n", r.Operator)
	fmt.Fprintf(out, "of unknown fate      %d\n", r.Unknown)
	fmt.Fprintf(out, "sends after a stop   %d\n", r.AfterStop)
	for i, one := range r.Violations {
		if i == shownViolations {
			fmt.Fprintf(out, "  and %d more\n", len(r.Violations)-i)
			break
		}
		fmt.Fprintf(out, "  violation: %s\n", one)
	}
	if r.Folder != "" {
		fmt.Fprintf(out, "kept                 %s\n", filepath.Join(r.Folder, "trace.log"))
	}
	verdict := "the ledger is right"
	if len(r.Violations) > 0 {
		verdict = fmt.Sprintf("THE LEDGER IS WRONG: %d violations", len(r.Violations))
	}
	fmt.Fprintf(out, "verdict              %s\n", verdict)
}

func tabulate(out io.Writer, title string, counts map[string]int) {
	if len(counts) == 0 {
		return
	}
	fmt.Fprintf(out, "  %s\n", title)
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(out, "    %4d  %s\n", counts[name], name)
	}
}
